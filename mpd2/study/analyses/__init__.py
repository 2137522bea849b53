"""Analyses of the study, each with its tables and what they come to in words."""
