"""Synchronous replication."""
