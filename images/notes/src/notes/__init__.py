"""A web workspace that keeps everything it has to remember in PostgreSQL."""
