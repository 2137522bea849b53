"""A programme of eyes that never were, whose every probability is known."""
