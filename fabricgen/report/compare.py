"""The comparison of fabrics for people: one column each, then where each wins, and what was judged and what not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.quantities import count_text, digits, rate_text, scaled, share_text
from fabricgen.report.columns import columns_markdown, columns_text
from fabricgen.report.compare_wins import AS_GOOD, AS_GOOD_SAMPLE, FEW_GPUS
from fabricgen.units import counted

Row = tuple[str, str]
_TIMES = ("ns", "us", "ms", "s")


def compare_text(content: Mapping[str, Any], width: int = 0) -> str:
    """The comparison for a terminal of `width` characters, 0 for none."""
    titles, columns, names = compare_table(content)
    different, equal = _by_difference(columns, names)
    parts = [columns_text(titles, columns, different, width)]
    for title, lines in [*equal, *compare_paragraphs(content)]:
        parts.append("\n".join([title, *(f"  {line}" for line in lines)]))
    return "\n\n".join(parts)


def compare_markdown(content: Mapping[str, Any]) -> str:
    """The comparison for a pull request."""
    titles, columns, names = compare_table(content)
    different, equal = _by_difference(columns, names)
    parts = [columns_markdown(titles, columns, different)]
    for title, lines in [*equal, *compare_paragraphs(content)]:
        parts.append("\n".join([f"**{title}**", "", *(f"- {line}" for line in lines)]))
    return "\n\n".join(parts)


def _by_difference(
    columns: Sequence[Mapping[str, str]], names: Sequence[str]
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The names of the rows that are worth a line, and a paragraph with the others, which are equal in all fabrics."""
    equal = [name for name in names if len(columns) > 1 and len({column.get(name, "") for column in columns}) == 1]
    listed = "; ".join(f"{name} {columns[0][name]}" for name in equal)
    return [name for name in names if name not in equal], [("Equal in all", [listed])] if equal else []


def compare_table(content: Mapping[str, Any]) -> tuple[list[str], list[dict[str, str]], list[str]]:
    """The names of the fabrics, the text of each row of each fabric, and the names of all rows in order.

    A fabric whose failures are not judged says so in each row of failures that another fabric has.
    """
    fabrics = content["fabrics"]
    columns = [dict(_rows(fabric)) for fabric in fabrics]
    failing = [name for fabric in fabrics for one in fabric["failures"] for name, _ in _failure_rows(one)]
    for fabric, column in zip(fabrics, columns, strict=True):
        if not fabric["failures"]:
            column.update(dict.fromkeys(failing, "not judged"))
    return [fabric["name"] for fabric in fabrics], columns, _in_order([list(column) for column in columns])


def _in_order(columns: Sequence[Sequence[str]]) -> list[str]:
    """All names; one that only later columns have follows its neighbor there."""
    found: list[str] = []
    for names in columns:
        place = 0
        for name in names:
            if name in found:
                place = found.index(name) + 1
            else:
                found.insert(place, name)
                place += 1
    return found


def _rows(fabric: Mapping[str, Any]) -> Iterator[Row]:
    yield "GPUs", f"{fabric['gpus']}"
    yield "hosts", f"{fabric['hosts']} {', '.join(fabric['host_models'])}"
    yield "switches", f"{fabric['switches']}"
    for role, count in fabric["switches_by_role"].items():
        yield f"{role} switches", f"{count}"
    yield "cables", f"{fabric['cables']}"
    yield "transceivers", f"{fabric['transceivers']}"
    for ports in fabric["ports"]:
        spare = "not known" if ports["spare"] is None else f"{ports['spare']}"
        yield f"spare {ports['role']} ports", spare
    for role, ratio in fabric["oversubscription"].items():
        yield f"{role} oversubscription", f"{ratio:g}:1"
    yield "bisection", _bisection(fabric["bisection_gbps"])
    yield "separate networks", f"{fabric['networks']}"
    yield from _tenant_rows(fabric["tenants"])
    for one in fabric["patterns"]:
        yield from _pattern_rows(one)
    for one in fabric["failures"]:
        yield from _failure_rows(one)
    yield from _lost_rows(fabric["lost_time"])
    yield from _deadlock_rows(fabric["deadlock"])
    yield from _growth_rows(fabric["growth"])


