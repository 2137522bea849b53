"""Workspaces as folders that people make, give to others, add to and remove."""
