"""The Record page."""
