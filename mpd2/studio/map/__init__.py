"""The page Map: its parts and its words."""
