"""The vocabulary of CONFIG_DB: keys, canonical bytes, the schema, and the settings that the SONiC image adds."""
