"""Pure functions of desired and observed state, without I/O, clock or randomness."""
