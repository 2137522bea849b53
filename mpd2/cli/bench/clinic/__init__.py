"""Benchmarks of what the clinic's figures promise."""
