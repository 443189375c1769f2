"""Parts that every kind of document shares: YAML with lines, problems, names, quantities."""
