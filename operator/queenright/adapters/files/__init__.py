"""Manifests, last valid documents and mounted secrets as files."""
