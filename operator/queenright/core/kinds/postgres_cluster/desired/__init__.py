"""Desired."""
