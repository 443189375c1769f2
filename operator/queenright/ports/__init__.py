"""Protocols of the outside world, in the terms of the core."""
