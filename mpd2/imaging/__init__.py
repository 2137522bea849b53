"""From a photograph of the fundus to the numbers a router sees, and from public cohorts to a table."""
