"""Tests of the image and its deployment files on real engines, in the repository's lab."""
