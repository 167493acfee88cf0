"""Which switches have the same changes in the same surroundings, so that one plan is the plan of all of them."""

from collections.abc import Hashable, Iterator

from fabricgen.diff.batches import hosts_of, neighbor
from fabricgen.diff.sorting import size
from fabricgen.same import Same
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import ConfigDb

# Tables that no plan reads unless they change.
_UNREAD = frozenset({
    "BGP_NEIGHBOR", "INTERFACE", "LOOPBACK_INTERFACE", "MGMT_INTERFACE", "PORTCHANNEL_INTERFACE", "STATIC_ROUTE",
    "VLAN_INTERFACE",
})  # fmt: skip
# Tables of which a plan reads only a part unless they change.
_PARTLY_READ = frozenset({"DEVICE_METADATA", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "PORT"})
_OWN_FIELDS = frozenset({"bgp_asn", "bgp_router_id", "hostname", "mac"})  # of DEVICE_METADATA, read by no plan
_OWN_PORT_FIELDS = frozenset({"alias", "description"})


def likeness(old: ConfigDb, new: ConfigDb, release: int) -> Hashable:
    """A key that is equal only for switches with equal changes and equal plans.

    Tables are compared as objects: a TableLoader makes equal tables of many files one object.
    """
    return release, size(old), tuple(sorted(_tables(old, new), key=lambda part: str(part[0]))), _surroundings(old, new)


def _tables(old: ConfigDb, new: ConfigDb) -> Iterator[tuple[Hashable, ...]]:
    for table in old.keys() | new.keys():
        before, after = old.get(table), new.get(table)
        if before is not after:
            yield table, Same(before), Same(after)
        elif table not in _UNREAD and table not in _PARTLY_READ:
            yield table, Same(before)


def _surroundings(old: ConfigDb, new: ConfigDb) -> Hashable:
    """What plans read of the tables of `_PARTLY_READ`, on both sides where they differ."""
    sides = [old] if all(old.get(table) is new.get(table) for table in _PARTLY_READ) else [old, new]
    return tuple((_ports(side), _metadata(side), tuple(_neighbors(side))) for side in sides)


def _ports(config: ConfigDb) -> Hashable:
    return tuple(
        (port, *((field, str(value)) for field, value in row.items() if field not in _OWN_PORT_FIELDS))
        for port, row in config.get("PORT", {}).items()
    )


def _metadata(config: ConfigDb) -> Hashable:
    rows = config.get("DEVICE_METADATA", {})
    return tuple(
        (key, field, str(value))
        for key, row in rows.items()
        for field, value in row.items()
        if field not in _OWN_FIELDS
    )


def _neighbors(config: ConfigDb) -> Iterator[Hashable]:
    """Each port with the rank of its neighbor's name, and whether the neighbor is a host: batches depend on these."""
    hosts = hosts_of(config)
    names = {port: neighbor(config, port) for port in config.get("DEVICE_NEIGHBOR", {})}
    rank = {name: number for number, name in enumerate(sorted(set(names.values()), key=natural_key))}
    for port, name in names.items():
        yield port, bool(name), rank[name], name in hosts
