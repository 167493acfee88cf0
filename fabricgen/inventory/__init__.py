"""YAML files to a typed, immutable Inventory; every value knows its file, line and column."""
