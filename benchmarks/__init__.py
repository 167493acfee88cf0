"""Speed and memory of fabricgen, beside a peer where one exists. Run with `make bench`."""
