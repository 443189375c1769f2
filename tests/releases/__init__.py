"""Recordings of each release's objects on a live swarm, and their replay with present code."""
