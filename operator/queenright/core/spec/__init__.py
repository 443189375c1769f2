"""What a person writes: the kinds of document, their validation, and their places in the files."""
