"""Simulators: what a fabric does under load and failure, from its files alone."""
