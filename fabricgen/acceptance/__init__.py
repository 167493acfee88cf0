"""Acceptance: the tests that a commissioning team runs on a fabric, and the verdict on what they measured."""
