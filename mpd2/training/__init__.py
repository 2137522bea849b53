"""MPD²: from a configuration through groups, prior, network, losses and loop to weights."""
