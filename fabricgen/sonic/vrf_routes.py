"""Which VRFs of a fabric have a route to a host: its own, those with a route to it on its switch, and by EVPN
others."""

from collections.abc import Mapping, Sequence

from fabricgen.sonic.addresses import Address
from fabricgen.sonic.evpn import Overlay, RouteTarget
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.vrfs import DEFAULT, Leaks

Row = tuple[str, str]  # table and key
_ALL = frozenset(Address(version, 0, 0) for version in (4, 6))


class VrfRoutes:
    """The routes of one switch to its hosts."""

    def __init__(self, config: ConfigDb) -> None:
        self._leaks, self.overlay = Leaks(config), Overlay(config)

    def to(self, vrf: str, ports: Sequence[str], address: Address) -> Mapping[tuple[str, ...], Row]:
        """What has a route to a host, apart from its own VRF, and the row of this route: (VRF,) on the switch, or (ASN,
        number) of a route target that switches import. `ports` are the interfaces of the host."""
        found: dict[tuple[str, ...], Row] = {}
        for leak in self._leaks.to(vrf, ports, address):
            found.setdefault((leak.vrf,), leak.row)
            if leak.vrf != DEFAULT and leak.row[0] == "STATIC_ROUTE":
                for target in self.overlay.exports(leak.vrf, "static", address.version):
                    found.setdefault(target, leak.row)
        if vrf != DEFAULT:
            for target in self.overlay.exports(vrf, "connected", address.version):
                found.setdefault(target, ("VRF", vrf))
        return found

    def underlay(self, vrf: str) -> frozenset[Address]:
        """The prefixes whose packets a VRF gives to the default VRF; all of them if it is this one."""
        return _ALL if vrf == DEFAULT else self._leaks.targets(vrf, DEFAULT)

    def imports(self, vrf: str) -> frozenset[RouteTarget]:
        """The route targets whose routes a VRF has."""
        return self.overlay.imports(vrf) if vrf != DEFAULT else frozenset()
