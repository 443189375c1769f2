"""Notes app."""
