"""A trained policy under today's budget, roster, capacity and costs; NumPy only."""
