"""What decides: pure functions of desired and observed state. No I/O, clock or randomness."""
