"""The verdict on the tenants of each plane: classes of addresses, and what passes between them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredPlane, Wiring
from fabricgen.isolation.attachments import Attachment, Attachments, Vtep, attachments
from fabricgen.isolation.filtering import PacketFilter, SortedAddresses, any_passes, content_of
from fabricgen.isolation.partitions import partition_verdicts
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.results.isolation import SHARED_BY_TENANTS, HostAddress, IsolationResult, Reach, RowPlace, WrongPair
from fabricgen.same import Same
from fabricgen.sonic.acl import AclTable, Packet
from fabricgen.sonic.addresses import Address
from fabricgen.units import counted
from fabricgen.vocabulary import Isolation, Technology

_VXLAN_PORT = 4789  # of UDP, RFC 7348


@dataclass(frozen=True, eq=False)
class AddressClass:
    """Addresses of one tenant that switches treat in the same way, as source and as target. `leaks` are the other
    domains with a route to them, `imports` those whose routes their VRF has, `sends` and `receives` the filters at
    their ports. `underlay` are the prefixes that they reach in the default VRF, and `enters` the VRFs that VXLAN
    packets from them enter. `is_connected`: a subnet of their ports has them."""

    tenant: str
    part: str
    domain: tuple[str, ...]
    leaks: frozenset[tuple[str, ...]]
    imports: frozenset[tuple[str, ...]]
    underlay: frozenset[Address]
    is_connected: bool
    sends: tuple[PacketFilter, ...]
    receives: tuple[PacketFilter, ...]
    members: list[Attachment] = field(default_factory=list)
    enters: list[Vtep] = field(default_factory=list)

    def has_route_to(self, target: "AddressClass") -> bool:
        """Whether routing leads from it to another class."""
        return self.domain == target.domain or self.domain in target.leaks or not self.imports.isdisjoint(target.leaks)

    def vtep_to(self, target: "AddressClass") -> Vtep | None:
        """The first VRF with a route to another class that VXLAN packets from this one enter."""
        return next((one for one in self.enters if not one.domains.isdisjoint({target.domain, *target.leaks})), None)

    @property
    def version(self) -> int:
        """The IP version of its addresses."""
        return self.members[0].address.version


@dataclass(frozen=True, slots=True)
class _Decision:
    """Whether packets pass between two classes, and the rows and the reason that decide it."""

    passes: bool
    reason: str = ""
    rows: tuple[RowPlace, ...] = ()


def isolation(bundle: Bundle) -> list[IsolationResult]:
    """The verdicts on the planes that separate tenants, by ACLs and VRFs, or by partitions, and on other RoCE planes
    of tenants. Without tenants in fabric.json and in partitions.conf the list is empty."""
    wiring = bundle.wiring
    routed = [_judge(bundle, wiring, plane) for plane in planes_of_tenants(wiring)] if wiring else []
    return [*routed, *partition_verdicts(bundle)]


def planes_of_tenants(wiring: Wiring) -> Iterator[WiredPlane]:
    """The planes with `isolation`, and the RoCE planes with NICs of tenants."""
    rented = {nic.plane for host in wiring.hosts for nic in host.nics if (host.name, nic.name) in wiring.tenant_of}
    for plane in wiring.planes:
        if plane.isolation is not None or (plane.technology == Technology.ROCE and plane.name in rented):
            yield plane


def _judge(bundle: Bundle, wiring: Wiring, plane: WiredPlane) -> IsolationResult:
    found = attachments(bundle, wiring, plane.name)
    shared = tenants_that_share(wiring)
    dscps: list[int | None] = [*sorted({dscp for own in (plane.roce_dscp or {}).values() for dscp in own})] or [None]
    reach: dict[tuple[str, str], Reach] = {}
    wrong: dict[tuple[bool, tuple[RowPlace, ...], str], WrongPair] = {}
    for ends in found.by_version.values():
        pairs = _Pairs(address_classes(ends, found.vteps), shared)
        passing: Counter[tuple[str, str]] = Counter()
        for source, target, number in pairs.to_decide():
            belongs = may_reach(source.tenant, target.tenant, shared)
            decision = _connected(source, target, dscps) if belongs else _leaking(source, target)
            passing[source.tenant, target.tenant] += number * decision.passes
            if decision.passes == belongs:
                continue
            first, last = _ends(source, target)
            key = (not belongs, decision.rows, decision.reason)
            known = wrong.get(key)
            wrong[key] = WrongPair(
                known.source if known else first.end,
                known.target if known else last.end,
                not belongs,
                decision.reason,
                decision.rows,
                number + (known.pairs if known else 0),
            )
        for tenants, number in pairs.numbers().items():
            known_pairs = reach.get(tenants, Reach(*tenants, 0, 0, 0))
            expected = number * may_reach(*tenants, shared)
            reach[tenants] = Reach(
                *tenants,
                known_pairs.pairs + number,
                known_pairs.passing + passing[tenants],
                known_pairs.expected + expected,
            )
    return IsolationResult(
        plane.name,
        sum(any(one.end.tenant == tenant.name for one in found.found) for tenant in wiring.tenants),
        len(found.found),
        sum(one.pairs - one.expected for one in reach.values()),
        sum(one.expected for one in reach.values()),
        tuple(wrong.values()),
        tuple(found.left_out),
        tuple(found.unread),
        tuple(one for _, one in sorted(reach.items())),
        shared="; ".join(_not_covered(bundle, plane, found)),
    )


class _Pairs:
    """The ordered pairs of addresses of classes. Those of one tenant, or of tenants that share, count where links
    connect their switches: planes may have a switch for each rail."""

    def __init__(self, classes: Sequence[AddressClass], shared: set[tuple[str, str]]) -> None:
        self._classes, self._shared = classes, shared
        self._routed: dict[tuple[str, ...], list[int]] = {}
        self._members: dict[tuple[str, str], list[int]] = {}
        for index, one in enumerate(classes):
            self._members.setdefault((one.tenant, one.part), []).append(index)
            for domain in {one.domain, *one.leaks}:
                self._routed.setdefault(domain, []).append(index)
        self._tenants = sorted({one.tenant for one in classes})

    def to_decide(self) -> Iterator[tuple[AddressClass, AddressClass, int]]:
        """The pairs of classes that may be wrong, each with its number of pairs of addresses: those with a route, and
        those that should have one. No packet passes between any others, and none should."""
        friends = {
            one: [other for other in self._tenants if may_reach(one, other, self._shared)] for one in self._tenants
        }
        for source in self._classes:
            domains = {source.domain, *source.imports}.union(*(vtep.domains for vtep in source.enters))
            found = {index for domain in domains for index in self._routed.get(domain, ())}
            for tenant in friends[source.tenant]:
                found.update(self._members.get((tenant, source.part), ()))
            for index in sorted(found):
                target = self._classes[index]
                number = len(source.members) * (len(target.members) - (source is target))
                if number and (source.part == target.part or target.tenant not in friends[source.tenant]):
                    yield source, target, number

    def numbers(self) -> Mapping[tuple[str, str], int]:
        """The number of pairs of each two tenants that have any."""
        sizes: dict[str, Counter[str]] = {tenant: Counter() for tenant in self._tenants}
        for (tenant, part), indices in self._members.items():
            sizes[tenant][part] = sum(len(self._classes[index].members) for index in indices)
        found: dict[tuple[str, str], int] = {}
        for one, other in product(self._tenants, repeat=2):
            if may_reach(one, other, self._shared):
                number = sum(own * sizes[other][part] for part, own in sizes[one].items())
            else:
                number = sizes[one].total() * sizes[other].total()
            found[one, other] = number - (one == other) * sizes[one].total()
        return {tenants: number for tenants, number in found.items() if number}


def _not_covered(bundle: Bundle, plane: WiredPlane, found: Attachments) -> Iterator[str]:
    """What the verdict on a plane does not cover: what tenants share, and what the files do not say."""
    yield SHARED_BY_TENANTS
    routed = [one for one in found.found if one.domain == (one.part,)]
    if len({one.end.switch for one in routed}) > len({one.part for one in routed}):
        own = counted(len(routed), "address", "addresses")
        yield f"routes of the default VRF are not judged: its {own} are taken as connected where links are"
    if plane.isolation == Isolation.EVPN:
        yield "whether chips copy DSCP and ECN to the VXLAN header and back is not judged"
    tables: dict[str, dict[str, int]] = {}
    for one in found.found:
        for switch, table in one.sends:
            tables.setdefault(switch, {})[table.name] = len(table.rules)
    platforms = platforms_of(bundle, tables)
    unsized: dict[str, tuple[int, int]] = {}
    for switch, rules in tables.items():
        platform = platforms[switch]
        if platform is None or platform.acl_rules is None:
            chip = (platform and platform.asic) or "the chip"
            unsized[chip] = max(unsized.get(chip, (0, 0)), (sum(rules.values()), len(rules)))
    for chip, (number, count) in sorted(unsized.items()):
        use = f"{counted(number, 'rule')} in {counted(count, 'ACL table')} of a switch"
        fit = "fits" if number == 1 else "fit"
        yield f"whether {use} {fit} the TCAM of {chip}, whose size is not known, is not judged"


def platforms_of(bundle: Bundle, switches: Iterable[str]) -> Mapping[str, SwitchPlatform | None]:
    """The platforms of switches by their HwSKU, of the bundle before those of the catalog; None if unknown. Raises
    UnreadableInputError."""
    own = [load_switch_platform(file) for file in bundle.platform_files]
    by_hwsku = {layout.hwsku: platform for platform in own for layout in platform.layouts}
    found = dict[str, SwitchPlatform | None]()
    for switch in switches:
        hwsku = bundle.devices[switch].text_of("DEVICE_METADATA", "localhost", "hwsku")
        if hwsku not in by_hwsku and (known := layout_by_hwsku(hwsku)):
            by_hwsku[hwsku] = known[0]
        found[switch] = by_hwsku.get(hwsku)
    return found


def passing_pairs(bundle: Bundle, plane: str) -> Iterator[tuple[HostAddress, HostAddress]]:
    """The ordered pairs of addresses of a plane between which any packet passes. Raises UnreadableInputError."""
    assert bundle.wiring is not None
    for source, target in passing_classes(bundle, bundle.wiring, plane):
        for first in source.members:
            yield from ((first.end, last.end) for last in target.members if last is not first)


def passing_classes(bundle: Bundle, wiring: Wiring, plane: str) -> Iterator[tuple[AddressClass, AddressClass]]:
    """The ordered pairs of classes of a plane between which any packet passes, with the tenants of `wiring`. Raises
    UnreadableInputError."""
    all_ends = attachments(bundle, wiring, plane)
    for ends in all_ends.by_version.values():
        pairs = _Pairs(address_classes(ends, all_ends.vteps), tenants_that_share(wiring))
        for source, target, _ in pairs.to_decide():
            if _leaking(source, target).passes:
                yield source, target


def tenants_that_share(wiring: Wiring) -> set[tuple[str, str]]:
    """(tenant, tenant) of those that exchange packets."""
    return {(one.name, other) for one in wiring.tenants for other in one.shared_with}


def may_reach(source: str, target: str, shared: set[tuple[str, str]]) -> bool:
    """Whether packets of one tenant should reach another; those of hosts without one ("") should reach no host."""
    return bool(source) and (source == target or (source, target) in shared)


def decisive_rule(source: AddressClass, target: AddressClass) -> tuple[str, str] | None:
    """(stage, name) of the one rule that drops all packets from one class to another; None if no single rule does."""
    first, last = _ends(source, target)
    for stage, filters, ends in (("ingress", source.sends, first.sends), ("egress", target.receives, last.receives)):
        for each, (_, table) in zip(filters, ends, strict=True):
            found = each.decides(each.matching(first.address, last.address))
            if not found.passes and found.rule is not None:
                return stage, table.rules[found.rule][0].partition("|")[2]
    return None


def address_classes(ends: Sequence[Attachment], vteps: Sequence[Vtep]) -> list[AddressClass]:
    """The classes of addresses of one IP version, in the order of their first members; `vteps` are those of the
    plane."""
    filters = _Filters()
    at_port = [(filters.of(one.sends), filters.of(one.receives)) for one in ends]
    order = sorted(range(len(ends)), key=lambda place: ends[place].address.number)
    addresses = SortedAddresses(ends[0].address.version, [ends[place].address.number for place in order])
    prefixes = sorted({prefix for each in filters.distinct for prefix in each.sources})
    as_source = addresses.covered((index, (prefix,)) for index, prefix in enumerate(prefixes))
    columns = (as_source, *(each.as_targets(addresses) for each in filters.distinct))
    treated = dict(zip(order, zip(*columns, strict=True), strict=True))
    found: dict[object, AddressClass] = {}
    for place, (one, (sends, receives)) in enumerate(zip(ends, at_port, strict=True)):
        leaks = frozenset(one.leaks)
        way = (
            one.end.tenant,
            one.part,
            one.domain,
            leaks,
            one.imports,
            one.underlay,
            one.is_connected,
            sends,
            receives,
        )
        key = (*way, treated[place])
        if key not in found:
            found[key] = AddressClass(*way)
        found[key].members.append(one)
    for each in found.values():
        each.enters.extend(_entered(each, vteps))
    return list(found.values())


def _entered(source: AddressClass, vteps: Sequence[Vtep]) -> Iterator[Vtep]:
    """The VRFs that VXLAN packets from a class enter: their VTEP is in the default VRF, and no ACL at the port drops
    the packets."""
    dropped: dict[Address, bool] = {}
    for one in vteps if source.underlay else ():
        address = one.address
        if address not in dropped:
            packet = Packet(address.version, 17, None, _VXLAN_PORT, source.members[0].address, address)
            dropped[address] = (
                address.version != source.version
                or not any(prefix.covers(address) for prefix in source.underlay)
                or any(each.drops(packet) for each in source.sends)
            )
        if one.part == source.part and not dropped[address]:
            yield one


class _Filters:
    """The filters of tables: one for all tables with equal rules, of which a fabric has many."""

    def __init__(self) -> None:
        self._by_object: dict[Same[AclTable], PacketFilter] = {}  # many ports share the object of a table
        self._alike: dict[object, list[tuple[AclTable, PacketFilter]]] = {}
        self._by_content: dict[object, PacketFilter] = {}

    @property
    def distinct(self) -> list[PacketFilter]:
        """Those with different rules."""
        return list(self._by_content.values())

    def of(self, tables: Sequence[tuple[str, AclTable]]) -> tuple[PacketFilter, ...]:
        """The filters of (switch, table)."""
        return tuple([self._of(table) for _, table in tables])

    def _of(self, table: AclTable) -> PacketFilter:
        same = Same(table)
        if same not in self._by_object:
            self._by_object[same] = self._equal(table)
        return self._by_object[same]

    def _equal(self, table: AclTable) -> PacketFilter:
        """The filter of a table. Rows of the same table on other switches are compared, which takes a fraction of the
        time of their hash."""
        alike = self._alike.setdefault((table.name, table.version, len(table.rules), table.rules[-1][0]), [])
        for known, own in alike:
            if known.rules == table.rules:
                return own
        content = content_of(table)
        if content not in self._by_content:
            self._by_content[content] = PacketFilter(table)
        alike.append((table, self._by_content[content]))
        return self._by_content[content]


def _ends(source: AddressClass, target: AddressClass) -> tuple[Attachment, Attachment]:
    first = source.members[0]
    return first, next(one for one in target.members if one is not first)


def _barrier(source: AddressClass, target: AddressClass) -> _Decision | None:
    """Why routing does not lead from one class to another; None if it does."""
    if source.has_route_to(target):
        return None
    first, last = _ends(source, target)
    rows = tuple(row for row in (first.vrf_row, last.vrf_row) if row)
    return _Decision(False, "their VRFs are not connected" if rows else "no links connect their switches", rows)


def _leaking(source: AddressClass, target: AddressClass) -> _Decision:
    """Whether any packet passes from one class to another, by routes or in VXLAN packets that the host makes."""
    routed = _routed(source, target)
    vtep = None if routed.passes else source.vtep_to(target)
    if vtep is None:
        return routed
    first, last = _ends(source, target)
    if any_passes(target.receives, first.address, last.address) is None:
        return routed
    port = first.end.port
    reason = (
        f"no ACL of {port} drops VXLAN packets to {vtep.address.ip}, the VTEP of {vtep.switch}, which has {vtep.vrf}"
    )
    return _Decision(True, reason, ((first.end.switch, "PORT", port),))


def _routed(source: AddressClass, target: AddressClass) -> _Decision:
    """Whether any packet passes from one class to another by routes."""
    if barrier := _barrier(source, target):
        return barrier
    first, last = _ends(source, target)
    keys = [key for key in (first.domain, *sorted(first.imports)) if key in last.leaks]
    leak = last.leaks[keys[0]] if keys and first.domain != last.domain else None
    decisions = any_passes((*source.sends, *target.receives), first.address, last.address)
    if decisions is None:
        return _Decision(False)
    rows: list[RowPlace] = [leak] if leak else []
    reasons: list[str] = [f"a route of {first.end.switch} leads to its VRF"] if leak else []
    for one, (each, (switch, table)) in zip(decisions, _at_ports(source, target, first, last), strict=True):
        if one.rule is not None:
            rows.append((switch, "ACL_RULE", table.rules[one.rule][0]))
            reasons.append("rules drop some of the packets only" if one.depends else "the rule forwards the packets")
        elif each.applies(last.address):
            rows.append((switch, "ACL_TABLE", table.name))
            reasons.append("no rule drops the packets")
    if not rows and first.vrf_row and last.vrf_row:
        return _Decision(True, "both are in one VRF, and no ACL drops the packets", (first.vrf_row, last.vrf_row))
    if not rows:
        switch, port = first.end.switch, first.end.port
        reason = f"no ACL is bound to {port}, and both are in one VRF"
        return _Decision(True, reason, ((switch, "ACL_TABLE", ""), (switch, "PORT", port)))
    return _Decision(True, reasons[0], tuple(rows))


def _connected(source: AddressClass, target: AddressClass, dscps: Sequence[int | None]) -> _Decision:
    """Whether RoCE packets pass from one class to another."""
    if barrier := _barrier(source, target):
        return barrier
    first, last = _ends(source, target)
    if not target.is_connected:
        switch, port = last.end.switch, last.end.port
        return _Decision(False, f"no subnet of {port} of {switch} has this address", ((switch, "PORT", port),))
    for each, (switch, table) in _at_ports(source, target, first, last):
        index = each.drops_roce(first.address, last.address, dscps)
        if index is not None:
            return _Decision(False, "the rule drops them", ((switch, "ACL_RULE", table.rules[index][0]),))
    return _Decision(True)


def _at_ports(
    source: AddressClass, target: AddressClass, first: Attachment, last: Attachment
) -> Iterator[tuple[PacketFilter, tuple[str, AclTable]]]:
    """The filters at both ports, with the tables of two members."""
    yield from zip(source.sends, first.sends, strict=True)
    yield from zip(target.receives, last.receives, strict=True)
