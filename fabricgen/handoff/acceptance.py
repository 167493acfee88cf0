"""The acceptance pack: scripts that a commissioning team runs on the hosts, and the list of tests with their limits."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff
from fabricgen.handoff.chosen import refuse_strange_names
from fabricgen.handoff.management import management_addresses
from fabricgen.resources import resource
from fabricgen.sonic.tables import parse_priorities
from fabricgen.units import whole_number
from fabricgen.vocabulary import Technology

if TYPE_CHECKING:
    from fabricgen.acceptance.planned import PlannedTest
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import Endpoint, WiredAdapter, Wiring

_NONE = "-"
_NOTHING = "the bundle has no hosts with GPUs on a compute plane: there are no tests to run"
_STAGES = (
    "loopback", "near", "back", "far", "bisection", "rails", "collectives", "incast", "watchdog", "failover",
)  # fmt: skip


def acceptance_files(bundle: "Bundle") -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes): the scripts, lists/ with what each stage runs, and tests.jsonl with the limits.

    Raises UsageError if the bundle has no hosts with GPUs on a compute plane, and for names that shells do not allow.
    """
    from fabricgen.acceptance.made import QUEUE_PAIRS

    wiring = bundle.wiring
    if wiring is None:
        raise UsageError(_NOTHING)
    refuse_strange_names(
        (name for host in wiring.hosts for name in (host.name, *(nic.name for nic in host.nics))), "name"
    )
    refuse_strange_names((device.name for device in wiring.devices), "device name")
    written = _written(bundle, wiring)
    folder = resource("templates", "handoff", "acceptance")
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield file.relative_to(folder).as_posix(), file.read_bytes()
    yield "bundle.sh", f"# shellcheck shell=bash disable=SC2034\nQUEUE_PAIRS={QUEUE_PAIRS}\n".encode()
    while written:
        path = next(iter(written))
        yield path, written.pop(path).getvalue()


def _written(bundle: "Bundle", wiring: "Wiring") -> dict[str, BytesIO]:
    """tests.jsonl and the lists, in one run over the tests: hundreds of thousands do not fit into memory.

    Raises UsageError if there is no test between hosts.
    """
    from fabricgen.acceptance.made import made_tests
    from fabricgen.acceptance.planned import dump_tests

    lists = _Lists(bundle, wiring)
    found = {path: BytesIO() for path in ("tests.jsonl", *(f"lists/{stage}.txt" for stage in _STAGES))}
    hosts: dict[str, list[str]] = {}
    for test in made_tests(bundle):
        found["tests.jsonl"].write(dump_tests([test]))
        if test.a and test.stage == "loopback":
            host, nic, rdma = lists.end(test.a).split()
            hosts.setdefault(host, []).append(f"{nic}:{rdma}")
        if test.stage in _STAGES:
            found[f"lists/{test.stage}.txt"].write(_text(lists.of(test)))
    if not hosts:
        raise UsageError(_NOTHING)
    found["lists/hosts.txt"] = BytesIO(_text(f"{host} {' '.join(nics)}" for host, nics in hosts.items()))
    found["lists/switches.txt"] = BytesIO(_text(lists.switches()))
    return found


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


