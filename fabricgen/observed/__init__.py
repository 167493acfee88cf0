"""Foreign readings of a running fabric."""
