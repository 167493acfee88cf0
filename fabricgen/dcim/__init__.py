"""Objects of a source of truth, NetBox or Nautobot: those of a bundle, those that are there, and what differs.

`objects` is the model. `planned` makes it of a bundle. `system` reads and writes a source of truth; `netbox` and
`nautobot` say how each of them names things. `changes` compares the two, and `applying` makes the changes.
"""
