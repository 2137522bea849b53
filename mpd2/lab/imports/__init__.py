"""Anybody's table as a workspace: read, matched, described, checked, split; nothing is written here."""
