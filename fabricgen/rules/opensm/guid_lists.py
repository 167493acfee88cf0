"""Lists of GUIDs, the grid of a torus, and the QoS policy."""

from collections import Counter
from collections.abc import Iterator
from math import prod

from fabricgen.findings import Severity
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.located_text import Word
from fabricgen.opensm.qos_policy_conf import read_policy
from fabricgen.opensm.torus_conf import Seed, SeedLink, TorusFile, read_torus
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets

_LISTS = ("root_guid_file", "cn_guid_file", "io_guid_file", "guid_routing_order_file", "port_prof_ignore_file")
_ENDPOINTS = ("cn_guid_file", "io_guid_file", "guid_routing_order_file")
_SHORT_RING = 4


@rule("FG827", Severity.ERROR, "A list of GUIDs that OpenSM cannot read", Basis.SCHEMA)
def unreadable_list(fabric: Fabric) -> Iterator[Defect]:
    """What: every line of root_guids, cn_guids, io_guids and guid_routing_order is a GUID with 0x, alone or with a
    blank behind it, and there is one.

    Why: for one GUID without 0x, with colons or with a comma OpenSM drops the file and guesses: roots are what it finds
    by itself. An empty list of compute nodes makes ftree give up.

    Example: 02fab00100000008

    Fix: 0x02fab00100000008

    Source: opensm 3.3.23, ERR AA02 and AB27; measured with the real one.
    """
    for subnet in managed_subnets(fabric):
        for option in _LISTS:
            if (found := subnet.guids(option)) is None:
                continue
            file, content = found
            for line in content.unreadable:
                yield Defect(subnet.place(file, line), "no GUID with 0x: OpenSM drops the file", "0x and 16 digits")
            if not content.entries and not content.unreadable:
                yield Defect(subnet.place(file), "the list is empty, which OpenSM takes for a mistake", "leave it out")


