"""Tests of the acceptance run and of its verdict."""
