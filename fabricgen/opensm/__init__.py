"""The vocabulary of OpenSM: GUIDs, netlists, options and dialects, the parsers of its files."""
