"""Where jobs can run on a plane: its hosts, and the unit of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredDevice
from fabricgen.simulate.patterns import Adapter
from fabricgen.simulate.patterns.job import computing_hosts
from fabricgen.simulate.plane.host_network import HostNetwork


@dataclass(frozen=True, order=True)
class Unit:
    """The hosts below the same leaves: a scalable unit, or where the files name none, the hosts of equal leaves.
    `number` is that of `unit` in jobs files, `pod` is -1 in fabrics without pods."""

    pod: int
    number: int
    name: str


@dataclass(frozen=True)
class PlaneSite:
    """The adapters of a plane, and the unit of each host."""

    adapters: Sequence[Adapter]
    unit: Mapping[str, Unit]

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The compute hosts, in the order of the files."""
        return tuple(computing_hosts(self.adapters))

    @cached_property
    def all_hosts(self) -> frozenset[str]:
        """The hosts of the plane, those of storage included."""
        return frozenset(adapter.host for adapter in self.adapters)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units of compute hosts."""
        return tuple(sorted({self.unit[host] for host in self.hosts}))


def site_of(bundle: Bundle, plane: HostNetwork) -> PlaneSite:
    """The site of a plane."""
    wired = {device.name: device for device in (bundle.wiring.devices if bundle.wiring else ())}
    leaves: dict[str, list[str]] = {}
    for adapter, leaf in zip(plane.adapters, plane.leaf.tolist(), strict=True):
        leaves.setdefault(adapter.host, []).append(plane.names[leaf])
    first = {host: wired.get(own[0]) for host, own in leaves.items()}
    if all(device is not None and device.su is not None for device in first.values()):
        return PlaneSite(plane.adapters, {host: _scalable_unit(device) for host, device in first.items()})
    names = {host: "+".join(sorted(set(own))) for host, own in leaves.items()}
    number = {name: index for index, name in enumerate(dict.fromkeys(names.values()))}
    return PlaneSite(plane.adapters, {host: Unit(-1, number[name], name) for host, name in names.items()})


def _scalable_unit(leaf: WiredDevice | None) -> Unit:
    assert leaf is not None and leaf.su is not None
    return Unit(-1 if leaf.pod is None else leaf.pod, leaf.su, f"su{leaf.su:02d}")
