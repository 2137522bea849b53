"""The page Risk: its parts and its words."""
