"""A bundle to the tools that deploy it."""
