"""Lists of SRv6 uSIDs for hosts: the outer destination address of each path from each NIC, and what each NIC takes out.

A NIC puts an IPv6 header with such an address around each packet (RFC 8986, H.Encaps.Red), and removes it from packets
to its own uSID (End.DT46 of Linux seg6local, or the NIC). Vendors of NICs define how RoCE gets the lists.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_HOSTS, Handoff
from fabricgen.handoff.chosen import fits, refuse_strange_names
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredLink
    from fabricgen.routing.usids import UsidList, UsidPlane

_NICS = ("host", "nic", "plane", "leaf", "port", "address", "gateway", "sid")
_PATHS = ("nic", "far_host", "far_nic", "path", "outer_destination", "through")
_MOST_ROWS = 2_000_000


def paths_files(bundle: "Bundle", only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(path, bytes): nics.csv, and paths/HOST.csv with a row for each path to each other NIC of the same plane.

    Raises UsageError without uSIDs or hosts, for a path that the uSIDs of switches do not have, and above two million
    rows.
    """
    from fabricgen.routing.usids import usid_planes

    planes = list(usid_planes(bundle))
    if not planes:
        raise UsageError("no switch has a row of SRV6_MY_LOCATORS: set `srv6` of the plane")
    hosts = list(dict.fromkeys(link.a[0] for _, plane in planes for link in plane.nics if fits(link.a[0], only)))
    if not hosts:
        raise UsageError(f"--only {only}: no host matches" if only else "the bundle has no hosts")
    refuse_strange_names(hosts, "host name")
    chosen = {*hosts}
    count = sum(
        plane.path_count(near.b[0], far.b[0])
        for _, plane in planes
        for near in plane.nics
        if near.a[0] in chosen
        for far in plane.nics
    )
    if count > _MOST_ROWS:
        raise UsageError(f"the hosts have {counted(count, 'path')}: choose some with --only, or use `simulate paths`")
    ends = [(name, plane, link) for name, plane in planes for link in plane.nics]
    yield "nics.csv", _csv(_NICS, (_nic(bundle, *one) for one in ends))
    for host in hosts:
        rows = [row for _, plane, link in ends if link.a[0] == host for row in _paths(plane, link)]
        yield f"paths/{host}.csv", _csv(_PATHS, rows)


def _nic(bundle: "Bundle", name: str, plane: "UsidPlane", link: "WiredLink") -> Sequence[str]:
    own = next(plane.lists(link.b[0], link))
    addresses = [
        text
        for host in (bundle.wiring.hosts if bundle.wiring else ())
        if host.name == link.a[0]
        for nic in host.nics
        if nic.name == link.a[1]
        for text in nic.addresses
        if ":" in text
    ]
    gateways = [
        key.partition("|")[2].partition("/")[0]
        for key in bundle.devices[link.b[0]].table("INTERFACE")
        if key.startswith(f"{link.b[1]}|") and ":" in key
    ]
    return (*link.a, name, *link.b, *(addresses[:1] or [""]), *(gateways[:1] or [""]), _destination(own))


def _paths(plane: "UsidPlane", link: "WiredLink") -> Iterator[Sequence[object]]:
    for far in plane.nics:
        if far.a[0] == link.a[0]:
            continue
        for number, one in enumerate(plane.lists(link.b[0], far)):
            through = " ".join(f"{switch}:{port}" for switch, port in one.hops)
            yield link.a[1], *far.a, number, _destination(one), through


def _destination(one: "UsidList") -> str:
    if one.destination is None:
        place = " ".join(one.missing or ())
        raise UsageError(f"{place}: no uSID leads over this link; run `fabricgen simulate paths` on the bundle")
    return one.destination.ip


def _csv(columns: Sequence[str], rows: "Iterator[Sequence[object]] | Sequence[Sequence[object]]") -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue().encode()


HANDOFF = Handoff(
    "paths",
    "Write the lists of SRv6 uSIDs of the paths of each host, and the uSID of each NIC.",
    paths_files,
    options=(ONLY_HOSTS,),
    next_step="give {output}/paths/HOST.csv to the software of the NICs; the uSID of each NIC is in {output}/nics.csv",
    examples=("", "--only 'gpu-00?'"),
)
