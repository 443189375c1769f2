"""Upgrade."""
