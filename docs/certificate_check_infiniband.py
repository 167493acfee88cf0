"""The InfiniBand part of certificate_check.py: wiring, forwarding tables, service levels and virtual lanes of a subnet.

The wiring comes from a file of the subnet. The tables come from the dumps that the certificate names, else from the
certificate: then it holds for the result of one run of OpenSM on these files. The program follows the packets of every
pair of adapter ports, switch by switch. They must arrive, and every channel that a buffer can wait for must come later
in the order. It is made for some thousand adapters; large subnets take minutes.
"""

import hashlib
import json
import re
from functools import cache
from pathlib import Path

NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s+\d+\s+"([^"]+)"(?:.*\blid (\d+))?')
PORT = re.compile(r'\[(\d+)\](?:\((\w+)\))?\s+"([^"]+)"\[(\d+)\](?:\(\w+\))?(?:\s*#\s*lid (\d+))?')
END = re.compile(r"\{ (CA|SW)(?:-SM)? .*?NodeGUID:(\w+) PortGUID:(\w+) .*?LID:(\w+) PN:(\w+) \}")
NOWHERE = 255  # instead of a port if a switch has no route


class RefusedError(Exception):
    """The certificate does not hold for these files, or cannot be checked."""


class Wiring:
    """`far[s, p]` is the switch port at the other end of port p of switch s, `adapter[s, p]` the GUID of the adapter
    port there, `home` the inverse. Switches are identified by node GUID. `lids` are those of the file."""

    def __init__(self, text):
        self.far, self.adapter, self.home, self.lids = {}, {}, {}, {}
        for near, near_lid, far, far_lid in listed(text) if text.lstrip().startswith("{") else netlist(text):
            for one, lid, other in ((near, near_lid, far), (far, far_lid, near)):
                if one[0] == "adapter":
                    self.lids[one[1]] = max(lid, self.lids.get(one[1], 0))
                elif other[0] == "adapter":
                    self.join(self.adapter, one[1:], other[1])
                    self.join(self.home, other[1], one[1:])
                else:
                    self.join(self.far, one[1:], other[1:])
        if clash := self.far.keys() & self.adapter.keys():
            raise RefusedError(f"two cables in one port: switch 0x{min(clash)[0]:016x} port {min(clash)[1]}")

    @staticmethod
    def join(table, one, other):
        if table.setdefault(one, other) != other:
            raise RefusedError(f"the wiring has two cables in one port: {one}")


def netlist(text):
    """Cables of an ibsim netlist, or of ibnetdiscover's output: (end, LID, far end, LID), each from both sides."""
    kinds, ports, guid = {}, {}, 0
    for line in text.splitlines():
        if found := re.match(r"(?:switch|ca|rt)guid=0x(\w+)", line):
            guid = int(found[1], 16)
        elif found := NODE.match(line):
            name = found[2]
            kinds[name] = ("switch" if found[1] == "Switch" else "router" if found[1] == "Rt" else "adapter", guid)
        elif found := PORT.match(line):
            ports[name, int(found[1])] = found

    def end(name, number):
        kind, node_guid = kinds[name]
        found = ports[name, number]
        lid = int(found[5] or 0)
        return ((kind, node_guid, number), 0) if kind == "switch" else ((kind, int(found[2] or "0", 16)), lid)

    for (name, number), found in ports.items():
        there = found[3], int(found[4])
        if there not in ports or (ports[there][3], int(ports[there][4])) != (name, number):
            raise RefusedError(f"the cable of {name} port {number} is missing at its other end")
        if "router" not in (kinds[name][0], kinds[there[0]][0]):
            yield *end(name, number), *end(*there)


def listed(text):
    """Cables of opensm-subnet.lst, or of the *.lst of ibdiagnet."""
    for line in text.splitlines():
        ends = END.findall(line)
        if len(ends) == 2:
            cable = []
            for kind, node, port_guid, lid, port in ends:
                is_switch = kind == "SW"
                end = ("switch", int(node, 16), int(port, 16)) if is_switch else ("adapter", int(port_guid, 16))
                cable += [end, int(lid, 16)]
            yield cable


