"""The engine of derived values: what was worked out is kept for as long as all that it has read is the same.

- `derived.py`: values that rules, simulators and makers declare, and the engine that records what each of them reads.
- `store.py`: results on disk, for other processes, with `installation.py` and `typed_json.py`.

Who declares a value knows neither an engine nor where values are kept. `fabricgen.bundle.inputs` is a bundle as inputs
of an engine.
"""
