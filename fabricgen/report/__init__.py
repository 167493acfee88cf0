"""Findings and results to text, JSON and other formats."""
