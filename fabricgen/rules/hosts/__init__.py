"""Rules on host files."""
