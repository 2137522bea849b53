"""Databases of an installation: SQLite files of its own, or PostgreSQL."""
