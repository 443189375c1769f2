"""The outside world: one technology a file, each behind one port."""
