"""fabricgen: the network of an AI cluster from one inventory, rendered and proved before the merge."""

__version__ = "0.1.0"

# Incremented if a rendered byte may change for an unchanged inventory and lock file.
OUTPUT_VERSION = 6
