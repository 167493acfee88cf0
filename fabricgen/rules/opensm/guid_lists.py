"""Rules on lists of GUIDs, torus-2QoS.conf and the QoS policy."""

from collections import Counter
from collections.abc import Iterator
from math import prod

from fabricgen.findings import Severity
from fabricgen.observed.subnet_files import NETLIST
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.located_text import LocatedWord
from fabricgen.opensm.netlist import SubnetNodeKind, read_netlist
from fabricgen.opensm.partitions_conf import MemberKind, key_of, membership_of
from fabricgen.opensm.qos_policy_conf import DEFAULT_LEVEL, PolicyFile, read_policy, repeated_names
from fabricgen.opensm.torus_conf import Seed, TorusFile, TorusSeedLink, read_torus
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets

_LISTS = ("root_guid_file", "cn_guid_file", "io_guid_file", "guid_routing_order_file", "port_prof_ignore_file")
_ENDPOINTS = ("cn_guid_file", "io_guid_file", "guid_routing_order_file")
_SHORT_RING = 4
_REJECTED = "; OpenSM rejects the policy"
_IPOIB_MEMBERS = 2


@rule("FG827", Severity.ERROR, "OpenSM cannot read a list of GUIDs", Basis.SCHEMA)
def unreadable_list(fabric: Fabric) -> Iterator[Defect]:
    """What: root_guids, cn_guids, io_guids and guid_routing_order are not empty, and each line starts with a GUID with
    0x. A blank separates the GUID from other text. No line, also no comment, is longer than 255 bytes.

    Why: If one GUID has no 0x, or has colons or a comma, OpenSM ignores the whole file and selects roots by itself. It
    reads the rest of a longer line as another line. With an empty list of compute nodes ftree fails.

    Example: The line 02fab00100000008.

    Fix: Write 0x02fab00100000008.

    Source: opensm 3.3.23, parse_node_map, ERR AA02 and AB27; measured with opensm 3.3.23.
    """
    for subnet in managed_subnets(fabric):
        for option in _LISTS:
            if (found := subnet.guids(option)) is None:
                continue
            file, content = found
            for line in content.unreadable:
                message = "the line is not a GUID with 0x, and OpenSM ignores the file"
                yield Defect(subnet.place(file, line), message, "write 0x and 16 hexadecimal digits")
            if not content.entries and not content.unreadable:
                yield Defect(subnet.place(file), "the list is empty, and OpenSM rejects it", f"remove {option}")


@rule("FG828", Severity.ERROR, "The list of roots is not the highest tier")
def roots(fabric: Fabric) -> Iterator[Defect]:
    """What: root_guids lists exactly the node GUIDs of the switches of the highest tier. A missing GUID is a warning.

    Why: A spine that is not in the list silently carries no traffic: with 2 of 4 spines in the list, updn and ftree
    leave the other 2 idle. With a leaf in the list ftree fails. If no GUID in the list exists, updn fails. In both
    cases OpenSM falls back to minhop.

    Example: root_guids lists three of four spines.

    Fix: List all switches of the highest tier. After the replacement of a switch, list its new GUID.

    Source: Measured with opensm 3.3.23: spines that are not listed carry 0 of 448 LIDs.
    """
    for subnet in managed_subnets(fabric):
        found = subnet.guids("root_guid_file")
        if found is None or not subnet.top or found[1].unreadable:
            continue
        file, content = found
        names = subnet.switches or {}
        for guid, word in content.words.items():
            place = subnet.place(file, word)
            if guid in (subnet.ports or {}) or guid in subnet.ports_of_nodes:
                yield Defect(place, f"{word} is an adapter, not a switch", "list only node GUIDs of switches")
            elif guid not in names:
                message = f"no switch of the subnet has the GUID {word}"
                yield Defect(place, message, "write the GUID of the present switch")
            elif guid not in subnet.top:
                message = (
                    f"{names[guid]} is not in the highest tier: ftree fails, and updn routes down and up again there"
                )
                yield Defect(place, message, f"remove {word}")
        for guid in sorted(subnet.top - content.words.keys()):
            message = f"{names[guid]} ({guid_text(guid)}) is not in the list of roots and carries no traffic"
            hint = f"add {guid_text(guid)}"
            yield Defect(subnet.place(file, key=guid_text(guid)), message, hint, severity=Severity.WARNING)


