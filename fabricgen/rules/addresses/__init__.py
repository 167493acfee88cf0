"""Rules on IP addresses."""
