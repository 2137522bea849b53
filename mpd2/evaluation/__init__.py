"""From decisions to metrics, intervals, tables, curves, explanations and the map."""
