"""Docker's SDK and command line: the swarm, its secrets, its events."""
