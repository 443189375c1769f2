"""Patroni."""
