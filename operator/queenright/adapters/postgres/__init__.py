"""PostgreSQL over SQL."""
