"""Words and choices for what a member or a cluster has lost."""
