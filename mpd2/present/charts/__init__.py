"""From a table to a chart, one function each, a module a page, for screens and exports alike."""
