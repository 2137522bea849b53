"""Many visitors at once, without browsers."""
