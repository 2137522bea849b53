"""The HTTP interface of the clinic: cases, readings and outcomes in, worklists out, by programs with a token."""
