"""Small InfiniBand subnets of every kind, as netlists that ibsim reads."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

SWITCH_GUID, ADAPTER_GUID = 0xE8EBD30300000000, 0xE8EBD30400000000


@dataclass
class Net:
    """Switches and adapters by number; `cables` say what is at (node, port). A node is "S3" or "H7"."""

    names: dict[str, str] = field(default_factory=dict)
    cables: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)
    highest: dict[str, int] = field(default_factory=dict)

    def switch(self, name: str, *, root: bool = False) -> str:
        """A new switch."""
        node = f"S{sum(one.startswith('S') for one in self.names)}"
        self.names[node] = name
        self.roots += [node] if root else []
        return node

    def host(self, switch: str) -> str:
        """A new host on the switch's next port."""
        node = f"H{sum(one.startswith('H') for one in self.names)}"
        self.names[node] = f"host{node[1:]} mlx5_0"
        self.link(node, switch)
        return node

    def link(self, a: str, b: str, port_a: int = 0, port_b: int = 0) -> None:
        """A cable between the next ports of both, or the given ones."""
        ends = (a, port_a or self._next(a)), (b, port_b or self._next(b))
        self.cables[ends[0]], self.cables[ends[1]] = ends[1], ends[0]
        for node, port in ends:
            self.highest[node] = max(port, self.highest.get(node, 0))

    def _next(self, node: str) -> int:
        return 1 + self.highest.get(node, 0)

    def guid(self, node: str) -> int:
        """Node GUID; an adapter's port GUID is one more, as in ibsim."""
        number = int(node[1:])
        return SWITCH_GUID + number if node[0] == "S" else ADAPTER_GUID + 16 * number

    def text(self) -> str:
        """The netlist, adapters first: the first of them is where OpenSM is plugged in."""
        lines = []
        ports_of: dict[str, list[tuple[int, tuple[str, int]]]] = {}
        for (one, port), there in sorted(self.cables.items()):
            ports_of.setdefault(one, []).append((port, there))
        for node in sorted(self.names, key=lambda one: (one[0], int(one[1:]))):
            ports = ports_of[node]
            if node[0] == "S":
                head = f'switchguid=0x{self.guid(node):x}\nSwitch {ports[-1][0]} "{self._id(node)}"'
                lines.append(f'{head}\t# "{self.names[node]}" enhanced port 0 lid 0 lmc 0')
            else:
                lines.append(f'caguid=0x{self.guid(node):x}\nCa 1 "{self._id(node)}"\t# "{self.names[node]}"')
            for port, (far, far_port) in ports:
                own = f"({self.guid(node) + port:x})" if node[0] == "H" else ""
                lines.append(f'[{port}]{own}\t"{self._id(far)}"[{far_port}]\t# lid 0 lmc 0 "x" lid 0 4xHDR')
            lines.append("")
        return "\n".join(lines) + "\n"

    def _id(self, node: str) -> str:
        return f"{node[0]}-{self.guid(node):016x}"


def two_tier(leaves: int, spines: int, hosts: int) -> Net:
    """Every leaf to every spine."""
    net = Net()
    below = [net.switch(f"leaf{number}") for number in range(leaves)]
    for leaf in below:
        for _ in range(hosts):
            net.host(leaf)
    for number in range(spines):
        spine = net.switch(f"spine{number}", root=True)
        for leaf in below:
            net.link(leaf, spine)
    return net


def three_tier(pods: int, leaves: int, spines: int, cores: int, hosts: int) -> Net:
    """Spine i of every pod joins the i-th group of cores."""
    net = Net()
    top = [net.switch(f"core{number}", root=True) for number in range(cores)]
    each = cores // spines
    for pod in range(pods):
        below = [net.switch(f"p{pod}-leaf{number}") for number in range(leaves)]
        for leaf in below:
            for _ in range(hosts):
                net.host(leaf)
        for number in range(spines):
            spine = net.switch(f"p{pod}-spine{number}")
            for leaf in below:
                net.link(leaf, spine)
            for core in top[number * each : (number + 1) * each]:
                net.link(spine, core)
    return net


def torus(size: Sequence[int], hosts: int) -> tuple[Net, str]:
    """The net and its torus-2QoS.conf. Port 2k + 1 goes up dimension k, 2k + 2 down."""
    net = Net()
    at = {place: net.switch("sw" + ".".join(map(str, place))) for place in product(*(range(n) for n in size))}
    for place, switch in at.items():
        for axis, length in enumerate(size):
            onward = (*place[:axis], (place[axis] + 1) % length, *place[axis + 1 :])
            net.link(switch, at[onward], 2 * axis + 1, 2 * axis + 2)
    for switch in at.values():
        for _ in range(hosts):
            net.host(switch)
    origin = (0,) * len(size)
    lines = ["torus " + " ".join(map(str, (*size, 1)[:3]))]
    for axis, letter in enumerate("xyz"[: len(size)]):
        steps = {"p": 1, "m": size[axis] - 1} if size[axis] == 4 else {"p": 1}
        for sign, step in steps.items():
            far = (*origin[:axis], step, *origin[axis + 1 :])
            lines.append(f"{letter}{sign}_link 0x{net.guid(at[origin]):x} 0x{net.guid(at[far]):x}")
    lines += [f"{letter}_dateline 0" for letter in "xyz"[: len(size)]]
    return net, "\n".join([*lines, "portgroup_max_ports 16"]) + "\n"


def lines(size: Sequence[int], hosts: int, *, longest: int) -> Net:
    """A grid of switches, each joined to those up to `longest` steps away on its lines: a mesh (1) or a HyperX."""
    net = Net()
    at = {place: net.switch("sw" + ".".join(map(str, place))) for place in product(*(range(n) for n in size))}
    for (one, a), (other, b) in combinations(at.items(), 2):
        steps = [abs(x - y) for x, y in zip(one, other, strict=True) if x != y]
        if len(steps) == 1 and steps[0] <= longest:
            net.link(a, b)
    for switch in at.values():
        for _ in range(hosts):
            net.host(switch)
    return net


def dragonfly(switches: int, hosts: int, global_links: int) -> Net:
    """All groups joined pairwise by one link, all switches of a group by one each."""
    net = Net()
    groups = switches * global_links + 1
    at = [[net.switch(f"g{group}s{number}") for number in range(switches)] for group in range(groups)]
    for group in at:
        for number, switch in enumerate(group):
            for _ in range(hosts):
                net.host(switch)
            for other in group[number + 1 :]:
                net.link(switch, other)
    for near in range(groups):
        for far in range(near + 1, groups):
            there, back = (far - near - 1) // global_links, (groups - 2 - (far - near - 1)) // global_links
            net.link(at[near][there], at[far][back])
    return net


def write(folder: Path, net: Net, engine: str, *, vls: int = 8, torus_conf: str = "", extra: str = "") -> Path:
    """A folder as a subnet manager's of a bundle: topology.ibsim, opensm.conf and what that names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "topology.ibsim").write_text(net.text())
    code = {1: 1, 2: 2, 4: 3, 8: 4}[vls]
    lines = [f"routing_engine {engine}", "qos TRUE", f"max_op_vls {code}"]
    if torus_conf:
        (folder / "torus-2QoS.conf").write_text(torus_conf)
        lines.append("torus_config /etc/opensm/torus-2QoS.conf")
    (folder / "opensm.conf").write_text("\n".join([*lines, extra]) + "\n")
    return folder
