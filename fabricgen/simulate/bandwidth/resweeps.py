"""Next hops after failures as the real OpenSM computes them: ibsim unlinks cables, and OpenSM sweeps again.

For InfiniBand planes that are not trees, whose engines have no model here. A sweep takes about a second.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredDevice
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.observed.opensm_dumps import Dumps, read_dumps
from fabricgen.observed.subnet import GuidCable
from fabricgen.observed.subnet_files import SubnetFiles, subnets_of
from fabricgen.observed.wired_ports import port_number
from fabricgen.routing.bits import Words
from fabricgen.simulate.bandwidth.failures import UnjudgedError
from fabricgen.simulate.opensm.answers import sm_port
from fabricgen.simulate.opensm.bench import Bench, swept
from fabricgen.simulate.opensm.rewiring import ManagerEndedError, without
from fabricgen.simulate.opensm.tools import Tools, find_tools
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.rerouting import Indices, Reroute
from fabricgen.simulate.plane.subnet_plane import Forwarding, subnet_plane

MOST_SWEPT = 8  # sets of each kind and number of failures


@contextmanager
def resweeping(bundle: Bundle, plane: HostNetwork) -> Iterator[Reroute | None]:
    """The next hops of the plane after failures, by the running OpenSM of each of its subnets; None if OpenSM or ibsim
    is not installed, or the bundle has no files of the subnets. Raises UsageError if OpenSM cannot run.

    The function raises UnjudgedError for a failure that takes down the switch of a subnet manager, and if the tables
    cannot be read. Where no engine routes the rest, no link is a next hop.
    """
    tools = find_tools()
    found = [one for one in subnets_of(bundle.root) if one.plane == plane.name] if bundle.root else []
    if tools is None or bundle.wiring is None or not found or not all(one.netlist.is_file() for one in found):
        yield None
        return
    with ExitStack() as stack:
        managed = [_Managed(tools, files) for files in found]
        for one in managed:
            stack.callback(one.stop)
            one.start()
        yield _Reroute(bundle, plane, managed)


@dataclass
class _Managed:
    """A subnet with its running manager. `base` are the tables without a failure."""

    tools: Tools
    files: SubnetFiles
    base: Dumps = field(init=False)
    home: int = field(init=False)  # the node GUID of the switch of the manager
    _bench: Bench = field(init=False)
    _running: ExitStack = field(init=False, default_factory=ExitStack)

    def start(self) -> None:
        self._bench = self._running.enter_context(swept(self.tools, self.files.netlist, self.files.folder))
        if not self._bench.is_up:
            raise UsageError(f"{self.files.name}: OpenSM does not route the subnet")
        self.base = read_dumps(self._bench.scratch)
        rows = zip(self.base.subnet.adapters, self.base.subnet.attached_switch.tolist(), strict=True)
        manager = sm_port(self._bench)
        row = next((row for port, row in rows if port.port_guid == manager), -1)
        self.home = self.base.subnet.switches[row].node_guid if row >= 0 else 0

    def stop(self) -> None:
        self._running.close()

    def tables(self, cut: Sequence[GuidCable]) -> Dumps | None:
        """The tables without some cables; None if no engine routes the rest, or OpenSM ends."""
        try:
            with without(self._bench, self.files.netlist, self.base.subnet, cut) as after:
                return after.dumps
        except UnreadableInputError as error:
            raise UnjudgedError from error
        except ManagerEndedError:
            self.stop()
            self.start()
            return None


@dataclass(frozen=True)
class _Reroute:
    bundle: Bundle
    plane: HostNetwork
    managed: Sequence[_Managed]

    def __call__(self, dead: Indices) -> Words:
        wiring, network = self.bundle.wiring, self.plane.network
        assert wiring is not None
        device = {one.name: one for one in wiring.devices}
        gone = set(dead.tolist())
        cables = {_cable(self.plane, device, link, int(network.reverse[link])) for link in gone}
        tables = []
        for one in self.managed:
            switches = {switch.node_guid for switch in one.base.subnet.switches}
            cut = sorted(cable for cable in cables if cable[0][0] in switches)
            if self._is_alone(one.home, device, gone):
                raise UnjudgedError
            if (left := one.tables(cut) if cut else one.base) is None:
                return np.zeros_like(self.plane.hops)
            tables.append(left)
        found = subnet_plane(wiring, self.plane.name, Forwarding({self.plane.name: tables}))
        assert found is not None
        return found.hops

    def _is_alone(self, home: int, device: dict[str, WiredDevice], gone: set[int]) -> bool:
        """Whether the switch of a manager has lost all of its links to other switches."""
        network = self.plane.network
        rows = [row for row, name in enumerate(self.plane.names) if int(device[name].node_guid, 16) == home]
        own = [link for row in rows for link in range(int(network.offsets[row]), int(network.offsets[row + 1]))]
        return bool(own) and gone.issuperset(own)


def _cable(plane: HostNetwork, device: dict[str, WiredDevice], near: int, far: int) -> GuidCable:
    """The ends of a link by GUID and port number, the smaller first, as in `failures_of`."""

    def end(link: int) -> tuple[int, int]:
        name, port = plane.ports.name_of(link)
        number = port_number(device[name], port)
        assert number is not None
        return int(device[name].node_guid, 16), number

    first, second = sorted((end(near), end(far)))
    return first, second
