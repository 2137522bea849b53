"""The page Retrain: its parts, its reads and its words."""
