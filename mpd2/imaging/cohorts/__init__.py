"""Public cohorts in their published folders, an adapter each."""

COHORTS = {"refuge": "REFUGE", "chaksu": "Chákṣu IMAGE", "origa": "ORIGA-light"}
"""The modules of this folder that hold an ADAPTER, each called by its key, in the order of their readers in a table."""
