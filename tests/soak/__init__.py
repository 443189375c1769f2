"""Random faults of a cluster on the lab, by seed, and the acknowledged rows that they cost."""
