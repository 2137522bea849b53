"""The page Readers: its parts, its reads and its words."""
