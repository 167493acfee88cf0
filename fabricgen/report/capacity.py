"""The capacity table for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.units import format_length


def capacity_text(capacity: Mapping[str, Any]) -> str:
    """A table of each plane."""
    lines: list[str] = []
    for plane in capacity["planes"]:
        rows = list(_rows(plane))
        width = max(len(name) for name, _ in rows)
        lines += [
            f"plane {plane['name']} ({', '.join([plane['technology'], *_other_purpose(plane)])})",
            *(f"  {name:<{width}}  {text}" for name, text in rows),
            "",
        ]
    return "\n".join(lines).rstrip()


def capacity_markdown(capacity: Mapping[str, Any]) -> str:
    """A table for a pull request."""
    planes: Sequence[Mapping[str, Any]] = capacity["planes"]
    columns = [dict(_rows(plane)) for plane in planes]
    names = list(dict.fromkeys(name for column in columns for name in column))
    head = [
        "| |" + "".join(f" {' '.join([plane['name'], *_other_purpose(plane)])} |" for plane in planes),
        "|---|" + "---|" * len(planes),
    ]
    return "\n".join(
        [*head, *(f"| {name} |" + "".join(f" {column.get(name, '')} |" for column in columns) for name in names)]
    )


def _other_purpose(plane: Mapping[str, Any]) -> list[str]:
    """The purpose of the plane, unless it is its name."""
    return [f"for {plane['purpose']}"] if plane["purpose"] != plane["name"] else []


def _rows(plane: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    planned = plane["planned"]
    for role, count in plane["switches"].items():
        if count or planned.get(role):
            room = f" (room for {planned[role]})" if planned.get(role, count) != count else ""
            yield f"{role} switches", f"{count}{room}"
    racks = f" in {plane['nvlink_domains']} NVLink domains" if plane["nvlink_domains"] else ""
    yield "hosts", f"{plane['hosts']}, {plane['gpus']} GPUs{racks}" if plane["gpus"] else f"{plane['hosts']}"
    yield "endpoints", f"{plane['endpoints']}"
    for kind, count in plane["links"].items():
        if count:
            yield f"{kind} links", f"{count} in {plane['cables'][kind]} cables"
    yield from _port_rows(plane)
    yield "bisection", f"{plane['bisection_gbps']} Gb/s"
    if plane["power_watts"] is not None:
        yield "power of switches", f"{plane['power_watts']} W at most"
    if plane["lids"] is not None:
        largest = f", the largest of {plane['subnets']} subnets" if plane["subnets"] > 1 else ""
        yield "LIDs", f"{plane['lids']} of 49151{largest}"
    if plane["infiniband"] is not None:
        yield "engine", plane["infiniband"]["engine"]
        yield "virtual lanes", subnet_lanes(plane["infiniband"])
        yield "reason", plane["infiniband"]["reason"]


def _port_rows(plane: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Cables by kind, ports and oversubscription, and the changes of keys that need fewer switches."""
    for optic in plane["optics"]:
        ends = f", {optic['transceivers']} transceivers" if optic["transceivers"] else ""
        yield f"{optic['kind']} {format_length(optic['length_m'])} {optic['medium']}", f"{optic['cables']} cables{ends}"
    for ports in plane["ports"]:
        yield f"{ports['role']} ports", f"{ports['used']} used, {ports['spare']} spare"
    for role, ratio in plane["oversubscription"].items():
        yield f"{role} oversubscription", f"{ratio:g}:1"
    ratios = {rail["oversubscription"] for rail in plane["rails"]}
    for rail in plane["rails"] if len(ratios) > 1 else ():  # the line of the tier covers equal rails
        yield f"rail {rail['rail']} oversubscription", f"{rail['oversubscription'] or 0:g}:1"
    for one in plane["waste"]:
        yield "fewer switches", f"`{one['change']}` needs {one['switches']} switches instead of {one['instead_of']}"


def subnet_lanes(choice: Mapping[str, Any]) -> str:
    """The VLs that an engine uses, and whether OpenSM must program them."""
    count = f"{choice['vls']} VL{'s' if choice['vls'] > 1 else ''}"
    return f"{count}, qos TRUE" if choice["qos"] else count


def subnet_lines(planes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each subnet: its name, engine, lanes, and the reason for the engine."""
    for plane in planes:
        yield f"infiniband  plane {plane['name']}: {plane['engine']}, {subnet_lanes(plane)} ({plane['reason']})"
