"""How fast the software is, and what it is measured against."""
