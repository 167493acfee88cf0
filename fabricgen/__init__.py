"""fabricgen: one inventory in, a judged AI-cluster network out."""

__version__ = "0.1.0"

# Raised whenever any rendered byte may change for an unchanged inventory and lock file.
OUTPUT_VERSION = 2
