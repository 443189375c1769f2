"""Docker Swarm's objects as values, their digests, and the difference of two of them."""
