"""Postgres cluster."""
