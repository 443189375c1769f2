"""Patroni's REST API and its Raft port."""