@rule("FG829", Severity.ERROR, "A list of endpoints does not match the ports of the subnet")
def endpoints(fabric: Fabric) -> Iterator[Defect]:
    """What: cn_guids, io_guids and guid_routing_order list port GUIDs of adapters of the subnet. No port is in both
    cn_guids and io_guids. A repeated port is a warning, and so is a missing port of a host group with listed ports.

    Why: With a node GUID or an outdated GUID in cn_guids, ftree fails and OpenSM falls back to minhop. OpenSM does not
    route ports that are not listed as compute nodes, or routes them last.

    Example: cn_guids lists 0x02fab00200000000, which is the node GUID of dgx-000 rail0.

    Fix: List port GUIDs, as `ibstat` shows them.

    Source: opensm(8), ftree; measured with opensm 3.3.23.
    """
    for subnet in managed_subnets(fabric):
        compute: dict[int, LocatedWord] = {}
        for option in _ENDPOINTS:
            found = subnet.guids(option)
            if found is None or not subnet.ports or found[1].unreadable:
                continue
            file, content = found
            for guid, word in content.words.items():
                if guid not in subnet.ports:
                    node = subnet.ports_of_nodes.get(guid)
                    kind = "a node GUID" if node else "a switch" if guid in (subnet.switches or {}) else "unknown"
                    ports = ", ".join(map(guid_text, node or ()))
                    hint = f"write the port GUID, {ports}" if node else f"correct or remove {word}"
                    message = f"{word} is {kind}, expected a port GUID: OpenSM ignores the entry, or the engine fails"
                    yield Defect(subnet.place(file, word), message, hint)
                elif option == "io_guid_file" and guid in compute:
                    message = f"{subnet.ports[guid]} is in cn_guids and io_guids"
                    yield Defect(subnet.place(file, word), message, "remove it from one of the lists")
            if option == "cn_guid_file":
                compute = dict(content.words)
            yield from _repeated(subnet, file, content.entries)
            yield from _missing(subnet, file, set(content.words))


def _repeated(subnet: ManagedSubnet, file: str, entries: tuple[tuple[int, LocatedWord], ...]) -> Iterator[Defect]:
    counts = Counter(guid for guid, _ in entries)
    for guid, word in {guid: word for guid, word in entries if counts[guid] > 1}.items():
        message, hint = f"{guid_text(guid)} is listed more than once", "remove the repeated lines"
        yield Defect(subnet.place(file, word), message, hint, severity=Severity.WARNING)


def _missing(subnet: ManagedSubnet, file: str, listed: set[int]) -> Iterator[Defect]:
    groups = {subnet.adapters[guid][0].group for guid in listed if guid in subnet.adapters}
    for guid, (host, _) in subnet.adapters.items():
        if host.group in groups and guid not in listed and guid in (subnet.ports or {}):
            name, hint = subnet.adapter_name(guid), f"add {guid_text(guid)}"
            message = f"{name} ({guid_text(guid)}) is missing, but other ports of {host.group} are listed"
            yield Defect(subnet.place(file, key=guid_text(guid)), message, hint, severity=Severity.WARNING)


@rule("FG831", Severity.ERROR, "torus-2QoS.conf does not describe the torus")
def torus_grid(fabric: Fabric) -> Iterator[Defect]:
    """What: torus-2QoS.conf has one line torus or mesh with three sizes, before the datelines, and their product is the
    number of switches. All axes of a torus with more than two switches are rings, and none of a mesh. Each axis has a
    seed link from one switch to its neighbor, in both directions in a ring of four, and links of two axes span a
    square. No link of a seed is repeated. Datelines are inside the size of their axis. portgroup_max_ports is above the
    number of endpoints of each switch, because port 0 counts. port_order has ports of the switches only.

    Why: torus-2QoS fails (ERR 4E10, 4E13, 4E1E, 4E21, 4E23, 4E57), and OpenSM falls back to minhop, which deadlocks on
    a torus. With a ring that is written as a mesh, the cables that close the ring carry no traffic.

    Example: torus 4 4 4 with xp_link but without xm_link.

    Fix: Render the file with fabricgen, which derives sizes and seeds from the design.

    Source: torus-2QoS.conf(5); opensm 3.3.23, parse_config in osm_torus.c; measured with opensm 3.3.23.
    """
    for subnet in managed_subnets(fabric):
        file = subnet.named("torus_config", "torus-2QoS.conf")
        if file is None or "torus-2QoS" not in subnet.master.engines:
            continue
        content = read_torus(subnet.text(file) or "")
        for line in content.unreadable:
            yield Defect(subnet.place(file, line), f"{line} is not valid in torus-2QoS.conf", "correct the line")
        if content.head is None:
            message = "the line with torus or mesh and three sizes is missing"
            yield Defect(subnet.place(file), message, "add a line such as torus 4 4 4")
            continue
        for word in content.repeated:
            message = f"a later line with {word} overrides this line"
            yield Defect(subnet.place(file, word), message, "remove one of the lines")
        yield from _size(subnet, file, content)
        for seed in content.seeds:
            yield from _axes(subnet, file, content, seed)
            yield from _seed_links(subnet, file, seed)
        yield from _port_count(subnet, file, content)


