"""The type of a device in DEVICE_METADATA and DEVICE_NEIGHBOR_METADATA, by its tier."""

from collections.abc import Mapping

# LeafRouter is SONiC's word for the switch above the top-of-rack switch. ToRRouter above the leaves would allow routes
# through valleys, because it sets allowas-in.
DEVICE_TYPES: Mapping[str, str] = {"leaf": "ToRRouter", "spine": "LeafRouter", "core": "SpineRouter"}
SERVER_TYPE = "Server"  # a host, in SONiC's own minigraph parser
OUTSIDE_TYPE = "RegionalHub"  # a router outside the fabric (files/build_templates/buffers_config.j2)

ROLES: Mapping[str, str] = {kind: role for role, kind in DEVICE_TYPES.items()}
OUTSIDE_ROLE = "external"


def buffer_role(device_type: str, role: str) -> str:
    """The role whose buffer templates SONiC takes for a switch: its type decides, not its place in the fabric.

    Source: sonic-buildimage files/build_templates/buffers_config.j2.
    """
    return ROLES.get(device_type, role)