class _Lists:
    """Lines of words for the scripts."""

    def __init__(self, bundle: "Bundle", wiring: "Wiring") -> None:
        self._bundle, self._wiring = bundle, wiring
        self._class_of: dict[str, str] = {}

    @cached_property
    def _group_of(self) -> Mapping[str, str]:
        return {host.name: host.group for host in self._wiring.hosts}

    @cached_property
    def _adapters_of(self) -> Mapping[str, Mapping[str, "WiredAdapter"]]:
        """Host -> its adapters by name, which the hosts of a group share."""
        from fabricgen.bundle.nic_kinds import adapters_of

        models = {model.name: model for model in self._wiring.host_models}
        groups = {host.group: (models.get(host.model), host.rdma_names) for host in self._wiring.hosts}
        adapters = {name: adapters_of(*group) for name, group in groups.items()}
        return {host.name: adapters[host.group] for host in self._wiring.hosts}

    def _adapter(self, end: "Endpoint") -> "WiredAdapter | None":
        host, nic = end
        return self._adapters_of[host].get(nic)

    def end(self, end: "Endpoint") -> str:
        """Host, interface, RDMA device."""
        adapter = self._adapter(end)
        return f"{end[0]} {end[1]} {(adapter.rdma if adapter else '') or end[1]}"

    def of(self, test: "PlannedTest") -> Iterable[str]:
        """The lines of a test in the list of its stage."""
        if test.stage == "incast":
            return self.incast(test)
        makers = {"rails": self.collective, "collectives": self.collective, "watchdog": self.watchdog,
                  "failover": self.failover}  # fmt: skip
        return (makers.get(test.stage, self.pair)(test),)

    def traffic(self, test: "PlannedTest", host: str) -> str:
        """The option of perftest for the class of the host's collectives, from its file of NCCL settings.

        Raises UsageError if the bundle has no such setting: another class would test another queue.
        """
        group = self._group_of[host]
        if group not in self._class_of:
            files = self._bundle.hosts.get(group)
            settings = files.settings(files.nccl_file) if files else {}
            infiniband = test.plane in self._wiring.infiniband_planes
            name = "NCCL_IB_SL" if infiniband else "NCCL_IB_TC"
            if whole_number(settings.get(name)) is None:
                raise UsageError(f"hosts/{group} has no {name}: render the bundle with this version of fabricgen")
            self._class_of[group] = f"--{'sl' if infiniband else 'tclass'}={settings[name]}"
        return self._class_of[group]

    def pair(self, test: "PlannedTest") -> str:
        """Round, id, both ends, class."""
        assert test.a and test.b
        return f"{test.round} {test.id} {self.end(test.a)} {self.end(test.b)} {self.traffic(test, test.a[0])}"

    def incast(self, test: "PlannedTest") -> Iterator[str]:
        """A line for each writer, with the number of the test as the round."""
        assert test.b
        for number, writer in enumerate(test.writers):
            yield (
                f"{test.rail or 0} {test.id}.{number} {self.end(writer)} {self.end(test.b)} "
                f"{self.traffic(test, writer[0])}"
            )

    def collective(self, test: "PlannedTest") -> str:
        """Id, program, tasks of a host, device and GPU of a single rail, hosts."""
        device = gpu = _NONE
        if test.stage == "rails":
            adapter = self._adapter((test.hosts[0], test.id.split("/")[2].partition("+")[0]))
            device, gpu = (adapter.rdma or _NONE, str(adapter.gpu or 0)) if adapter else (_NONE, _NONE)
        return f"{test.id} {test.collective} {test.ranks_of_host} {device} {gpu} {','.join(test.hosts)}"

    def watchdog(self, test: "PlannedTest") -> str:
        """Id, host, interface, switch, detection time in ms, priority."""
        assert test.a and test.at
        device = self._bundle.devices[test.at[0]]
        detection_ms = device.text_of("PFC_WD", test.at[1], "detection_time")
        priority = min(parse_priorities(device.text_of("PORT_QOS_MAP", test.at[1], "pfc_enable")))
        return f"{test.id} {test.a[0]} {test.a[1]} {test.at[0]} {detection_ms} {priority}"

    def failover(self, test: "PlannedTest") -> str:
        """The words of a pair with a round, the switch port, and the seconds."""
        from fabricgen.acceptance.made import FAILOVER_S

        assert test.at
        return f"0 {self.pair(test)} {' '.join(test.at)} {FAILOVER_S:.0f}"

    def switches(self) -> Iterator[str]:
        """Name and address of each switch; its name where the file has no management address."""
        roce = {plane.name for plane in self._wiring.planes if plane.technology != Technology.INFINIBAND}
        for device in self._bundle.devices.values():
            if device.wired is None or device.wired.plane in roce:
                addresses = [address.ip for address, _ in management_addresses(device)]
                yield f"{device.name} {addresses[0] if addresses else device.name}"


HANDOFF = Handoff(
    "acceptance",
    "Write the acceptance tests of a new fabric: scripts for ssh, mpirun and Slurm, with expected values and limits.",
    acceptance_files,
    next_step="bash {output}/run.sh, then fabricgen accept {bundle} {output}",
    examples=("", "--adopt-folder"),
)
