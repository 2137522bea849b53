"""What shadow mode shows: what would have been done against what was, and what has changed."""
