"""The page Robustness: its parts and its words."""
