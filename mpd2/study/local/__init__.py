"""Local cases with their outcome: dealt, a run fitted anew on them, and what that changes."""
