"""A second packet simulator, written from docs/packet-model.md in plain Python: slow, and without code of fabricgen."""
