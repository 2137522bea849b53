"""The page Your data: its parts, its reads and its words."""
