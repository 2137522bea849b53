"""The page Overview: its parts, its reads and its words."""
