"""Archiving of the WAL."""
