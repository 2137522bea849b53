"""MPD², MPD²+ and the methods they are compared with, all behind the two verbs of `base`."""
