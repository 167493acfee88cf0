"""CoPP as coppmgrd reads it: which protocols' packets reach the processor of a switch.

coppmgrd merges COPP_GROUP and COPP_TRAP of CONFIG_DB, field by field, into the rows of the image's own file. A row
with the field NULL removes that of the image. A trap without always_enabled needs the feature of its name.

Source: sonic-swss cfgmgr/coppmgr.cpp (mergeConfig, isTrapIdDisabled), orchagent/copporch.cpp; the image's rows:
sonic-buildimage files/image_config/copp/copp_cfg.j2 @086b03bd70f9.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import ConfigDb, Row, Table
from fabricgen.units import whole_number

GROUP, TRAP = "COPP_GROUP", "COPP_TRAP"
_METER = {"meter_type": "packets", "mode": "sr_tcm", "red_action": "drop"}


def _group(action: str, rate: str) -> Row:
    return {**({"trap_action": action} if action else {}), **_METER, "cir": rate, "cbs": rate}


# The groups and traps of the image that carry what a fabric needs.
IMAGE_GROUPS: Table = {
    "default": _group("", "600"),
    "queue4_group1": _group("trap", "6000"),
    "queue4_group2": _group("copy", "600"),
    "queue4_group3": _group("trap", "100"),
    "queue1_group1": _group("trap", "6000"),
    "queue1_group2": _group("trap", "600"),
    "queue1_group3": _group("trap", "200"),
    "queue2_group1": _group("trap", "1000"),
    "igmp_group": _group("trap", "300"),
}
_IMAGE_TRAPS: Table = {
    "bgp": {"trap_ids": "bgp,bgpv6", "trap_group": "queue4_group1"},
    "lacp": {"trap_ids": "lacp", "trap_group": "queue4_group1", "always_enabled": "true"},
    "arp": {"trap_ids": "arp_req,arp_resp,neigh_discovery", "trap_group": "queue4_group2", "always_enabled": "true"},
    "lldp": {"trap_ids": "lldp", "trap_group": "queue4_group3"},
    "dhcp_relay": {"trap_ids": "dhcp,dhcpv6", "trap_group": "queue4_group3"},
    "ip2me": {"trap_ids": "ip2me", "trap_group": "queue1_group1", "always_enabled": "true"},
    "macsec": {"trap_ids": "eapol", "trap_group": "queue4_group1"},
    "neighbor_miss": {"trap_ids": "neighbor_miss", "trap_group": "queue1_group3", "always_enabled": "true"},
}
IMAGE_ROWS: Mapping[str, Table] = {GROUP: IMAGE_GROUPS, TRAP: _IMAGE_TRAPS}
_FEATURES = frozenset({"bgp", "lldp", "macsec", "dhcp_relay"})  # names that are both a trap and a feature
_TO_PROCESSOR = frozenset({"trap", "copy", "log"})  # sai_packet_action_t
_DROPS = frozenset({"drop", "deny"})
LEAST_RATE_PPS = 100  # the smallest rate of the image's groups


class BlockedTrap(NamedTuple):
    """Why the packets of a trap do not reach the processor: (table, key, field) of the cause, and the reason.

    `is_slow`: they reach it, at a rate below that of any group of the image."""

    place: tuple[str, str, str]
    reason: str
    is_slow: bool = False


def blocked(config: ConfigDb) -> Iterator[tuple[str, BlockedTrap]]:
    """(trap id such as bgp or lacp, why its packets do not reach the processor) of a file with rows of CoPP."""
    if not rows(config, GROUP) and not rows(config, TRAP):
        return
    groups = _merged(IMAGE_GROUPS, rows(config, GROUP))
    traps = _merged(_IMAGE_TRAPS, rows(config, TRAP))
    bound: dict[str, str] = {}  # trap id -> its trap; the last one in the order of names counts
    for name in sorted(traps):
        if traps[name].get("trap_group"):
            bound.update(dict.fromkeys(_ids(traps[name]), name))
    for name, row in _IMAGE_TRAPS.items():
        for trap_id in _ids(row):
            if trap_id not in bound:
                yield trap_id, BlockedTrap((TRAP, name, "trap_ids"), "no trap has it: it is not sent to the processor")
                continue
            trap = bound[trap_id]
            if found := _disabled(config, trap, traps[trap]) or _of_group(text(traps[trap], "trap_group"), groups):
                yield trap_id, found


def _ids(trap: Row) -> list[str]:
    return [one.strip() for one in text(trap, "trap_ids").split(",") if one.strip()]


def _merged(image: Table, own: Table) -> dict[str, Row]:
    found: dict[str, Row] = {name: {**row, **own.get(name, {})} for name, row in image.items()}
    found.update({name: row for name, row in own.items() if name not in image})
    return {name: row for name, row in found.items() if "NULL" not in row}


def _disabled(config: ConfigDb, name: str, row: Row) -> BlockedTrap | None:
    if text(row, "always_enabled") == "true":
        return None
    state = text(rows(config, "FEATURE").get(name, {}), "state") or ("enabled" if name in _FEATURES else "")
    if state in ("enabled", "always_enabled") or name in _FEATURES:  # FG357 and FG362 judge the features
        return None
    return BlockedTrap((TRAP, name, "always_enabled"), f"always_enabled is not true and no feature has the name {name}")


def _of_group(name: str, groups: Mapping[str, Row]) -> BlockedTrap | None:
    row = groups.get(name)
    if row is None:
        return BlockedTrap((GROUP, name, ""), f"the group {name} does not exist")
    action, green = text(row, "trap_action"), text(row, "green_action")
    if action not in _TO_PROCESSOR:
        return BlockedTrap((GROUP, name, "trap_action"), f"trap_action is {action or 'missing'}")
    if green in _DROPS:
        return BlockedTrap((GROUP, name, "green_action"), f"green_action is {green}")
    rate = whole_number(text(row, "cir"))
    if rate is not None and text(row, "red_action") in _DROPS and text(row, "meter_type") == "packets":
        if rate == 0:
            return BlockedTrap((GROUP, name, "cir"), "cir is 0 and red_action drops the rest")
        if rate < LEAST_RATE_PPS:
            return BlockedTrap(
                (GROUP, name, "cir"), f"at most {rate} packets per second of its group pass", is_slow=True
            )
    return None
