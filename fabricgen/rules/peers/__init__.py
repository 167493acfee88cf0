"""Rules that compare switches and ports of one kind."""
