"""The capacity table for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.units import format_length

_ONE_INVENTORY = ("fewer switches", "reason")  # sentences, too long for a column


def capacity_text(capacity: Mapping[str, Any]) -> str:
    """A table of each plane, and one of the total of several planes."""
    parts = [
        (f"plane {plane['name']} ({', '.join([plane['technology'], *_other_purpose(plane)])})", list(plane_rows(plane)))
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
    return _markdown(titles, columns)


def side_by_side(tables: Mapping[str, Mapping[str, Any]], *, markdown: bool) -> str:
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
        return _markdown(list(tables), columns)
    names = _names(columns)
    cells = [["", *tables], *([name, *(column.get(name, "") for column in columns)] for name in names)]
    widths = [max(map(len, row)) for row in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def _names(columns: Sequence[Mapping[str, str]]) -> list[str]:
    """The names of all rows, those of a plane next to each other and the total last."""
    names = list(dict.fromkeys(name for column in columns for name in column))
    heads = list(dict.fromkeys(name.partition(": ")[0] for name in names))
    return sorted(names, key=lambda name: (name.startswith("total: "), heads.index(name.partition(": ")[0])))


def _markdown(titles: Sequence[str], columns: Sequence[Mapping[str, str]]) -> str:
    head = ["| |" + "".join(f" {title} |" for title in titles), "|---|" + "---|" * len(titles)]
    rows = (f"| {name} |" + "".join(f" {column.get(name, '')} |" for column in columns) for name in _names(columns))
    return "\n".join([*head, *rows])


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
    racks = f" in {plane['nvlink_domains']} NVLink domains" if plane["nvlink_domains"] else ""
    yield "hosts", f"{plane['hosts']}, {plane['gpus']} GPUs{racks}" if plane["gpus"] else f"{plane['hosts']}"
    yield "endpoints", f"{plane['endpoints']}"
    for kind, count in plane["links"].items():
        if count:
            yield f"{kind} links", f"{count} in {plane['cables'][kind]} cables"
    yield from _port_rows(plane)
    yield "bisection", f"{plane['bisection_gbps']} Gb/s"
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
        yield "fewer switches", f"`{one['change']}` needs {one['switches']} switches instead of {one['instead_of']}"


def _total_rows(total: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "switches", _models(total["switches"], total["models"])
    yield "hosts", f"{total['hosts']}, {total['gpus']} GPUs" if total["gpus"] else f"{total['hosts']}"
    yield "links", f"{total['links']} in {total['cables']} cables, {total['transceivers']} transceivers"
    yield from _space_rows(total)


def _models(count: int, models: Mapping[str, int]) -> str:
    """'8 nvidia-sn5600', '10: 8 nvidia-sn5600, 2 nvidia-sn2201'."""
    named = [f"{number} {name}" for name, number in models.items()]
    return f"{count}: {', '.join(named)}" if len(named) > 1 else "".join(named) or f"{count}"


def _space_rows(counted: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Power and rack units, as far as the entries of the platforms state them."""
    if counted["power_watts"] is not None:
        yield "power of switches", f"{counted['power_watts']} W at most"
    if counted["rack_units"] is not None:
        yield "rack units", f"{counted['rack_units']}"
    elif counted["without_rack_units"]:
        yield "rack units", f"not stated for {', '.join(counted['without_rack_units'])}"


def _port_rows(plane: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Cables by kind, ports and oversubscription."""
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


def subnet_lanes(choice: Mapping[str, Any]) -> str:
    """The VLs that an engine uses, and whether OpenSM must program them."""
    count = f"{choice['vls']} VL{'s' if choice['vls'] > 1 else ''}"
    return f"{count}, qos TRUE" if choice["qos"] else count


def subnet_lines(planes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each subnet: its name, engine, lanes, and the reason for the engine."""
    for plane in planes:
        yield f"infiniband  plane {plane['name']}: {plane['engine']}, {subnet_lanes(plane)} ({plane['reason']})"
