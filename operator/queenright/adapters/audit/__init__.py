"""The audit trail on disk: write, rotate, read."""
