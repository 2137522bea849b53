"""Parts that several pages are laid out with."""
