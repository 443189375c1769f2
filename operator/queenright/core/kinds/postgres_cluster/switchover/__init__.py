"""Switchover."""
