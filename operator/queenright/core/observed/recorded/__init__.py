"""Records what a pure function reads, so that its answer is used again while all of it is equal."""
