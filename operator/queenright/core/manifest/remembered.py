"""Sizes of what is remembered from pass to pass: a thousand documents and their edits.

A memory that is smaller than what one pass asks for would forget each answer before it is asked
for again.
"""

MOST_DOCUMENTS = 2048
"""Answers that take some kilobytes each: one for each document."""
MOST_TEXTS = 16384
"""Short answers: several for each document."""
