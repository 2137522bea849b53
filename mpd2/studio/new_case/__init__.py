"""The page New case: a photograph, or numbers entered by hand, and what would be done."""
