"""Protocols of the outside world: what the engine needs, in the words of the core."""
