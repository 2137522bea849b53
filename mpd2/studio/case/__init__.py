"""The page Case: its parts, its reads and its words."""
