"""Rules on the schema of CONFIG_DB."""
