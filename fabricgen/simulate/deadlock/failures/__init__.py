"""Verdicts over sets of failures."""
