"""What DEVICE_METADATA and DEVICE_NEIGHBOR_METADATA call a device, by its tier."""

from collections.abc import Mapping

# The types of the contract. LeafRouter is SONiC's word for the switch above the top-of-rack; ToRRouter above the leaves
# would open valleys (it sets allowas-in).
DEVICE_TYPES: Mapping[str, str] = {"leaf": "ToRRouter", "spine": "LeafRouter", "core": "SpineRouter"}
SERVER_TYPE = "Server"  # what SONiC's own minigraph parser calls a host
OUTSIDE_TYPE = "RegionalHub"  # and what stands beyond the fabric (files/build_templates/buffers_config.j2)

ROLES: Mapping[str, str] = {kind: role for role, kind in DEVICE_TYPES.items()}
OUTSIDE_ROLE = "external"
