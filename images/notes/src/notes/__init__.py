"""A web workspace that stores all its data in PostgreSQL."""
