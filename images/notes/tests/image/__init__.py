"""The image and its deployment files on real engines: the repository's lab, as a command."""