def _tenant_rows(one: Mapping[str, Any] | None) -> Iterator[Row]:
    if one is None:
        return
    yield "tenants", f"{one['number']} by {one['isolation']}"
    yield "tenants are", one["statement"]
    for what in ("tables", "rules"):
        most = one[f"acl_{what}_of_platform"]
        yield f"ACL {what} of a switch", f"{one[f'acl_{what}']}" + (f" of {most}" if most else "")
    yield "MTU of hosts", f"{one['host_mtu']}"
    yield "lost to VXLAN", f"{one['overhead']:.1%}".replace("%", " %") if one["overhead"] else "0 %"


def _bisection(gbps: int | None) -> str:
    if gbps is None:
        return "not known"
    value, unit = scaled(gbps, ("Gb/s", "Tb/s", "Pb/s"))
    return f"{digits(value)} {unit}"


def _pattern_rows(one: Mapping[str, Any]) -> Iterator[Row]:
    time = one["time_ns"]
    value, unit = scaled(time["mean"], _TIMES)
    size = time["mean"] / value if value else 1.0
    yield f"{one['pattern']}: time", f"{digits(value)} {unit}"
    low, high = digits(time["least"] / size), digits(time["highest"] / size)
    if low != high:
        yield f"{one['pattern']}: time, range", f"{low} to {high}"
    if one["lost"]:
        yield f"{one['pattern']}: without a path", f"{one['lost']} of {counted(one['messages'], 'message')}"
    bus = one["bus_gbytes"]
    rate = bus or one["delivered_gbytes"]
    yield f"{one['pattern']}: {'bus bandwidth' if bus else 'delivered'}", rate_text(rate["mean"])
    least, mean, most = one["switches"]
    yield f"{one['pattern']}: path switches", f"{mean:.2f} ({least}-{most})" if least != most else f"{least}"


def _failure_rows(one: Mapping[str, Any]) -> Iterator[Row]:
    what = counted(one["depth"], f"failed {one['kind']}")
    if not one["sets"]:
        yield f"{what}: bandwidth", "no such link"
        return
    yield f"{what}: sets", f"{one['judged']} of {count_text(one['sets'])}"
    mean, least = share_text(one["share_mean"]), share_text(one["share_least"])
    yield f"{what}: bandwidth", mean if mean == least else f"{mean} ({least})"
    yield f"{what}: job stops", f"{one['stopping']} of {one['judged']}"
    cut_off = f"{digits(one['cut_off_mean'])} ({one['cut_off_most']})" if one["cut_off_most"] else "0"
    yield f"{what}: cut off", cut_off


def _lost_rows(rows: Sequence[Mapping[str, Any]] | None) -> Iterator[Row]:
    if rows is None:
        return
    for one in rows:
        yield (
            f"lost in a month by {one['kind']}",
            f"{digits(one['gpu_seconds'])} GPU s ({one['failures']:.2g} failures)",
        )
    yield "lost in a month", f"{digits(sum(one['gpu_seconds'] for one in rows))} GPU s"


def _deadlock_rows(one: Mapping[str, Any] | None) -> Iterator[Row]:
    if one is None:
        yield "deadlock", "not judged"
        return
    yield "deadlock", one["statement"]
    failures = one["failures"]
    if failures["depth"]:
        what = counted(failures["depth"], "failed link")
        yield f"cyclic with {what}", f"{failures['cyclic_sets']} of {count_text(failures['judged'])}"
        if failures["judged"] < failures["sets"]:
            yield f"sets with {what}", count_text(failures["sets"])


