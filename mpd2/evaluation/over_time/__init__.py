"""Cases as they come: intervals that hold at every look, monitors, and rates that follow."""
