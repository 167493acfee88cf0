"""The comparison of fabrics for people: one column each, then where each wins, and what was judged and what not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.report.columns import columns_markdown, columns_text
from fabricgen.report.compare_wins import AS_GOOD, AS_GOOD_SAMPLE, FEW_GPUS
from fabricgen.report.quantities import digits, rate_text, scaled, share_text
from fabricgen.units import counted

Row = tuple[str, str]
_TIMES = ("ns", "us", "ms", "s")


def compare_text(content: Mapping[str, Any], width: int = 0) -> str:
    """The comparison for a terminal of `width` characters, 0 for none."""
    titles, columns, names = compare_table(content)
    parts = [columns_text(titles, columns, names, width)]
    for title, lines in compare_paragraphs(content):
        parts.append("\n".join([title, *(f"  {line}" for line in lines)]))
    return "\n\n".join(parts)


def compare_markdown(content: Mapping[str, Any]) -> str:
    """The comparison for a pull request."""
    titles, columns, names = compare_table(content)
    parts = [columns_markdown(titles, columns, names)]
    for title, lines in compare_paragraphs(content):
        parts.append("\n".join([f"**{title}**", "", *(f"- {line}" for line in lines)]))
    return "\n\n".join(parts)


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
    for one in fabric["patterns"]:
        yield from _pattern_rows(one)
    for one in fabric["failures"]:
        yield from _failure_rows(one)
    yield from _deadlock_rows(fabric["deadlock"])
    yield from _growth_rows(fabric["growth"])


def _bisection(gbps: int | None) -> str:
    if gbps is None:
        return "not known"
    value, unit = scaled(gbps, ("Gb/s", "Tb/s", "Pb/s"))
    return f"{digits(value)} {unit}"


def _pattern_rows(one: Mapping[str, Any]) -> Iterator[Row]:
    time = one["time_ns"]
    value, unit = scaled(time["mean"], _TIMES)
    size = time["mean"] / value if value else 1.0
    yield f"{one['pattern']}: time", f"{digits(value)} {unit}{_range(time, size)}"
    if one["lost"]:
        yield f"{one['pattern']}: without a path", f"{one['lost']} of {counted(one['messages'], 'message')}"
    bus = one["bus_gbytes"]
    rate = bus or one["delivered_gbytes"]
    yield f"{one['pattern']}: {'bus bandwidth' if bus else 'delivered'}", f"{rate_text(rate['mean'])}{_range(rate)}"
    least, mean, most = one["switches"]
    yield (
        f"{one['pattern']}: switches on a path",
        f"{least} to {most}, mean {mean:.2f}" if least != most else f"{least}",
    )


def _range(spread: Mapping[str, float], size: float = 1.0) -> str:
    """' (1.20 to 1.37)', or nothing where all draws agree."""
    low, high = digits(spread["least"] / size), digits(spread["highest"] / size)
    return f" ({low} to {high})" if low != high else ""


def _failure_rows(one: Mapping[str, Any]) -> Iterator[Row]:
    what = counted(one["depth"], f"failed {one['kind']}")
    if not one["sets"]:
        yield f"{what}: bandwidth", "has none"
        return
    yield f"{what}: bandwidth", f"{share_text(one['share_mean'])}, least {share_text(one['share_least'])}"
    yield f"{what}: job stops", f"in {one['stopping']} of {one['judged']} sets ({one['sets']} exist)"
    cut_off = f"{digits(one['cut_off_mean'])}, most {one['cut_off_most']}" if one["cut_off_most"] else "0"
    yield f"{what}: GPUs cut off", cut_off


def _deadlock_rows(one: Mapping[str, Any] | None) -> Iterator[Row]:
    if one is None:
        yield "deadlock", "not judged"
        return
    yield "deadlock", one["statement"]
    failures = one["failures"]
    if failures["depth"]:
        judged = f", {failures['judged']} judged" if failures["judged"] < failures["sets"] else ""
        sets = f"{failures['cyclic_sets']} of {failures['sets']} cyclic{judged}"
        yield f"deadlock: {counted(failures['depth'], 'failed link')}", sets


def _growth_rows(one: Mapping[str, Any]) -> Iterator[Row]:
    name = f"growth to {one['gpus']} GPUs"
    if one["fits"]:
        yield name, f"{counted(one['added_switches'], 'new switch')}"
        yield f"{name}: new cables", f"{one['added_cables']}"
        yield f"{name}: moved cables", f"{one['moved_cables']}"
    else:
        yield name, "no room" if one["fits"] is not None else "not known"
    if one["new_layout_switches"] is not None:
        yield f"{name}: switches of a new layout", f"{one['new_layout_switches']}"
    if one["room_switches"] is not None:
        yield f"{name}: switches today, planned for it", f"{one['room_switches']}"


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
        f"times: mean of {counted(options['draws'], 'draw')} of hashes from seed {options['seed']} (least to highest), "
        f"{options['size_bytes'] / 2**20:g} MiB for each rank, {options['placement']} placement; fair sharing of all "
        "ports, without pauses, acknowledgements and NVLink"
    )
    if any(fabric["failures"] for fabric in fabrics):
        pattern = next(fabric["failure_pattern"] for fabric in fabrics if fabric["failures"])
        yield (
            f"failures: bandwidth of {pattern} with evenly spread load, over that without a failure, mean of the sets. "
            "A job that stops, as a message has no path, counts as 0. Of each kind, at most "
            f"{options['failure_sets']} sets are judged; how often failures occur is not"
        )
    for fabric in fabrics:
        if fabric["not_judged"]:
            yield f"{fabric['name']}: {fabric['not_judged']}"
        if fabric["growth"]["reason"]:
            yield f"{fabric['name']}: growth: {fabric['growth']['reason']}"
