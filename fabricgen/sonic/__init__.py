"""The vocabulary of CONFIG_DB: keys, canonical bytes, the schema, and what the SONiC image adds by itself."""
