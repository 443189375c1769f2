"""The edge image's own part: it keeps Caddy and HAProxy together, and knows who is ready."""
