"""A table of one's own brought in: the five steps, and the draft they share."""
