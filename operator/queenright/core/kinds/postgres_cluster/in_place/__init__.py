"""Restore in place: the cluster begins anew from its own backup; its former volumes stay."""
