"""The page Budget: its parts, its reads and its words."""
