"""Identity and roles: who acts, what they may do, and the one function that asks."""
