"""MPD²+: recalibrate, ask where asking pays, fuse the answers."""
