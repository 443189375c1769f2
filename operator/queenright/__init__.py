"""Queenright: an operator for replicated PostgreSQL clusters on Docker Swarm."""

__version__ = "0.2.0"
