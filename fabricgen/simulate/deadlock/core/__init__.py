"""The channel dependency graph of one state, and its cycles."""
