"""Frozen networks: found, loaded and run."""
