"""The ECMP hash of a switch: the fields and algorithm of SWITCH_HASH, and the seed and offset of the device type."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.sonic.tables import Row

# All RoCEv2 packets have destination port 4791. Queue pairs of two hosts differ only in the source port (InfiniBand
# Architecture Specification, annex A17). Names: sonic-yang-models, sonic-hash.yang; sorted.
ROCE_HASH_FIELDS = ("DST_IP", "IP_PROTOCOL", "L4_DST_PORT", "L4_SRC_PORT", "SRC_IP")
SOURCE_PORT = "L4_SRC_PORT"

# Releases that know a field. Source: sonic-buildimage pull request 21522, sonic-swss pull request 3481.
FIELD_SINCE: Mapping[str, int] = {"IPV6_FLOW_LABEL": 202505}

# Type -> (seed, offset), the first name that the type contains. "SpineRouter" is also part of FabricSpineRouter and
# UpperSpineRouter, so the branches of the template for these two (40, 50) are never taken.
# Source: sonic-buildimage dockers/docker-orchagent/switch.json.j2 @086b03bd; hubs from 202511 on.
_BY_TYPE: Mapping[str, tuple[int, int]] = {
    "ToRRouter": (0, 0),
    "LeafRouter": (10, 10),
    "SpineRouter": (25, 0),
    "LowerRegionalHub": (60, 0),
    "FabricRegionalHub": (70, 0),
    "UpperRegionalHub": (80, 0),
}
_HUBS_SINCE = 202511
_NO_OFFSET = ("dpu", "chassis-packet")  # of DEVICE_METADATA.switch_type; a dpu has no seed either


@dataclass(frozen=True, slots=True)
class HashStart:
    """The start of a hash: `seed` is its initial value, `offset` the bits by which the result is rotated right.

    Source: SAI inc/saiswitch.h, SAI_SWITCH_ATTR_ECMP_DEFAULT_HASH_SEED and _OFFSET.
    """

    seed: int = 0
    offset: int = 0

    @property
    def shown(self) -> str:
        """For messages."""
        return f"seed {self.seed} and offset {self.offset}"


def hash_start(metadata: Row, release: int | None = None) -> HashStart:
    """The seed and offset that SONiC gives a switch with this row DEVICE_METADATA|localhost; no release is the newest.

    CONFIG_DB cannot set them. The number of an ASIC's namespace adds to the seed.
    """
    kind, switch_type = metadata.get("type", ""), metadata.get("switch_type", "")
    known = {
        name: start for name, start in _BY_TYPE.items() if "Hub" not in name or (release or _HUBS_SINCE) >= _HUBS_SINCE
    }
    seed, offset = next((start for name, start in known.items() if name in str(kind)), (0, 0))
    namespace = str(metadata.get("namespace_id", ""))
    seed += int(namespace) if namespace.isdecimal() else 0
    return HashStart(0 if switch_type == "dpu" else seed, 0 if switch_type in _NO_OFFSET else offset)


def hash_fields(row: Row) -> tuple[str, ...] | None:
    """`ecmp_hash` of a row SWITCH_HASH|GLOBAL, a list or text with commas; None where the row does not set it."""
    found = row.get("ecmp_hash")
    if isinstance(found, list):
        return tuple(str(name) for name in found) or None
    return tuple(name.strip() for name in found.split(",")) if isinstance(found, str) and found else None
