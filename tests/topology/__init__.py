"""Edits of the members on the lab, one after the other, and what each costs the clients."""
