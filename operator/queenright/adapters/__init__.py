"""Adapters: each implements one port with one technology."""
