"""What stands around every page: frame, link, scenario, caches, registry of pages."""