@rule("FG828", Severity.ERROR, "A list of roots that is not the highest tier")
def roots(fabric: Fabric) -> Iterator[Defect]:
    """What: root_guids has the node GUID of every switch of the highest tier, and no other. One that is missing is a
    warning.

    Why: a spine that is not in the list carries nothing, and OpenSM says nothing: with 2 of 4 listed, updn and ftree
    leave the others idle. With a leaf in the list ftree gives up. With none that exists updn does, and both become
    minhop.

    Example: three of four spines are listed.

    Fix: list all switches of the highest tier; after a switch was replaced, its new GUID.

    Source: measured with opensm 3.3.23: the others carry 0 of 448 LIDs.
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
                yield Defect(place, f"{word} is no switch but an adapter", "node GUIDs of switches")
            elif guid not in names:
                yield Defect(place, f"no switch of the subnet has {word}", "the GUID of the switch that is there now")
            elif guid not in subnet.top:
                yield Defect(place, f"{names[guid]} is not of the highest tier: ftree gives up, updn turns there", "")
        for guid in sorted(subnet.top - content.words.keys()):
            message = f"{names[guid]} ({guid_text(guid)}) is not in the list of roots, and carries nothing"
            yield Defect(subnet.place(file, key=guid_text(guid)), message, "list it", severity=Severity.WARNING)


@rule("FG829", Severity.ERROR, "A list of endpoints with what is no port of the subnet")
def endpoints(fabric: Fabric) -> Iterator[Defect]:
    """What: cn_guids, io_guids and guid_routing_order have port GUIDs of adapters of the subnet; none is in cn_guids
    and io_guids at once. Warnings: a port that stands twice, and one that is missing where others of its host group
    are listed.

    Why: ftree gives up for a node GUID or a stale one in cn_guids, and OpenSM falls back to minhop. What is not listed
    is routed as if it were no compute node, or last.

    Example: cn_guids has 0x02fab00200000000, the node GUID of dgx-000 rail0.

    Fix: port GUIDs, as `ibstat` shows them.

    Source: opensm(8), ftree; measured with the real one.
    """
    for subnet in managed_subnets(fabric):
        compute: dict[int, Word] = {}
        for option in _ENDPOINTS:
            found = subnet.guids(option)
            if found is None or not subnet.ports or found[1].unreadable:
                continue
            file, content = found
            for guid, word in content.words.items():
                if guid not in subnet.ports:
                    node = subnet.ports_of_nodes.get(guid)
                    what = (
                        "a node's GUID" if node else "a switch" if guid in (subnet.switches or {}) else "no port here"
                    )
                    hint = f"its port: {', '.join(map(guid_text, node))}" if node else "correct it, or take it out"
                    yield Defect(
                        subnet.place(file, word), f"{word} is {what}; OpenSM drops the engine, or the entry", hint
                    )
                elif option == "io_guid_file" and guid in compute:
                    message = f"{subnet.ports[guid]} is in the lists of compute nodes and of others"
                    yield Defect(subnet.place(file, word), message, "keep one of them")
            if option == "cn_guid_file":
                compute = dict(content.words)
            yield from _twice(subnet, file, content.entries)
            yield from _missing(subnet, file, set(content.words))


def _twice(subnet: ManagedSubnet, file: str, entries: tuple[tuple[int, Word], ...]) -> Iterator[Defect]:
    counts = Counter(guid for guid, _ in entries)
    for guid, word in {guid: word for guid, word in entries if counts[guid] > 1}.items():
        yield Defect(subnet.place(file, word), f"{guid_text(guid)} stands twice", "keep one", severity=Severity.WARNING)


def _missing(subnet: ManagedSubnet, file: str, listed: set[int]) -> Iterator[Defect]:
    groups = {subnet.adapters[guid][0].group for guid in listed if guid in subnet.adapters}
    for guid, (host, _) in subnet.adapters.items():
        if host.group in groups and guid not in listed and guid in (subnet.ports or {}):
            message = f"{subnet.adapter_name(guid)} ({guid_text(guid)}) is missing, others of {host.group} are listed"
            yield Defect(subnet.place(file, key=guid_text(guid)), message, "list it", severity=Severity.WARNING)


@rule("FG831", Severity.ERROR, "A torus-2QoS.conf that does not describe the torus")
def torus_grid(fabric: Fabric) -> Iterator[Defect]:
    """What: torus-2QoS.conf has torus or mesh with three sizes, as many switches as there are; for every axis a seed
    link from one switch to its neighbour, both ways in a ring of four; datelines within the size; and
    portgroup_max_ports above the endpoints of every switch, for port 0 counts.

    Why: torus-2QoS gives up (ERR 4E1E, 4E23, 4E57), and OpenSM falls back to minhop, which deadlocks on a torus.

    Example: torus 4 4 4 with xp_link and no xm_link.

    Fix: leave the file to fabricgen, which takes sizes and seeds from the design.

    Source: torus-2QoS.conf(5); measured with opensm 3.3.23.
    """
    for subnet in managed_subnets(fabric):
        file = subnet.named("torus_config", "torus-2QoS.conf")
        if file is None or "torus-2QoS" not in subnet.master.engines:
            continue
        content = read_torus(subnet.text(file) or "")
        for line in content.unreadable:
            yield Defect(subnet.place(file, line), f"{line} is no line of torus-2QoS.conf", "")
        if content.head is None:
            yield Defect(subnet.place(file), "no line says torus or mesh and three sizes", "torus 4 4 4")
            continue
        yield from _size(subnet, file, content)
        for seed in content.seeds:
            yield from _axes(subnet, file, content, seed)
            yield from _neighbours(subnet, file, seed)
        yield from _room(subnet, file, content)


def _size(subnet: ManagedSubnet, file: str, content: TorusFile) -> Iterator[Defect]:
    switches = len(subnet.switches or ())
    at = subnet.place(file, content.head)
    if switches and prod(content.sizes) != switches:
        size = " x ".join(map(str, content.sizes))
        yield Defect(at, f"{size} are {prod(content.sizes)} switches, the subnet has {switches}", "")
    if subnet.design in ("torus", "mesh") and any(content.rings) != (subnet.design == "torus"):
        yield Defect(
            at, f"the file says {content.head}, the plane is a {subnet.design}", f"{subnet.design}, or t and m"
        )


def _axes(subnet: ManagedSubnet, file: str, content: TorusFile, seed: Seed) -> Iterator[Defect]:
    at = subnet.place(file, seed.links[0].word if seed.links else content.head)
    for axis, size in enumerate(content.sizes):
        ways = {link.forward for link in seed.links if link.axis == axis}
        name = "xyz"[axis]
        if size > 1 and not ways:
            yield Defect(at, f"no seed link leads along {name}", f"{name}p_link and two switches")
        elif size == _SHORT_RING and content.rings[axis] and len(ways) < 2:
            message = f"a ring of {_SHORT_RING} needs {name}p_link and {name}m_link (ERR 4E23)"
            yield Defect(at, message, "the neighbours of one switch on both sides")
        if axis in seed.datelines and abs(seed.datelines[axis][0]) >= size:
            place, word = seed.datelines[axis]
            yield Defect(subnet.place(file, word), f"the dateline {place} is outside of {name}, which has {size}", "")


def _neighbours(subnet: ManagedSubnet, file: str, seed: Seed) -> Iterator[Defect]:
    neighbours: dict[int, set[int]] = {}
    if subnet.topology:
        switches = [one.node_guid for one in subnet.topology.switches]
        for guid, row in zip(switches, subnet.topology.peer_switch.tolist(), strict=True):
            neighbours[guid] = {switches[peer] for peer in row if peer >= 0}
    far: dict[int, SeedLink] = {}
    for link in seed.links:
        place = subnet.place(file, link.word)
        strangers = [guid_text(guid) for guid in (link.a, link.b) if subnet.switches and guid not in subnet.switches]
        before = far.setdefault(link.b, link)
        if strangers:
            yield Defect(place, f"no switch of the subnet has {', '.join(strangers)}", "node GUIDs of switches")
        elif neighbours and link.b not in neighbours[link.a]:
            yield Defect(
                place, f"no cable joins {guid_text(link.a)} and {guid_text(link.b)}", "neighbours of one switch"
            )
        elif before is not link:
            message = f"{guid_text(link.b)} is the neighbour along {'xyz'[before.axis]} already"
            yield Defect(place, message, "each neighbour once")
        elif seed.links[0].a != link.a:
            yield Defect(
                place, "the links of a seed do not start at one switch", f"all at {guid_text(seed.links[0].a)}"
            )


def _room(subnet: ManagedSubnet, file: str, content: TorusFile) -> Iterator[Defect]:
    if subnet.topology is None:
        return
    counts = (subnet.topology.adapter_at >= 0).sum(axis=1).tolist()
    most = max(counts, default=0)
    if content.most_ports <= most:
        message = f"{most} endpoints on a switch, and port 0: portgroup_max_ports {content.most_ports} is too few"
        place = subnet.place(file, content.most_ports_word or content.head)
        yield Defect(place, message, f"portgroup_max_ports {most + 1}")


@rule("FG832", Severity.ERROR, "A QoS policy that OpenSM drops, or never reads")
def qos_policy(fabric: Fabric) -> Iterator[Defect]:
    """What: every section of qos-policy.conf is closed, keys are those of the section, there is a level DEFAULT (or a
    default among qos-ulps), every level has a name of its own and an SL of 0 to 15, and rules name levels that there
    are. With qos FALSE a policy beside opensm.conf is a warning.

    Why: OpenSM drops the whole policy for one mistake (ERR AC05, AC10, AC11), and with qos FALSE it does not look.

    Example: a qos-match-rule with qos-level-name: fast, and no level of that name.

    Fix: correct the line, or qos TRUE.

    Source: opensm 3.3.23, osm_qos_parser_y.y and osm_qos_policy.c; measured with the real one.
    """
    for subnet in managed_subnets(fabric):
        file = subnet.named("qos_policy_file", "qos-policy.conf")
        if file is None:
            continue
        policy = read_policy(subnet.text(file) or "")
        for fault in policy.faults:
            yield Defect(subnet.place(file, fault.word), f"{fault.message}; OpenSM drops the policy", "")
        names = Counter(level.values["name"].text for level in policy.levels if "name" in level.values)
        for level in policy.levels:
            name = level.values.get("name")
            if name is None or "sl" not in level.values:
                missing = "name" if name is None else "SL"
                yield Defect(subnet.place(file, level.head), f"a level without {missing}; OpenSM drops the policy", "")
            elif names[name.text] > 1:
                yield Defect(subnet.place(file, name), f"two levels are called {name}; OpenSM drops the policy", "")
        for one in policy.rules:
            level_name = one.values.get("qos-level-name")
            if level_name is None or level_name.text not in names:
                message = f"no level is called {level_name}" if level_name else "a rule without qos-level-name"
                place = subnet.place(file, level_name or one.head)
                yield Defect(place, f"{message}; OpenSM drops the policy", f"one of {', '.join(sorted(names))}")
        if "DEFAULT" not in names and not any(match.text == "default" for match, _ in policy.ulps):
            yield Defect(subnet.place(file), "there is no level DEFAULT; OpenSM drops the policy", "add one")
        if not subnet.master.content.is_true("qos"):
            place = subnet.master.place("qos")
            yield Defect(
                place, f"{file} is here, and with qos FALSE nobody reads it", "qos TRUE", severity=Severity.WARNING
            )
