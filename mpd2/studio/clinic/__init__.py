"""The page Clinic: its parts, its reads and its words."""
