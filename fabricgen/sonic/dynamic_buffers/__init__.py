"""What a switch of the dynamic buffer model computes: headroom and pools, as buffermgrd's Lua files for NVIDIA do.

`asics` are the facts, `headroom` and `pools` the formulas, `prediction` applies them to the tables of a file.
"""
