"""Restores that prove the base backups."""
