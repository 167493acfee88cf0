"""Credit loops of InfiniBand subnets."""
