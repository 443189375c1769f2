"""Members added to a deployed cluster, and taken from it."""
