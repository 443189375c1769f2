"""Members of many clusters as a program of their own, and looks at all of them."""
