"""Import of what other tools say about a fabric: Arista AVD, Hedgehog, and the minigraph of SONiC.

Each reader returns a `Description`. It becomes an explicit inventory, whose render is compared with the description.
"""
