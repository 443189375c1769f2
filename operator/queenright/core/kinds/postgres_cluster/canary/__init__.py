"""Canary."""
