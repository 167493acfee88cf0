"""The phrases of a comparison that its text and its markdown share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fabricgen.diff.counts import ChangeCounts, PlanCounts, count_plans
from fabricgen.diff.difference import Difference
from fabricgen.diff.groups import ChangedRows
from fabricgen.diff.tenants import move_cost, tenant_moves
from fabricgen.report.name_runs import device_runs, name_runs
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.secrets import is_secret, shown_key, shown_value
from fabricgen.sonic.updater.verdicts import Cost, UpdateVerdict
from fabricgen.units import counted
from fabricgen.visible import visible

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
_ANSI = {"+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m"}
SIGNS = {"add": "+", "remove": "-", "replace": "~"}
_LONGEST_VALUE, _MOST_RUNS = 100, 6


def row_words(rows: ChangedRows) -> tuple[str, str]:
    """('PORT|Ethernet0..Ethernet504 (64)', 'mtu 9100 → 9000')."""
    change = rows.change
    keys = [shown_key(change.table, key) for key in rows.keys]
    place = visible(f"{change.table}|{_names(keys)}")
    if change.field is None:
        fields = change.old if change.new is None else change.new
        row = ", ".join(f"{name} {shown(change.table, name, value)}" for name, value in sorted(fields.items()))
        return place, clipped(visible(row))
    secret = next((field for field in rows.fields if is_secret(change.table, field)), change.field)
    values = [shown(change.table, secret, value) for value in (change.old, change.new) if value is not None]
    if len(values) == 2 and values[0] == values[1]:
        values = ["changed, not shown: it may be a secret"]
    return place, visible(f"{_names(rows.fields)} {' → '.join(map(clipped, values))}")


def _names(names: Sequence[str]) -> str:
    """Keys or fields, and their number."""
    number = f" ({len(names)})" if len(names) > 1 else ""
    return f"{shortened(name_runs(list(dict.fromkeys(names))))}{number}"


def shown(table: str, field: str, value: Any) -> str:
    """A value as text, masked if it may be a secret."""
    if isinstance(value, list):
        return f"[{', '.join(shown(table, field, item) for item in value)}]"
    value = shown_value(table, field, value)
    if not isinstance(value, str):
        return repr(value)
    return value if value and value.isprintable() and value == value.strip() else visible(repr(value))


def clipped(text: str) -> str:
    """The text, shortened to the length of a line."""
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def shortened(runs: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = len(runs) - _MOST_RUNS
    return ", ".join(runs if more <= 0 else [*runs[:_MOST_RUNS], f"{more} more"])


_WORDS = {"alike": "unchanged"}  # the key of the JSON -> the word


def devices_line(counts: ChangeCounts) -> str:
    """'20 devices: 1 added, 0 removed, 16 changed, 3 unchanged.'"""
    total = sum(counts.devices.values())
    shown = [(number, name) for name, number in counts.devices.items() if number or name != "unseen"]
    parts = [f"{number} {_WORDS.get(name, name)}" for number, name in shown]
    return f"{counted(total, 'device')}: {', '.join(parts)}."


def changes_line(counts: ChangeCounts) -> str:
    """'2 rows added, 1 field changed.'; '' without changes."""
    words = []
    for kind, number in counts.changes.items():
        noun, _, what = kind.partition("_")
        words += [f"{counted(number, noun.removesuffix('s'))} {what}"] if number else []
    return f"{', '.join(words)}." if words else ""


def way_lines(difference: Difference, counts: ChangeCounts) -> Iterator[str]:
    """The cost of the changes and the ways of the plans; for drift, the command with the plan that undoes it."""
    if difference.is_plan:
        yield from costs_line(counts)
        yield from plan_lines(count_plans(difference))
        yield from restart_lines(difference)
    elif difference.changed:
        sides = f"{difference.new.path} {difference.old.path}"
        yield f"to undo the drift, apply the patches of: fabricgen diff {visible(sides)} --format plan"


def costs_line(counts: ChangeCounts) -> Iterator[str]:
    """The costs of all changes."""
    if any(counts.costs.values()):
        yield f"cost: {', '.join(f'{number} {cost}' for cost, number in counts.costs.items() if number)}"


def plan_lines(plans: PlanCounts) -> Iterator[str]:
    """How the plans bring the changes to the switches."""
    if patched := plans.routes["apply-patch"] + plans.routes["plan"]:
        low, high = plans.seconds
        time = f"{low} to {high} s and {plans.megabytes} MB on the slowest device"
        ports = f", {counted(plans.ports, 'port')} down and up" if plans.ports else ""
        kept = f", {plans.kept_share:.0%} of the uplinks stay up" if plans.ports else ""
        patches = f"{counted(plans.patches, 'patch')} of `config apply-patch`"
        yield f"{counted(patched, 'device')} by {patches}, {time}{ports}{kept}"
    yield from _reload_lines(plans.routes)


def patch_lines(counts: ChangeCounts) -> Iterator[str]:
    """The costs of all changes, and the ways to apply them with one patch for each switch."""
    yield from costs_line(counts)
    if patched := counts.routes["apply-patch"]:
        flaps = f", {counted(counts.flaps, 'port')} {'flaps' if counts.flaps == 1 else 'flap'}" if counts.flaps else ""
        low, high = counts.patch_seconds
        time = f"{low} to {high} s and {counts.patch_megabytes} MB on the slowest device"
        yield f"{counted(patched, 'device')} by `config apply-patch`, {time}{flaps}"
    if planned := counts.routes["plan"]:
        yield f"{counted(planned, 'device')} by several patches: see --format plan"
    yield from _reload_lines(counts.routes)


def _reload_lines(routes: Mapping[str, int]) -> Iterator[str]:
    for name, words in (("reload", "`config reload`: traffic stops"), ("reboot", "reboot")):
        if number := routes[name]:
            yield f"{counted(number, 'device')} by {words}"


def side_notes(difference: Difference, counts: ChangeCounts) -> Iterator[str]:
    """What the comparison does not cover."""
    if counts.secrets:
        yield f"{counted(counts.secrets, 'secret')} not compared: the bundle has placeholders for them"
    if difference.unseen:
        yield f"{counted(len(difference.unseen), 'device')} of the bundle without a running configuration"


def move_lines(difference: Difference) -> Iterator[str]:
    """A line for the hosts that go from one tenant to another, with the order that keeps both apart."""
    for move in tenant_moves(difference):
        hosts = counted(len({host for host, _ in move.nics}), "host")
        ends = [name or "no tenant" for name in (move.old, move.new)]
        line = f"tenants of plane {move.plane}: {counted(len(move.nics), 'NIC')} of {hosts} from {ends[0]} to {ends[1]}"
        yield visible(f"{line}; {move.order}" if move.order else line)
    if tenant_moves(difference):
        switches, rows = move_cost(difference)
        changed = ", ".join(f"{count} of {table}" for table, count in rows.items()) or "no row"
        yield f"these moves change {counted(switches, 'switch')}, rows: {changed}"


def cost_mark(difference: Difference, rows: ChangedRows) -> str:
    """'  [port flap]' after a change that is not cheap."""
    cost = rows.change.verdict.cost
    return "" if not difference.is_plan or cost is Cost.CHEAP else f"  [{cost}]"


def restart_lines(difference: Difference) -> Iterator[str]:
    """A line for each service that a person restarts after the patches, with its switches and the tables it reads."""
    devices: dict[str, dict[str, None]] = {}
    tables: dict[str, set[str]] = {}
    for device in difference.changed if difference.is_plan else ():
        for change in filter(lambda change: _asks(change.verdict), device.changes):
            devices.setdefault(change.verdict.reason, {})[device.name] = None
            tables.setdefault(change.verdict.reason, set()).add(change.table)
    for reason, names in sorted(devices.items()):
        where = shortened(device_runs(list(names), difference.names)) + (f" ({len(names)})" if len(names) > 1 else "")
        read = ", ".join(sorted(tables[reason], key=natural_key))
        yield f"after the patches, on {visible(where)}, for {visible(read)}: {reason}"


def _asks(verdict: UpdateVerdict) -> bool:
    return verdict.cost is Cost.CHEAP and "`systemctl" in verdict.reason


def made_lines(difference: Difference, shown_name: Callable[[str], str] = visible) -> Iterator[str]:
    """A line for each table to which switches added rows or fields; `shown_name` escapes names for the format."""
    places: dict[tuple[str, str], int] = {}
    devices: dict[tuple[str, str], dict[str, None]] = {}
    for device in difference.devices:
        for change in device.drift.made:
            place = (change.table, change.verdict.reason)
            places[place] = places.get(place, 0) + 1
            devices.setdefault(place, {})[device.name] = None
    for table, by in sorted(places, key=lambda place: (natural_key(place[0]), place[1])):
        names = list(devices[table, by])
        where = shortened(device_runs(names, difference.names)) + (f" ({len(names)})" if len(names) > 1 else "")
        yield f"{shown_name(table)}: {places[table, by]} on {shown_name(where)}, from {by}"


def painted(sign: str, text: str, color: bool) -> str:
    """A line in the colour of an addition, removal or change."""
    return f"{_ANSI[sign]}{text}{PLAIN}" if color else text
