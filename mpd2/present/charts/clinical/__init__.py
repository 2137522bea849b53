"""Charts of what a clinic asks of the results: the gain and where it comes from, calibration, subgroups."""
