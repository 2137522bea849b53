"""What a clinic asks of the results: net benefit, calibration, subgroups, people."""
