"""In-memory implementations of the engine's ports, and the world behind them, on a virtual clock.

``world.World`` is where tests begin: a swarm of a few nodes with its orchestrator, and the members
that run on it. Everything happens on ``virtual_loop``, so minutes pass in milliseconds and a run is
the same for the same seed.
"""
