"""A hostile bundle and inventory through every verb, format and handoff."""