def _size(subnet: ManagedSubnet, file: str, content: TorusFile) -> Iterator[Defect]:
    switches = len(subnet.switches or ())
    at = subnet.place(file, content.head)
    if switches and prod(content.sizes) != switches:
        size = " x ".join(map(str, content.sizes))
        message = f"{size} has {prod(content.sizes)} switches, but the subnet has {switches}"
        yield Defect(at, message, "correct the three sizes")
    is_torus = subnet.design == "torus"
    wrong = [axis for axis, size in enumerate(content.sizes) if size > 2 and content.rings[axis] != is_torus]
    if wrong and subnet.design in ("torus", "mesh"):
        found = "not a ring" if is_torus else "a ring"
        message = f"axis {'xyz'[wrong[0]]} is {found} in the file, but the plane is a {subnet.design}"
        yield Defect(at, message, f"write {subnet.design}, or {subnet.design[0]} after the size")


def _axes(subnet: ManagedSubnet, file: str, content: TorusFile, seed: Seed) -> Iterator[Defect]:
    at = subnet.place(file, seed.links[0].word if seed.links else content.head)
    for axis, size in enumerate(content.sizes):
        ways = {link.forward for link in seed.links if link.axis == axis}
        name = "xyz"[axis]
        if size > 1 and not ways:
            yield Defect(at, f"the seed has no link along {name}", f"add {name}p_link with the GUIDs of two switches")
        elif size == _SHORT_RING and content.rings[axis] and len(ways) < 2:
            message = f"a ring of {_SHORT_RING} needs {name}p_link and {name}m_link (ERR 4E23)"
            yield Defect(at, message, "add links from one switch to its neighbors on both sides")
        if axis in seed.datelines and abs(seed.datelines[axis][0]) >= size:
            place, word = seed.datelines[axis]
            message = f"the dateline {place} is outside axis {name}, which has {size} switches"
            yield Defect(subnet.place(file, word), message, f"use a value below {size}")


def _seed_links(subnet: ManagedSubnet, file: str, seed: Seed) -> Iterator[Defect]:
    neighbors: dict[int, set[int]] = {}
    if subnet.topology:
        switches = [one.node_guid for one in subnet.topology.switches]
        for guid, row in zip(switches, subnet.topology.peer_switch.tolist(), strict=True):
            neighbors[guid] = {switches[peer] for peer in row if peer >= 0}
    far: dict[int, TorusSeedLink] = {}
    for link in seed.links:
        place = subnet.place(file, link.word)
        unknown = [guid_text(guid) for guid in (link.a, link.b) if subnet.switches and guid not in subnet.switches]
        before = far.setdefault(link.b, link)
        if unknown:
            message = f"no switch of the subnet has the GUID {', '.join(unknown)}"
            yield Defect(place, message, "write node GUIDs of switches")
        elif neighbors and link.b not in neighbors[link.a]:
            message = f"there is no cable between {guid_text(link.a)} and {guid_text(link.b)}"
            yield Defect(place, message, "write two switches with a cable between them")
        elif before is not link:
            message = f"{guid_text(link.b)} is already the neighbor along {'xyz'[before.axis]}"
            yield Defect(place, message, "use each neighbor once")
        elif seed.links[0].a != link.a:
            message = "the links of the seed do not start at the same switch"
            yield Defect(place, message, f"start all links at {guid_text(seed.links[0].a)}")
        elif other := next(
            (one for one in seed.links if one.axis < link.axis and _is_straight(neighbors, one, link)), None
        ):
            message = f"{other.word} and {link.word} lead along one axis: their ends have no other common neighbor"
            yield Defect(place, message, "write two switches along each axis")


def _is_straight(neighbors: dict[int, set[int]], one: TorusSeedLink, other: TorusSeedLink) -> bool:
    """Whether two links do not span a square of the grid."""
    ends = (neighbors.get(one.b), neighbors.get(other.b))
    return bool(ends[0] and ends[1]) and not (ends[0] or set()) & (ends[1] or set()) - {one.a}


