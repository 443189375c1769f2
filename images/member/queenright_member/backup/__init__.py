"""Base backups and archived WAL in S3-compatible storage, by Barman's cloud commands."""
