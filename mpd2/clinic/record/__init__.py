"""The record of what was done: append-only, chained and signed."""
