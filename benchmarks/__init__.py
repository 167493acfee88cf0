"""Speed and memory of fabricgen and of comparable programs. Run with `make bench`."""
