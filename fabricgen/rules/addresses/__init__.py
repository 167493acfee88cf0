"""Rules on addresses."""