class Subnet:
    """The facts behind a plane of the certificate. Endpoints are LIDs of adapter ports, numbered from 0: `owner[n]` is
    the GUID of the port, `lid[n]` its LID, `table[s][n]` the port through which switch s sends to it. `levels` lists
    (endpoints that send, SL by destination): one digit each, `-` for a pair without a path."""

    def __init__(self, plane, folder):
        def text(name):
            return (folder / name).read_text(errors="replace")

        self.wiring = Wiring(text(plane["topology"]))
        self.name = {int(guid, 16): name for name, guid in plane["switches"].items()}
        self.guid = {name: guid for guid, name in self.name.items()}
        self.lanes = {}  # (switch, in-port, out-port) -> lane by SL
        self.usual = range(16)  # default of `lanes`
        if isinstance(plane["tables"], str):
            self.read_dumps(plane, text)
        else:
            self.owner = [int(guid, 16) for guid, _ in plane["endpoints"]]
            self.lid = [lid for _, lid in plane["endpoints"]]
            self.table = {self.guid[name]: bytes.fromhex(row) for name, row in plane["tables"].items()}
            self.levels = plane["levels"]
            self.read_lanes(plane["lanes"])
            if {*self.owner} != {*self.wiring.home} or len({*self.lid}) != len(self.lid):
                raise RefusedError("the endpoints are not the adapter ports of the wiring")
        cabled = {switch for switch, _ in [*self.wiring.far, *self.wiring.adapter]}
        if not cabled == self.table.keys() == self.name.keys():
            raise RefusedError("the switches are not those of the wiring")
        if any(len(row) != len(self.owner) for row in self.table.values()):
            raise RefusedError("a table does not have a port for every endpoint")

    def read_lanes(self, lanes):
        def numbers(digits):
            return [int(one, 16) for one in digits]

        if lanes is not None:
            self.usual = numbers(lanes["usual"])
            for name, blocks in lanes["others"].items():
                for into, out, digits in blocks:
                    self.lanes |= {(self.guid[name], a, b): numbers(digits) for a in into for b in out}

    def read_dumps(self, plane, text):
        """Read the tables that OpenSM or ibdiagnet dumped."""
        tables, owner = {}, {}
        for line in text(plane["tables"]).splitlines():
            if found := re.match(r"(?:Switch 0x|Unicast lids .*? guid 0x|\w+: Switch 0x)(\w+)", line):
                rows = tables.setdefault(int(found[1], 16), {})
            elif found := re.match(r"0x(\w{4})[ :]+(\d+)(?:.*Channel Adapter portguid 0x(\w+))?", line):
                rows[int(found[1], 16)] = int(found[2])
                if found[3] and int(found[3], 16) in self.wiring.home:
                    owner[int(found[1], 16)] = int(found[3], 16)
        owner = owner or {lid: guid for guid, lid in self.wiring.lids.items() if lid}
        self.lid = sorted(owner)
        self.owner = [owner[lid] for lid in self.lid]
        self.table = {guid: [tables.get(guid, {}).get(lid, NOWHERE) for lid in self.lid] for guid in self.name}
        if plane["lanes"]:
            self.usual = [0] * 16
            for line in text(plane["lanes"]).splitlines():
                if found := re.match(r"(Switch|Channel Adapter|Router) 0x(\w+)", line):
                    switch = int(found[2], 16)
                elif found := re.match(r"(\d+) +(\d+) +: +(.*)", line):
                    self.lanes[switch, int(found[1]), int(found[2])] = [int(one) for one in found[3].split()]
        self.levels = [(range(len(self.owner)), "0")]
        if plane["levels"]:
            self.read_levels(text(plane["levels"]), text(plane["topology"]))

    def read_levels(self, text, topology):
        """Read SLs by node GUID; the wiring maps ports to nodes."""
        place = {lid: number for number, lid in enumerate(self.lid)}
        digits = {}
        for guid, lid, level in re.findall(r"^0x(\w{16}) (\d+) (\d+)", text, re.MULTILINE):
            if int(lid) in place:
                digits.setdefault(int(guid, 16), ["-"] * len(place))[place[int(lid)]] = f"{int(level):x}"
        node = {int(port, 16): int(node, 16) for _, node, port, *_ in END.findall(topology)}
        if not node:
            blocks = re.findall(r"^caguid=0x(\w+)(.*?)(?=^\w+guid=|\Z)", topology, re.MULTILINE | re.DOTALL)
            node = {int(port, 16): int(guid, 16) for guid, rest in blocks for port in re.findall(r"\]\((\w+)\)", rest)}
        self.levels = [([n], "".join(digits.get(node[guid], "-"))) for n, guid in enumerate(self.owner)]

    def lane(self, switch, into, out, level):
        return self.lanes.get((switch, into, out), self.usual)[level]

    def name_of(self, switch, port, lane=None):
        return f"{self.name[switch]} port {port}" + ("" if lane is None else f" lane {lane}")


