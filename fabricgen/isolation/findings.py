"""Findings of the proof that tenants are apart, each at the row that decides: FG647 to FG649."""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Location, Place, Related, Severity, in_order
from fabricgen.results.isolation import HostAddress, IsolationResult, WrongPair
from fabricgen.units import counted, listed
from fabricgen.vocabulary import Isolation

_BETWEEN_VRFS = "remove this route between VRFs, or let the tenants share in the inventory"
_OWN_VRF = "put each port into the VRF of its tenant"
_BY_VRF = (Isolation.VRF, Isolation.EVPN)
_HINTS = {
    **dict.fromkeys(("STATIC_ROUTE", "BGP_GLOBALS_AF", "VRF"), _BETWEEN_VRFS),
    "INTERFACE": _OWN_VRF,
    "PORT": "put the port into the VRF of a tenant, or bind an ACL that drops packets to the loopbacks of all switches",
    "partitions.conf": "let hosts of different tenants be limited members of this partition, or of none in common",
}
_MOST = 20  # findings of a plane; the last one has the number of the others


def isolation_findings(bundle: Bundle, results: Sequence[IsolationResult]) -> list[Finding]:
    """The findings of the results of `isolation`."""
    return in_order(finding for result in results for finding in _of_plane(bundle, result))


def _of_plane(bundle: Bundle, result: IsolationResult) -> Iterator[Finding]:
    if result.left_out or not result.addresses:
        names = listed([f"{host}/{nic}" for host, nic in result.left_out], 3)
        missing = f"{counted(len(result.left_out), 'NIC')} without an address or a port of a switch: {names}"
        message = (
            f"plane {result.plane}: not proved for {missing}"
            if result.left_out
            else f"plane {result.plane} has no host"
        )
        hint = "give every NIC of the plane an address and a link in fabric.json"
        first = ("hosts", result.left_out[0][0]) if result.left_out else ("planes", result.plane)
        yield Finding("FG649", Severity.ERROR, message, location=bundle.locate_wired(*first), hint=hint)
    elif not result.tenants:
        message = f"plane {result.plane}: no tenant has a NIC of the plane, so nothing separates tenants"
        hint = "give a tenant of the inventory hosts of the plane, or remove its isolation"
        place = bundle.locate_wired("planes", result.plane)
        yield Finding("FG649", Severity.ERROR, message, location=place, hint=hint)
    for name in result.unread:
        why = "FRR reads a frr.conf that differs from its tables"
        message = f"plane {result.plane}: not proved for hosts at this switch, because its {why}"
        hint = "render the bundle again, and keep frr.conf beside config_db.json"
        place = _locate(bundle, name, "", "")
        yield Finding("FG649", Severity.ERROR, message, device=name, location=place, hint=hint)
    worst = sorted(result.wrong, key=lambda pair: (not pair.leaks, -pair.pairs))
    planes = bundle.wiring.planes if bundle.wiring else ()
    by_vrf = any(plane.name == result.plane and plane.isolation in _BY_VRF for plane in planes)
    for pair in worst[:_MOST]:
        yield _of_pair(bundle, pair, by_vrf=by_vrf)
    if more := worst[_MOST:]:
        pairs = sum(pair.pairs for pair in more)
        message = f"plane {result.plane}: {counted(len(more), 'more cause')} of {counted(pairs, 'wrong pair')}"
        code = "FG647" if any(pair.leaks for pair in more) else "FG648"
        yield Finding(code, Severity.ERROR, message, hint="correct the other places first")


def _of_pair(bundle: Bundle, pair: WrongPair, *, by_vrf: bool) -> Finding:
    who = f"{_name(pair.source)} {'reaches' if pair.leaks else 'does not reach'} {_name(pair.target)}"
    others = f"; {counted(pair.pairs, 'such pair')} in all" if pair.pairs > 1 else ""
    (device, table, key), *rest = pair.rows or ((pair.source.switch, "PORT", pair.source.port),)
    if pair.leaks and by_vrf and pair.source.tenant and (table, key) == ("ACL_TABLE", ""):
        hint = _OWN_VRF
    elif pair.leaks:
        tenant = pair.source.tenant
        table_of = f"the ACL of tenant {tenant}" if tenant else "an ACL that drops packets to all hosts"
        hint = _HINTS.get(
            table,
            f"bind {table_of} to the port, and give its DROP rule a higher PRIORITY than rules that forward to others",
        )
    elif table == "PORT":
        hint = "give the port the subnet of the host in fabric.json, or render the bundle again"
    else:
        hint = "let a rule with a higher PRIORITY forward these packets, or put both ports into one VRF"
    return Finding(
        code="FG647" if pair.leaks else "FG648",
        severity=Severity.ERROR,
        message=f"{who}: {pair.reason}{others}",
        device=device,
        location=_locate(bundle, device, table, key),
        related=tuple(
            Related("the port" if each == "PORT" else f"{each} of {name}", place, name, Place(each, row))
            for name, each, row in rest
            if (place := _locate(bundle, name, each, row))
        ),
        hint=hint,
        place=Place(table, key),
    )


def _name(end: HostAddress) -> str:
    return f"{end.host}/{end.nic} ({end.address}, {f'tenant {end.tenant}' if end.tenant else 'no tenant'})"


def _locate(bundle: Bundle, device: str, table: str, key: str) -> Location | None:
    known = bundle.devices.get(device)
    return known.locate(table, key) if known else None
