"""What a notes application means in the swarm, and what to do about it."""