def deliver(subnet, number):
    """Check that packets to one endpoint arrive from every switch with adapters, with at most one hop per switch."""
    wiring, lid = subnet.wiring, subnet.lid[number]
    last, port = wiring.home[subnet.owner[number]]
    for switch, table in subnet.table.items():
        out = switch, table[number]
        if table[number] != NOWHERE and out not in wiring.far and out not in wiring.adapter:
            raise RefusedError(f"{subnet.name_of(*out)}, on the way to LID {lid}, has no cable")
    arrives = {last} if subnet.table[last][number] == port else set()
    for switch in {switch for switch, _ in wiring.adapter}:
        way = []
        while switch not in arrives:
            out = switch, subnet.table[switch][number]
            way.append(switch)
            if out not in wiring.far or len(way) > len(subnet.table):
                raise RefusedError(f"packets to LID {lid} do not arrive: they are lost at {subnet.name_of(*out)}")
            switch = wiring.far[out][0]
        arrives.update(way)


def senders(subnet):
    """(switch, in-port) -> distinct SLs by destination; in-ports with equal lanes share one entry."""
    onward = {}
    for switch, port in subnet.wiring.far:
        onward.setdefault(switch, []).append(port)
    found, by_lanes = {}, {}
    if sorted(number for numbers, _ in subnet.levels for number in numbers) != list(range(len(subnet.owner))):
        raise RefusedError("not every endpoint has service levels, or one has two")
    for numbers, levels in subnet.levels:
        if len(levels) not in (1, len(subnet.owner)):
            raise RefusedError("the service levels do not cover every destination")
        for number in numbers:
            switch, port = subnet.wiring.home[subnet.owner[number]]
            lanes = tuple(tuple(subnet.lanes.get((switch, port, out), subnet.usual)) for out in onward.get(switch, ()))
            found.setdefault(by_lanes.setdefault((switch, lanes), (switch, port)), set()).add(levels)
    return found


def follow_order(subnet, order):
    """Check that every dependency goes from an earlier to a later channel. Returns the number of dependencies."""
    wiring = subnet.wiring
    place = {(subnet.guid[name], port, lane): n for n, (name, port, lanes) in enumerate(order) for lane in lanes}
    if len(place) < sum(len(lanes) for *_, lanes in order):
        raise RefusedError("a channel is in the order twice")
    checked, used = set(), set()
    sent = [(start, levels) for start, rows in senders(subnet).items() for levels in rows]
    for number, owner in enumerate(subnet.owner):
        deliver(subnet, number)
        last, _ = wiring.home[owner]
        seen = set()
        for (switch, into), level in {(start, rows[number % len(rows)]) for start, rows in sent}:
            held, level = None, int(level, 16) if level != "-" else None
            while level is not None and switch != last:
                out = subnet.table[switch][number]
                needed = switch, out, subnet.lane(switch, into, out, level)
                if needed not in place:
                    raise RefusedError(f"missing in the order: {subnet.name_of(*needed)}")
                if held and place[held] >= place[needed]:
                    waits = f"{subnet.name_of(*held)} waits for {subnet.name_of(*needed)}"
                    raise RefusedError(f"{waits}, which does not come later in the order")
                if held:
                    checked.add((held, needed))
                if (needed, level) in seen:  # the rest of the way was followed before
                    break
                seen.add((needed, level))
                used.add(needed)
                held, (switch, into) = needed, wiring.far[switch, out]
    if idle := place.keys() - used:
        raise RefusedError(f"no packet uses {subnet.name_of(*min(idle))}")
    return len(checked)


