"""From a valid document to the text of a configuration file; the same document, the same text."""
