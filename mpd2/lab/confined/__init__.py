"""Files that somebody sent, read in a process of their own: what they do to it, they do not do to the server."""