def partitions(text, ports):
    """port GUID -> (P_Key, membership) pairs. SELF is ignored, because the files of a bundle name their managers."""
    members = {}
    for statement in re.sub(r"#.*", "", text).split(";"):
        head, _, body = statement.partition(":")
        if not head.strip():
            continue
        name, _, number = head.split(",")[0].partition("=")
        if not number and name.strip() != "Default":
            raise RefusedError(f"partition {name.strip()} has no key, so OpenSM chooses one")
        if "defmember" in head:
            raise RefusedError("partitions.conf has defmember, which is not supported")
        key = int(number or "0x7fff", 0) & 0x7FFF
        for word in body.replace(",", " ").split():
            who, _, how = word.partition("=")
            chosen = ports if who in ("ALL", "ALL_CAS") else [int(who, 16)] if who.startswith("0x") else []
            for port in chosen:
                members.setdefault(port, {})[key] = how
    return {port: frozenset((key, members[port][key]) for key in members.get(port, {})) for port in ports}


def without_path(subnet, keys):
    """The number of pairs without a path. With known P_Keys the two must share none, or both be limited members."""

    @cache
    def may_talk(one, other):
        return any(a == b and ("full" in (x, y) or "both" in (x, y)) for a, x in one for b, y in other)

    count = 0
    for numbers, levels in subnet.levels:
        of_senders = {keys[subnet.owner[number]] for number in numbers} if keys else ()
        for number, owner in enumerate(subnet.owner):
            if levels[number % len(levels)] == "-":
                count += len(numbers)
                if any(may_talk(one, keys[owner]) for one in of_senders):
                    raise RefusedError(f"LID {subnet.lid[number]} has no path from a port with which it shares a P_Key")
    return count


def seal(plane):
    """The checksum of the paths in the certificate."""
    kept = [plane.get(name) for name in ("endpoints", "tables", "lanes", "levels", "order")]
    return hashlib.sha256(json.dumps(kept, separators=(",", ":")).encode()).hexdigest()


def check_files(plane, folder, title):
    """Check that the certificate is of this subnet and has the checksums of its files."""
    if plane["folder"].startswith("infiniband/") and plane["folder"] != f"infiniband/{plane['name']}":
        raise RefusedError(f"{title}: its folder is that of another one, {plane['folder']}")
    if (plane["model"] == "opensm") == isinstance(plane["tables"], str):
        raise RefusedError(f"{title}: the model is {plane['model']}, but the tables are of another one")
    for name in ("opensm.conf", "partitions.conf") if plane["model"] == "opensm" else ():
        if (folder / name).is_file() and name not in plane["files"]:
            raise RefusedError(f"{title}: the certificate has no checksum of {name}")
    if plane["topology"] not in plane["files"]:
        raise RefusedError(f"{title}: the certificate has no checksum of {plane['topology']}")
    for name, digest in plane["files"].items():
        if not (folder / name).is_file() or hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise RefusedError(f"{title}: {folder / name} differs from the file of the certificate")


def check_subnet(plane, folders):
    """The line to print. Raises RefusedError."""
    title = f"plane {plane['name']}" if plane["name"] else "the subnet"
    if seal(plane) != plane["seal"]:
        raise RefusedError(f"{title}: order and tables differ from the sealed ones")
    if plane["order"] is None:
        raise RefusedError(f"{title} has no order: its dependencies are cyclic")
    places = (Path(one) / plane["folder"] for one in folders)
    folder = next((place for place in places if (place / plane["topology"]).is_file()), None)
    if folder is None:
        raise RefusedError(f"{title}: no given folder has {plane['folder']}/{plane['topology']}")
    check_files(plane, folder, title)
    subnet = Subnet(plane, folder)
    keys = None
    if plane["model"] == "opensm":
        keys = dict.fromkeys(subnet.owner, frozenset({(0x7FFF, "full")}))  # without partitions.conf
        if "partitions.conf" in plane["files"]:
            keys = partitions((folder / "partitions.conf").read_text(), set(subnet.owner))
    without = without_path(subnet, keys)
    count = follow_order(subnet, plane["order"])
    why = "may not communicate" if keys else "have no known SL"
    pairs = f"{len(subnet.owner)} LIDs reach each other" + (f", {without} pairs {why}" if without else "")
    size = f"{len(plane['order'])} channels are in order, {count} dependencies checked"
    made = "made of these files by OpenSM" if plane["model"] == "opensm" else "those of the subnet"
    return f"{title}: {size}; {pairs}; holds for these tables; that they are {made} ({plane['claim']}) is not checked"
