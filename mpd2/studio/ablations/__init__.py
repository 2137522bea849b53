"""The page Ablations: its parts and its words."""
