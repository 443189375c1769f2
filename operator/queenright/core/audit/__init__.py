"""The audit trail: its records, their hash chain, and the redaction of secrets."""
