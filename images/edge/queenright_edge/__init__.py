"""What the edge image adds to Caddy and HAProxy: it keeps them together, and knows who is ready."""
