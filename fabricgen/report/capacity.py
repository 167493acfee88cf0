"""The capacity table for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.report.columns import columns_markdown, columns_text
from fabricgen.units import counted, format_length
from fabricgen.vocabulary import Technology

_ONE_INVENTORY = ("fewer switches", "reason")  # sentences, too long for a column


def capacity_text(capacity: Mapping[str, Any]) -> str:
    """A table of each plane, and one of the total of several planes."""
    parts = [
        (f"plane {plane['name']} ({', '.join([_technology(plane), *_other_purpose(plane)])})", list(plane_rows(plane)))
        for plane in capacity["planes"]
    ]
    if len(parts) > 1:
        parts.append(("total of all planes", list(_total_rows(capacity["total"]))))
    lines: list[str] = []
    for title, rows in parts:
        width = max(len(name) for name, _ in rows)
        lines += [title, *(f"  {name:<{width}}  {text}" for name, text in rows), ""]
    return "\n".join(lines).rstrip()


def capacity_markdown(capacity: Mapping[str, Any]) -> str:
    """A table for a pull request."""
    planes: Sequence[Mapping[str, Any]] = capacity["planes"]
    titles = [" ".join([plane["name"], *_other_purpose(plane)]) for plane in planes]
    columns = [dict(plane_rows(plane)) for plane in planes]
    if len(planes) > 1:
        titles.append("total")
        columns.append(dict(_total_rows(capacity["total"])))
    return columns_markdown(titles, columns, _names(columns))


def side_by_side(tables: Mapping[str, Mapping[str, Any]], *, markdown: bool, width: int = 0) -> str:
    """One table of several inventories: a column for each, the planes one below the other, then the total."""
    columns = []
    for table in tables.values():
        column = {
            f"{plane['name']}: {name}": text
            for plane in table["planes"]
            for name, text in plane_rows(plane)
            if name not in _ONE_INVENTORY
        }
        columns.append({**column, **{f"total: {name}": text for name, text in _total_rows(table["total"])}})
    if markdown:
        return columns_markdown(list(tables), columns, _names(columns))
    return columns_text(list(tables), columns, _names(columns), width)


def _names(columns: Sequence[Mapping[str, str]]) -> list[str]:
    """The names of all rows, those of a plane next to each other and the total last."""
    names = list(dict.fromkeys(name for column in columns for name in column))
    heads = list(dict.fromkeys(name.partition(": ")[0] for name in names))
    return sorted(names, key=lambda name: (name.startswith("total: "), heads.index(name.partition(": ")[0])))


def _technology(plane: Mapping[str, Any]) -> str:
    """roce, infiniband, or ethernet for a plane without lossless traffic."""
    is_lossy = plane["technology"] == Technology.ROCE and not plane["lossless"]
    return Technology.ETHERNET if is_lossy else plane["technology"]


def _other_purpose(plane: Mapping[str, Any]) -> list[str]:
    """The purpose of the plane, unless it is its name."""
    return [f"for {plane['purpose']}"] if plane["purpose"] != plane["name"] else []


def plane_rows(plane: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, text) of each row of a plane's table."""
    planned = plane["planned"]
    for role, count in plane["switches"].items():
        if count or planned.get(role):
            room = f" (room for {planned[role]})" if planned.get(role, count) != count else ""
            yield f"{role} switches", f"{_models(count, plane['models'].get(role, {}))}{room}"
    racks = f" in {counted(plane['nvlink_domains'], 'NVLink domain')}" if plane["nvlink_domains"] else ""
    yield "hosts", f"{plane['hosts']}, {counted(plane['gpus'], 'GPU')}{racks}" if plane["gpus"] else f"{plane['hosts']}"
    yield "endpoints", f"{plane['endpoints']}"
    for kind, count in plane["links"].items():
        if count:
            yield f"{kind} links", f"{count} in {counted(plane['cables'][kind], 'cable')}"
    yield from _port_rows(plane)
    yield "injection", f"{plane['injection_gbps']} Gb/s from all hosts"
    yield "bisection", f"{plane['bisection_gbps']} Gb/s between two halves of the hosts"
    yield from _space_rows(plane)
    if plane["lids"] is not None:
        largest = f", the largest of {plane['subnets']} subnets" if plane["subnets"] > 1 else ""
        yield "LIDs", f"{plane['lids']} of 49151{largest}"
    if plane["infiniband"] is not None:
        yield "engine", plane["infiniband"]["engine"]
        yield "virtual lanes", subnet_lanes(plane["infiniband"])
        yield "reason", plane["infiniband"]["reason"]
    yield from _waste_rows(plane)


def _waste_rows(plane: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The changes of keys that need fewer switches."""
    for one in plane["waste"]:
        yield (
            "fewer switches",
            f"`{one['change']}` needs {counted(one['switches'], 'switch')} instead of {one['instead_of']}",
        )


def _total_rows(total: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "switches", _models(total["switches"], total["models"])
    yield "hosts", f"{total['hosts']}, {counted(total['gpus'], 'GPU')}" if total["gpus"] else f"{total['hosts']}"
    optics = counted(total["transceivers"], "transceiver")
    yield "links", f"{total['links']} in {counted(total['cables'], 'cable')}, {optics}"
    yield from _space_rows(total)


def _models(count: int, models: Mapping[str, int]) -> str:
    """'8 nvidia-sn5600', '10: 8 nvidia-sn5600, 2 nvidia-sn2201'."""
    named = [f"{number} {name}" for name, number in models.items()]
    return f"{count}: {', '.join(named)}" if len(named) > 1 else "".join(named) or f"{count}"


def _space_rows(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Power and rack units, as far as the entries of the platforms state them."""
    if table["power_watts"] is not None:
        yield "power of switches", f"{table['power_watts']} W at most"
    if table["rack_units"] is not None:
        yield "rack units", f"{table['rack_units']}"
    elif table["without_rack_units"]:
        yield "rack units", f"not stated for {', '.join(table['without_rack_units'])}"


def _port_rows(plane: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Cables by kind, ports and oversubscription."""
    for optic in plane["optics"]:
        ends = f", {counted(optic['transceivers'], 'transceiver')}" if optic["transceivers"] else ""
        name = f"{optic['kind']} {format_length(optic['length_m'])} {optic['medium']}"
        yield name, f"{counted(optic['cables'], 'cable')}{ends}"
    for ports in plane["ports"]:
        yield f"{ports['role']} ports", f"{ports['used']} used, {ports['spare']} spare"
    for role, ratio in plane["oversubscription"].items():
        yield f"{role} oversubscription", f"{ratio:g}:1"
    ratios = {rail["oversubscription"] for rail in plane["rails"]}
    for rail in plane["rails"] if len(ratios) > 1 else ():  # the line of the tier covers equal rails
        yield f"rail {rail['rail']} oversubscription", f"{rail['oversubscription'] or 0:g}:1"


def subnet_lanes(choice: Mapping[str, Any]) -> str:
    """The VLs that an engine uses, and whether OpenSM must program them."""
    count = counted(choice["vls"], "VL")
    return f"{count}, qos TRUE" if choice["qos"] else count


def subnet_lines(planes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each subnet: its name, engine, lanes, and the reason for the engine."""
    for plane in planes:
        yield f"infiniband  plane {plane['name']}: {plane['engine']}, {subnet_lanes(plane)} ({plane['reason']})"
