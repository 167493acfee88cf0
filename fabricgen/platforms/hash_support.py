"""What SWITCH_HASH can set on a platform: what sonic-mgmt tests on the chips of its vendor."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.platforms.model import SwitchPlatform

_OUTER = (
    *("SRC_MAC", "DST_MAC", "ETHERTYPE", "VLAN_ID"),
    *("IP_PROTOCOL", "SRC_IP", "DST_IP", "L4_SRC_PORT", "L4_DST_PORT"),
)
_INNER = (
    *("INNER_SRC_IP", "INNER_DST_IP", "INNER_IP_PROTOCOL", "INNER_ETHERTYPE"),
    *("INNER_L4_SRC_PORT", "INNER_L4_DST_PORT", "INNER_SRC_MAC", "INNER_DST_MAC"),
)
# Vendor of the chip -> fields that tests/hash/generic_hash_helper.py of sonic-mgmt@056a8260 sets. It is skipped on
# Broadcom, whose SAI cannot set the hash (sonic-mgmt pull request 15091, of October 2024).
HASH_FIELDS: Mapping[str, tuple[str, ...]] = {
    "nvidia": ("IN_PORT", *_OUTER, *_INNER),
    "cisco": tuple(name for name in _OUTER if name != "ETHERTYPE"),
    "broadcom": (),
}
_ALGORITHMS: Mapping[str, tuple[str, ...]] = {"nvidia": ("CRC", "CRC_CCITT"), "cisco": ("CRC", "CRC_CCITT")}


@dataclass(frozen=True, slots=True)
class HashSupport:
    """The fields and algorithms of an ECMP hash. Without `fields` no test sets the hash. Without `algorithms` it is
    not known which ones the platform has."""

    fields: tuple[str, ...]
    algorithms: tuple[str, ...]


def hash_support(platform: SwitchPlatform | None) -> HashSupport | None:
    """What a platform supports: the fields of its entry, else those of its vendor; None if neither is known."""
    if platform is None:
        return None
    vendor = platform.asic_vendor or ""
    fields = platform.capabilities.get("ecmp_hash_fields", HASH_FIELDS.get(vendor))
    return None if fields is None else HashSupport(fields, _ALGORITHMS.get(vendor, ()))
