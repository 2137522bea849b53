"""Long or foreign work: jobs, tuning, sweeps, uploaded tables."""
