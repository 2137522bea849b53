"""MPD² Studio: learning to defer among an AI and several readers.

The flow is one way: a table becomes a `Cohort`, a method is fitted to it and gives a soft `Policy`, `route` turns
that into `Decisions`, and `metrics` counts what they cost.
"""

__version__ = "0.1.0"
