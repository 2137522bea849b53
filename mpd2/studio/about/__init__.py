"""The page About: its parts, its reads and its words."""
