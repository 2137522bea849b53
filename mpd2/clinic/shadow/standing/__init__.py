"""How each case stands: what was said of it, who is asked next, and the answer it has by now."""
