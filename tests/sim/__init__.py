"""The real engine in a modelled swarm on a virtual clock, with faults by seed."""
