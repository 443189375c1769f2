"""The page over HTTP: who may see it, and the server."""
