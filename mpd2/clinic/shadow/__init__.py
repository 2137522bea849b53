"""Shadow mode: every case decided before the truth is known, beside a clinic in which nothing changes."""
