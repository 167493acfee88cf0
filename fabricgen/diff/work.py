"""The changes of a switch with what they cost, once for all switches with the same changes."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabricgen.diff.batches import hosts_of, neighbor
from fabricgen.diff.bindings import bound_first
from fabricgen.diff.buffermgrd import written_back
from fabricgen.diff.changes import Change, changes
from fabricgen.diff.drift import Drift, sort_out
from fabricgen.diff.patch import Operation, Route, holds_secret, operations, route, worst
from fabricgen.diff.patch_findings import written_back_message
from fabricgen.diff.plan import Plan, make_plan
from fabricgen.diff.price import Price, price
from fabricgen.diff.sorting import Sorting, size, sorting
from fabricgen.same import Same
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater.verdicts import Cost
from fabricgen.units import listed


@dataclass(frozen=True, eq=False)
class Work:
    """The changes of a switch. `old` and `new` are the configurations of the first switch that has them."""

    drift: Drift
    old: ConfigDb
    new: ConfigDb
    release: int

    @property
    def changes(self) -> Sequence[Change]:
        """The changes, without the rows that the switch adds."""
        return self.drift.changes

    @cached_property
    def patch(self) -> list[Operation]:
        """The operations that change the old configuration into the new one; none if one patch cannot make them."""
        return [] if self.problem else operations(self.changes, self.old, self.new)

    @cached_property
    def cost(self) -> Cost:
        """The highest cost of the changes."""
        return worst({change.verdict.cost for change in self.changes})

    @property
    def route(self) -> Route:
        """How the changes come to the switch as one patch: apply-patch | plan | reload | reboot."""
        found = route(self.cost)
        return Route.PLAN if found is Route.APPLY_PATCH and self.problem else found

    @cached_property
    def problem(self) -> str:
        """Why one patch does not make the changes although the updater accepts each of them; "" if it does."""
        late = written_back(self.changes, self.old, self.new, self.release)
        return self.sorting.problem or (written_back_message(late, self.release) if late else self._unbound)

    @property
    def _unbound(self) -> str:
        """The ports that one patch leaves without an ACL for some time."""
        first, _ = bound_first(self.changes, self.old, self.new)
        tables = listed(sorted({change.key for change in first if change.table == "ACL_TABLE"}, key=natural_key))
        return f"ports go to {tables} from other ACLs: in one patch they have no ACL for some seconds" if tables else ""

    @cached_property
    def sorting(self) -> Sorting:
        """What the updater does with one patch that has all changes."""
        return sorting(self.changes, self.old, self.new, self.release)

    @cached_property
    def price(self) -> Price:
        """The time and the memory of this patch."""
        return price(self.sorting)

    @cached_property
    def plan(self) -> Plan:
        """The patches in order, or a reload."""
        from fabricgen.diff.lookup import profiles  # only a plan needs the catalog

        return make_plan(self.old, self.new, self.release, self.changes, profiles(self.new, self.release))

    @cached_property
    def withheld(self) -> int:
        """The number of changes that contain a secret, which no patch shows."""
        return sum(map(holds_secret, self.changes))


@dataclass
class Works:
    """The work of all switches of a comparison. `drift`: one side is a running fabric."""

    drift: bool
    running_is_new: bool
    _known: dict[Hashable, Work] = field(default_factory=dict)

    def of(self, old: ConfigDb, new: ConfigDb, release: int) -> Work:
        """The work of a switch."""
        key = likeness(old, new, release)
        if (found := self._known.get(key)) is None:
            differences = changes(old, new, release)
            drift = sort_out(differences, running_is_new=self.running_is_new) if self.drift else Drift(differences)
            found = self._known[key] = Work(drift, old, new, release)
        return found


# Which switches have the same changes in the same surroundings, so that one plan is the plan of all of them.

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
