"""Verdicts on sets of failures."""
