"""Rules on ports."""