def _growth_rows(one: Mapping[str, Any]) -> Iterator[Row]:
    name = f"to {one['gpus']} GPUs"
    if one["fits"]:
        yield f"{name}: new switches", f"{one['added_switches']}"
        yield f"{name}: new cables", f"{one['added_cables']}"
        yield f"{name}: moved cables", f"{one['moved_cables']}"
    else:
        yield f"{name}: new switches", "no room" if one["fits"] is not None else "not known"
    if one["new_layout_switches"] is not None:
        yield f"{name}: new layout", f"{one['new_layout_switches']}"
    if one["room_switches"] is not None:
        yield f"{name}: room today", f"{one['room_switches']}"


def compare_paragraphs(content: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """(title, lines) of what is said below the table."""
    yield "Where each wins", list(_wins(content))
    if notes := [*content["unlike"], *(f"{one['name']}: {one['reason']}" for one in content["without_layout"])]:
        yield "Not compared", notes
    yield "What the numbers cover", list(_coverage(content))


def _wins(content: Mapping[str, Any]) -> Iterator[str]:
    names = [fabric["name"] for fabric in content["fabrics"]]
    for name in names:
        best = [
            f"{one['metric']} ({one['shown']}{', alone' if len(one['best']) == 1 else ''})"
            for one in content["wins"]
            if name in one["best"]
        ]
        yield f"{name}: {'; '.join(best) or 'nothing'}"


def _coverage(content: Mapping[str, Any]) -> Iterator[str]:
    options, fabrics = content["options"], content["fabrics"]
    planes = dict.fromkeys(f"{fabric['plane']}" for fabric in fabrics)
    yield (
        f"wins: equal within {share_text(AS_GOOD)} of the best; of failures, which are samples, within "
        f"{share_text(AS_GOOD_SAMPLE)} and {FEW_GPUS:g} GPUs"
    )
    yield f"counts, cables and traffic of one plane of each fabric: {', '.join(planes)}"
    yield (
        f"times: mean of {counted(options['draws'], 'draw')} of hashes from seed {options['seed']}, and their range, "
        f"{options['size_bytes'] / 2**20:g} MiB for each rank, {options['placement']} placement; fair sharing of all "
        "ports, without pauses, acknowledgements and NVLink"
    )
    if any(fabric["failures"] for fabric in fabrics):
        pattern = next(fabric["failure_pattern"] for fabric in fabrics if fabric["failures"])
        yield (
            f"failures: bandwidth of {pattern} with evenly spread load, over that without a failure, mean of the sets "
            "and (the least); GPUs that are cut off, mean and (most). A job that stops counts as 0: a message has no "
            f"path. Of each kind, at most {options['failure_sets']} sets are judged; how often failures occur is not"
        )
    if rented := [fabric["tenants"] for fabric in fabrics if fabric["tenants"]]:
        unknown = any(one["acl_rules_of_platform"] is None for one in rented)
        yield (
            "tenants: ACL tables and rules of the switch with most of them, MTU whose packets pass all links, and the "
            "share of links between switches that VXLAN headers take from full RoCE packets; times do not contain it"
            + ("; no public source has the size of the TCAM" if unknown else "")
        )
    if rates := options["rates"]:
        stated = ", ".join(f"{kind} {rate:g}" for kind, rate in rates["per_month"].items())
        yield (
            f"lost in a month: your rates for each part ({stated}), {rates['repair_s']:g} s until a repair, "
            f"{rates['restart_s']:g} s for a job that stops; one job has all GPUs, which wait for what bandwidth is "
            "lost: an upper bound, as they also compute"
        )
    if any(fabric["growth"]["new_layout_switches"] is not None for fabric in fabrics):
        yield "growth: switches that are added, those of a new layout, and those of today's if it is planned for growth"
    for fabric in fabrics:
        if fabric["not_judged"]:
            yield f"{fabric['name']}: {fabric['not_judged']}"
        if fabric["growth"]["reason"]:
            yield f"{fabric['name']}: growth: {fabric['growth']['reason']}"