def _port_count(subnet: ManagedSubnet, file: str, content: TorusFile) -> Iterator[Defect]:
    if subnet.topology is None:
        return
    counts = (subnet.topology.adapter_at >= 0).sum(axis=1).tolist()
    most = max(counts, default=0)
    if content.most_ports <= most:
        message = f"portgroup_max_ports is {content.most_ports}, but a switch has {most} endpoints and port 0"
        place = subnet.place(file, content.most_ports_word or content.head)
        yield Defect(place, message, f"set portgroup_max_ports to {most + 1}")
    nodes = read_netlist(subnet.text(NETLIST) or "").nodes.values()
    last = min((node.ports for node in nodes if node.kind is SubnetNodeKind.SWITCH), default=0)
    for port, word in content.port_order.items():
        if last and not 0 <= port <= last:
            message = f"port_order has port {port}, but a switch has {last} ports"
            yield Defect(subnet.place(file, word), message, "list only ports of the switches")


@rule("FG832", Severity.ERROR, "OpenSM rejects or does not read the QoS policy")
def qos_policy(fabric: Fabric) -> Iterator[Defect]:
    """What: Every section of qos-policy.conf is closed and has only valid keys, each once unless it is a list, with
    values that OpenSM can read. There is a level DEFAULT, or a default in qos-ulps. Every level has a unique name and
    an SL from 0 to 15, and rules refer to existing levels and port groups. Lines of qos-ulps with ipoib name partitions
    with two full members. No name contains a word of a section, and the file has no carriage return. A policy beside
    an opensm.conf with qos FALSE is a warning.

    Why: OpenSM rejects the whole policy after one mistake (ERR AC05, AC10 to AC13). With qos FALSE it does not read the
    policy. Of two levels with one name it uses the first. Names are equal in upper and lower case.

    Example: A qos-match-rule has qos-level-name: fast, but no level has this name.

    Fix: Correct the line, or set qos to TRUE.

    Source: opensm 3.3.23, osm_qos_parser_l.l, osm_qos_parser_y.y and osm_qos_policy.c; measured with opensm 3.3.23.
    """
    for subnet in managed_subnets(fabric):
        file = subnet.named("qos_policy_file", "qos-policy.conf")
        if file is None:
            continue
        policy = read_policy(subnet.text(file) or "")
        for fault in policy.faults:
            yield Defect(subnet.place(file, fault.word), f"{fault.message}{_REJECTED}", "correct the line")
        for level, _ in repeated_names(policy.levels):
            name = level.values["name"]
            message, hint = f"two levels have the name {name}: OpenSM uses the first", "use a name for each level"
            yield Defect(subnet.place(file, name), message, hint)
        yield from _references(subnet, file, policy)
        is_default = any(match.text.lower() == DEFAULT_LEVEL for match, _ in policy.ulps)
        if not is_default and not any(level.name() == DEFAULT_LEVEL for level in policy.levels):
            yield Defect(subnet.place(file), f"the level DEFAULT is missing{_REJECTED}", "add a level DEFAULT")
        if not subnet.master.content.is_true("qos"):
            place, message = subnet.master.place("qos"), f"OpenSM does not read {file}, because qos is FALSE"
            yield Defect(place, message, "set qos to TRUE", severity=Severity.WARNING)


def _references(subnet: ManagedSubnet, file: str, policy: PolicyFile) -> Iterator[Defect]:
    """Names of levels, port groups and partitions that do not exist."""
    names = {level.name(): level.values["name"].text for level in policy.levels if "name" in level.values}
    groups = {group.name() for group in policy.groups}
    for one in policy.rules:
        level = one.values.get("qos-level-name")
        if level and one.name("qos-level-name") not in names:
            hint = f"set qos-level-name to one of {', '.join(sorted(names.values()))}"
            yield Defect(subnet.place(file, level), f"no level has the name {level}{_REJECTED}", hint)
        for key in ("source", "destination"):
            for name, word in one.names(key):
                if name not in groups:
                    message = f"no port-group has the name {word}{_REJECTED}"
                    yield Defect(subnet.place(file, word), message, f"add the port-group, or remove {key}")
    full = _full_members(subnet)
    for pkey, word in policy.ipoib_keys if subnet.partitions else ():
        if full.get(pkey, 0) < _IPOIB_MEMBERS:
            message = f"the partition of P_Key 0x{pkey:04x} has less than two full members{_REJECTED}"
            yield Defect(subnet.place(file, word), message, "remove the line, or correct its P_Key")


def _full_members(subnet: ManagedSubnet) -> dict[int, int]:
    """Key of a partition -> its full members, where a group of ports counts as two."""
    found = {key: 0 for one in subnet.partitions if (key := key_of(one))}
    for partition in subnet.partitions:
        for member in partition.members:
            if (key := key_of(partition)) and membership_of(partition, member) != MemberKind.LIMITED:
                found[key] += 1 if member.name.text[:1].isdecimal() or member.name.text == "SELF" else _IPOIB_MEMBERS
    return found
