"""The shipped study: its runs, tables, claims and RESULTS.md."""
