"""Result files without the name of a test: what they measured, by their content, becomes the list of tests."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from fabricgen.acceptance.made import COLLECTIVES, collective_test, goodput_gbps, pair_test
from fabricgen.acceptance.measured import MOST_PARTS, result_files
from fabricgen.acceptance.planned import PlannedTest, Stage
from fabricgen.acceptance.results import Result, read_results
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint, WiredHost, WiredLink, Wiring
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.vocabulary import LinkKind, Purpose

# In the path of a file, such names say that its pairs ran at the same time.
_TOGETHER = re.compile(r"bisection|together|simultaneous", re.IGNORECASE)


@dataclass
class GivenTests:
    """The tests of the files with the result of each, and (place, reason) of those that measured nothing of this
    fabric."""

    tests: list[PlannedTest] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    others: list[tuple[Location, str]] = field(default_factory=list)

    def add(self, test: PlannedTest, result: Result) -> None:
        """Add a test. Its name has a number if another file, or an earlier run of the file, has the same."""
        same = sum(name.partition("#")[0] == test.id for name in self.results)
        test = replace(test, id=f"{test.id}#{same + 1}") if same else test
        self.tests.append(test)
        self.results[test.id] = result


def given_tests(bundle: Bundle, files: Iterable[tuple[Path, Path]], unit: str) -> GivenTests:
    """The tests of (root, file).

    Pairs are known by the addresses that perftest prints, or by the names of both hosts in the path and the RDMA
    device; collectives by the program and the hosts of their ranks.
    """
    found = GivenTests()
    if bundle.wiring is None:
        return found
    reader = _Reader(bundle.wiring)
    for root, file in files:
        try:
            results = read_results(file, unit)
        except UnreadableInputError as error:
            found.others.append((error.location, error.problem))
            continue
        for result in results:
            try:
                found.add(reader.test(result, root, file, is_one_of_many=len(results) > 1), result)
            except _UnknownTestError as error:
                found.others.append((Location(str(file), result.line), str(error)))
    order = list(Stage)
    found.tests.sort(key=lambda test: order.index(test.stage))
    return found


class _UnknownTestError(Exception):
    """A result that names no test of this fabric."""


@dataclass(frozen=True)
class _Reader:
    wiring: Wiring

    @cached_property
    def _hosts(self) -> dict[str, WiredHost]:
        return {host.name: host for host in self.wiring.hosts}

    @cached_property
    def _link_of(self) -> dict[Endpoint, WiredLink]:
        return {link.a: link for link in self.wiring.links if link.kind == LinkKind.HOST_LEAF}

    @cached_property
    def _nic_of(self) -> dict[str, Endpoint]:
        """Address -> (host, NIC)."""
        return {
            address.partition("/")[0]: (host.name, nic.name)
            for host in self.wiring.hosts
            for nic in host.nics
            for address in nic.addresses
        }

    @cached_property
    def _rdma_of(self) -> dict[tuple[str, str], str]:
        """(model, RDMA device) -> NIC."""
        return {(model.name, nic.rdma): nic.name for model in self.wiring.host_models for nic in model.nics if nic.rdma}

    @cached_property
    def _compute(self) -> dict[str, tuple[str, ...]]:
        """Host -> its NICs on compute planes."""
        planes = {plane.name for plane in self.wiring.planes if plane.purpose == Purpose.COMPUTE}
        return {host.name: tuple(nic.name for nic in host.nics if nic.plane in planes) for host in self.wiring.hosts}

    def test(self, result: Result, root: Path, file: Path, *, is_one_of_many: bool) -> PlannedTest:
        """The test of a result. The name of a file with many results does not say which collective one is. Raises
        _UnknownTestError."""
        if result.problem:
            raise _UnknownTestError(result.problem)
        path = file.relative_to(root.parent if root.is_file() else root)
        name = "/".join(path.with_suffix("").parts[-MOST_PARTS:])
        if result.is_pair:
            return self._pair(result, name, path)
        return self._collective(result, name, path, result.collective or ("" if is_one_of_many else _named(path)))

    def _pair(self, result: Result, name: str, path: Path) -> PlannedTest:
        a, b = self._ends(result, path)
        links = [self._link_of[end] for end in (a, b) if end in self._link_of]
        plane = next((plane for plane in self.wiring.planes if links and plane.name == links[0].plane), None)
        if len(links) < 2 or plane is None:
            raise _UnknownTestError(f"{a[0]} {a[1]} or {b[0]} {b[1]} has no link")
        if links[0].plane != links[1].plane:
            raise _UnknownTestError(f"{a[0]} {a[1]} and {b[0]} {b[1]} are on different planes")
        stage = Stage.FAR if links[0].b[0] != links[1].b[0] else Stage.NEAR
        stage = Stage.LOOPBACK if a == b else Stage.BISECTION if _TOGETHER.search(path.as_posix()) else stage
        speed_mbps = min(link.speed_mbps for link in links)
        return pair_test(name, stage, plane, goodput_gbps(speed_mbps, plane), (a, b), links[0].rail)

    def _ends(self, result: Result, path: Path) -> tuple[Endpoint, Endpoint]:
        if result.ends:
            unknown = [address for address in result.ends if address not in self._nic_of]
            if unknown:
                raise _UnknownTestError(f"no host of the fabric has the address {' or '.join(unknown)}")
            return self._nic_of[result.ends[0]], self._nic_of[result.ends[1]]
        hosts = self._in_order(path)
        if len(hosts) != 2:
            raise _UnknownTestError("it has no addresses, and its path does not have the names of two hosts")
        one, other = (self._nic(host, result, path) for host in hosts)
        return one, other

    def _nic(self, host: str, result: Result, path: Path) -> Endpoint:
        """The NIC: that of the RDMA device, that whose name is in the path, or the only one."""
        nics = self._compute[host]
        by_device = self._rdma_of.get((self._hosts[host].model, result.device), result.device)
        words = re.split(r"[^A-Za-z0-9-]+", path.as_posix())
        for chosen in ([nic for nic in nics if nic == by_device], [nic for nic in nics if nic in words], list(nics)):
            if len(chosen) == 1:
                return host, chosen[0]
        raise _UnknownTestError(f"it does not say which of the {len(nics)} NICs of {host} it measured")

    def _in_order(self, path: Path) -> list[str]:
        """The hosts in a path, the writer first."""
        names = "|".join(sorted(map(re.escape, self._hosts), key=len, reverse=True))
        return re.findall(rf"(?<![A-Za-z0-9-])(?:{names})(?![A-Za-z0-9-])", path.as_posix())

    def _collective(self, result: Result, name: str, path: Path, collective: str) -> PlannedTest:
        if not collective:
            raise _UnknownTestError("it does not name its collective: give the file a name such as all_reduce.txt")
        if collective not in COLLECTIVES:
            raise _UnknownTestError(f"{collective} has no expected value")
        hosts = tuple(dict.fromkeys(result.ranks)) or tuple(dict.fromkeys(self._in_order(path)))
        hosts = hosts or self._all_hosts(result)
        unknown = [host for host in hosts if host not in self._hosts]
        if unknown or len(hosts) < 2:
            one = f"it ran on {hosts[0]} only, not on the fabric" if hosts else "it does not say which hosts ran"
            why = f"{', '.join(unknown)} is not a host of the fabric" if unknown else one
            raise _UnknownTestError(why)
        first = self._hosts[hosts[0]]
        gpus = next((model.gpus for model in self.wiring.host_models if model.name == first.model), 0)
        ranks_of_host = (result.count or 0) // len(hosts) or gpus
        nics = self._compute[first.name]
        plane = next(plane for plane in self.wiring.planes if plane.name == self._link_of[first.name, nics[0]].plane)
        speed_mbps = self._link_of[first.name, nics[0]].speed_mbps
        return collective_test(name, Stage.COLLECTIVES, plane, collective, hosts, speed_mbps, len(nics), ranks_of_host)

    def _all_hosts(self, result: Result) -> tuple[str, ...]:
        """All hosts with GPUs, if the number of ranks is that of their GPUs."""
        gpus = {model.name: model.gpus for model in self.wiring.host_models}
        hosts = [host for host in self.wiring.hosts if gpus.get(host.model) and self._compute[host.name]]
        if result.count and result.count == sum(gpus[host.model] for host in hosts):
            return tuple(host.name for host in hosts)
        return ()


def _named(path: Path) -> str:
    """The collective in the name of a file."""
    text = path.name.lower().replace("_", "").replace("-", "")
    return next((name for name in sorted(COLLECTIVES, key=len, reverse=True) if name.replace("_", "") in text), "")


def stray_files(roots: Sequence[Path], used: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """(root, file) of results below `roots` that belong to no test: not counters, and not LLDP dumps."""
    known = set(used)
    for root in roots:
        files = [root] if root.is_file() else result_files(root)
        for file in files:
            folders = file.parent.parts[len(root.parts) :] if root.is_dir() else ()
            if file not in known and not {"before", "after", "lldp"}.intersection(folders):
                yield root, file
