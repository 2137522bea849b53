"""Readers for cohorts that have none: drawn from geometry, or retrieved from similar cases."""
