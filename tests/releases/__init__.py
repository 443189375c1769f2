"""What each release left behind on a live swarm, recorded, and replayed with the present code."""
