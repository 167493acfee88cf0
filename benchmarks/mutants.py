"""Seeded faults: change one value of one switch of a correct bundle; the rules must find the location.

    python -m benchmarks.mutants [--count 2] [--seed 1] [--jobs 2] [--example NAME]… [--page docs/mutants.md]

Renders each example, changes one value at a time, `count` of them in each table, and validates the files without
manifest.json. A mutant is found if an error or a warning names its device and its table, or the table of the rows that
take their values from the row. Where several switches have
the row, the change is also made on all of them at once, as a mistake in a template does. The exit code is 1 if a
survivor has no known reason, or less than 95 % are found, on one switch or on all. `--page` writes the page with the
named kinds of benchmarks/faults.py.
"""

import argparse
import copy
import gc
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

from benchmarks import faults, mutants_infiniband
from benchmarks.examples import opened, rendered, shared_work
from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
from fabricgen.sonic.dump import dump

EXAMPLES = ("quickstart", "spectrum", "border", "rail-only", "superpod")
LEAST_FOUND = 0.95
# The changed tables: QoS, buffers, PFC, watchdog, ports, BGP.
TABLES = (
    "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "PORT_QOS_MAP", "QUEUE", "SCHEDULER", "WRED_PROFILE",
    "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST", "CABLE_LENGTH", "LOSSLESS_TRAFFIC_PATTERN",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "PFC_WD", "FLEX_COUNTER_TABLE",
    "PORT", "BREAKOUT_CFG", "INTERFACE", "LOOPBACK_INTERFACE", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA",
    "DEVICE_METADATA", "SWITCH_HASH", "STATIC_ROUTE", "BGP_NEIGHBOR", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP",
    "BGP_PEER_GROUP_AF", "BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_NETWORK", "ROUTE_MAP",
)  # fmt: skip
_WORDS = (
    ("up", "down"), ("enable", "disable"), ("true", "false"), ("on", "off"), ("dynamic", "static", "traditional"),
    ("ingress", "egress", "both"), ("DWRR", "WRR", "STRICT"), ("drop", "forward", "alert"), ("rs", "fc", "none"),
    ("ecn_all", "ecn_none", "ecn_red", "ecn_green"), ("ToRRouter", "LeafRouter", "SpineRouter"),
    ("separated", "unified"), ("enabled", "disabled"), ("permit", "deny"),
)  # fmt: skip
# A finding about a missing row of these tables is at the rows that refer to it.
_USED_BY = {
    "LOOPBACK_INTERFACE": "BGP_GLOBALS_AF_NETWORK",
    "BGP_PEER_GROUP": "BGP_NEIGHBOR",
    "BGP_PEER_GROUP_AF": "BGP_NEIGHBOR_AF",
    "ROUTE_MAP": "ROUTE_MAP_SET",
    "STATIC_ROUTE": "BGP_GLOBALS_AF_NETWORK",
}
_DEFINITIONS = ("SCHEDULER", "WRED_PROFILE", "BUFFER_PROFILE", "BUFFER_POOL", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP")


@dataclass(frozen=True)
class Mutant:
    """One change: `old` to `new`, of a field or of a key (`field` empty), or a removal (`new` None)."""

    kind: str
    device: str
    table: str
    key: str
    field: str
    old: str
    new: str | None

    def __str__(self) -> str:
        place = "|".join(part for part in (self.table, self.key, self.field) if part)
        return f"{self.device} {place}: {self.old or 'row'} -> {'removed' if self.new is None else repr(self.new)}"


@dataclass(frozen=True)
class Harmless:
    """Survivors that are not faults: "" matches any; `lossy` restricts to planes without PFC."""

    table: str
    field: str
    kind: str
    why: str
    lossy: bool = False


HARMLESS = (
    Harmless("ROUTE_MAP", "", "key", "another number of the only entry"),
    Harmless(
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
        "",
        "",
        "no class is lossless on the plane, so the table has no effect",
        True,
    ),
    Harmless("LOSSLESS_TRAFFIC_PATTERN", "", "", "no class is lossless on the plane, so the table has no effect", True),
    Harmless(
        "SWITCH_HASH",
        "",
        "row removed",
        "without the row the switch uses its default hash; no other switch to compare with",
    ),
    Harmless(
        "SWITCH_HASH",
        "",
        "field removed",
        "without the field the switch uses its default hash; no other switch to compare with",
    ),
    Harmless("PORT", "subport", "field removed", "the default is 0"),
    Harmless(
        "DEVICE_NEIGHBOR_METADATA",
        "hwsku",
        "field removed",
        "optional and without effect; no other switch to compare with",
    ),
    Harmless(
        "DEVICE_METADATA",
        "docker_routing_config_mode",
        "field removed",
        "the default is separated; no other switch to compare with",
    ),
    Harmless(
        "DEVICE_METADATA", "buffer_model", "field removed", "the default is traditional; FG225 judges dynamic ones"
    ),
    Harmless("DEVICE_METADATA", "default_bgp_status", "field removed", "the default is up"),
    Harmless("DEVICE_METADATA", "default_pfcwd_status", "", "the ports have rows in PFC_WD"),
    Harmless("CABLE_LENGTH", "", "key", "buffermgrd reads rows of any name"),
    Harmless("LOSSLESS_TRAFFIC_PATTERN", "", "key", "buffermgrd reads rows of any name"),
    Harmless("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "", "key", "buffermgrd reads rows of any name"),
    Harmless("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "default_dynamic_th", "number", "a larger alpha is valid"),
    Harmless("PFC_WD", "restoration_time", "number", "longer times are valid"),
    Harmless("WRED_PROFILE", "green_drop_probability", "field removed", "the default is 100 %"),
    Harmless("SCHEDULER", "weight", "", "another valid weight, not above that of the lossless queues (FG557)"),
    Harmless("BGP_GLOBALS", "load_balance_mp_relax", "", "all spines have one ASN, so the paths are equal"),
    Harmless("STATIC_ROUTE", "advertise", "field removed", "the default is true; no other switch to compare with"),
)


def mutants(bundle: Bundle, count: int, seed: int, tables: Sequence[str] = TABLES) -> Iterator[Mutant]:
    """Random mutants, `count` of each existing table. Forms of rows and fields have equal probability, so that small
    ones are covered."""
    for table in tables:
        chance = random.Random(f"{seed} {table}")
        holders = [device for device in bundle.devices.values() if device.table(table)]
        seen: set[Mutant] = set()
        for _ in range(count * 20 if holders else 0):
            device = chance.choice(holders)
            mutant = _mutant(bundle, device, table, chance)
            if mutant and mutant not in seen:
                seen.add(mutant)
                yield mutant
            if len(seen) == count:
                break


def _mutant(bundle: Bundle, device: ObservedDevice, table: str, chance: random.Random) -> Mutant | None:
    rows = device.table(table)
    by_form: dict[tuple[str, ...], list[str]] = {}
    for key, row in rows.items():
        by_form.setdefault(tuple(sorted(row)) if len(row) < 12 else (), []).append(key)
    key = chance.choice(by_form[chance.choice(sorted(by_form))])
    row = rows[key]
    kind = chance.choice(("number", "name", "unknown name", "row removed", "field removed", "peer's", "list", "key"))
    if kind == "row removed":
        return Mutant(kind, device.name, table, key, "", "", None)
    if kind == "key":
        new = _other_key(table, key, chance)
        return Mutant(kind, device.name, table, key, "", key, new) if new and new not in rows else None
    fields = [name for name, value in sorted(row.items()) if isinstance(value, str)]
    if not fields:
        return None
    field = chance.choice(fields)
    old = str(row[field])
    if kind == "field removed":
        return Mutant(kind, device.name, table, key, field, old, None)
    new = _other_value(kind, bundle, device, (table, key, field), old, chance)
    return Mutant(kind, device.name, table, key, field, old, new) if new is not None and new != old else None


def _other_value(
    kind: str, bundle: Bundle, device: ObservedDevice, place: tuple[str, str, str], old: str, chance: random.Random
) -> str | None:
    table, _, field = place
    if kind == "number":
        return _other_number(table, old, chance)
    if kind == "name":
        choices: Sequence[str] = next((words for words in _WORDS if old in words), ())
        for other in _DEFINITIONS:
            choices = choices or tuple(sorted(device.table(other)) if old in device.table(other) else ())
        others = [word for word in choices if word != old]
        return chance.choice(others) if others else None
    if kind == "unknown name":
        return None if old.isdecimal() else f"{old}x"
    if kind == "list":
        items = old.split(",")
        return ",".join(chance.choice((items[1:], items[:-1]))) if len(items) > 1 else None
    peers = [other for other in bundle.devices.values() if other.table(table)]
    peer = chance.choice([device, *peers[:40]])
    values = {str(row[field]) for row in peer.table(table).values() if field in row} - {old}
    return chance.choice(sorted(values)) if values else None


def _other_number(table: str, old: str, chance: random.Random) -> str | None:
    if old.isdecimal():
        number = int(old)
        if table.endswith("_MAP") or table.startswith("MAP_"):
            return str(chance.choice([n for n in range(8) if n != number]))
        return str(chance.choice([number + 1, max(number - 1, 0), number * 2, number // 2, number * 10]))
    if old.endswith("m") and old[:-1].isdecimal():
        return chance.choice([text for text in ("0m", "5m", "40m", "150m", "300m") if text != old])
    if len(old) == 1 or not any(mark in old for mark in ".:"):
        return None
    try:
        interface = ip_interface(old)
    except ValueError:
        return None
    return str(interface.ip + chance.choice((1, 2, 256))) + (f"/{interface.network.prefixlen}" if "/" in old else "")


def _other_key(table: str, key: str, chance: random.Random) -> str | None:
    """The key with another address, prefix length, number or port."""
    head, _, last = key.rpartition("|")
    head = f"{head}|" if head else ""
    try:
        interface = ip_interface(last)
    except ValueError:
        if last.startswith("Ethernet") and last[8:].isdecimal():
            return f"{head}Ethernet{int(last[8:]) + chance.choice((1, 2, 8))}"
        first, _, end = last.partition("-")
        return f"{head}{(int(end or first) + 1) % 8}" if first.isdecimal() else f"{head}{last}x"
    if "/" not in last:
        return f"{head}{interface.ip + chance.choice((2, 256))}"
    if chance.random() < 0.3:
        return f"{head}{interface.network.supernet() if table == 'STATIC_ROUTE' else interface.ip}" + (
            "" if table == "STATIC_ROUTE" else f"/{interface.network.prefixlen - 1}"
        )
    return f"{head}{interface.ip + chance.choice((2, 4, 256, 512))}/{interface.network.prefixlen}"


def mutated(bundle: Bundle, mutant: Mutant, names: Sequence[str]) -> Bundle:
    """The bundle with the change of the mutant on these switches."""
    return replace(
        bundle, devices={**bundle.devices, **{name: _changed(bundle.devices[name], mutant) for name in names}}
    )


def _changed(device: ObservedDevice, mutant: Mutant) -> ObservedDevice:
    config: dict[str, Any] = {**device.config, mutant.table: copy.deepcopy(device.config[mutant.table])}
    rows = config[mutant.table]
    if mutant.field:
        if mutant.new is None:
            del rows[mutant.key][mutant.field]
        else:
            rows[mutant.key][mutant.field] = mutant.new
    else:
        row = rows.pop(mutant.key)
        if mutant.new is not None:
            rows[mutant.new] = row
    return device.with_config(config, dump(config))


def holders(bundle: Bundle, mutant: Mutant) -> tuple[str, ...]:
    """The switches that have the row, and the field that changes."""
    found = []
    for name, device in bundle.devices.items():
        row = device.table(mutant.table).get(mutant.key)
        if row is not None and (not mutant.field or mutant.field in row):
            found.append(name)
    return tuple(found)


LEVELS = ("missed", "device", "table", "row", "field")


def level(bundle: Bundle, mutant: Mutant, names: Sequence[str]) -> tuple[str, list[Finding]]:
    """How exactly the findings name the location on one of the switches with the change, and all findings."""
    best, found = 0, [one for one in run(mutated(bundle, mutant, names)) if one.severity is not Severity.NOTE]
    for finding in found:
        if finding.device not in names:
            continue
        table, _, rest = finding.path.partition("|")
        reached = 1
        if table == _USED_BY.get(mutant.table):
            reached = 2
        if table == mutant.table:
            reached = 2
            keys = {mutant.key, mutant.new if not mutant.field else None}
            if any(rest == key or rest.startswith(f"{key}|") for key in keys if key):
                reached = 4 if not mutant.field or rest.endswith(f"|{mutant.field}") else 3
        best = max(best, reached)
    return LEVELS[best], found


@dataclass(frozen=True)
class Result:
    """One mutant and how exactly the findings name its location."""

    example: str
    mutant: Mutant
    is_lossy: bool  # on a plane without PFC
    level: str
    places: tuple[str, ...]  # of the first findings
    level_on_all: str | None = None  # the same on all switches that have the row; None if only one has it
    unused: str = ""  # see unused()

    @property
    def is_found(self) -> bool:
        """Whether a finding names device and table."""
        return LEVELS.index(self.level) >= LEVELS.index("table")

    @property
    def is_found_on_all(self) -> bool | None:
        """Whether a finding names one of all switches and the table; None if only one switch has the row."""
        return None if self.level_on_all is None else LEVELS.index(self.level_on_all) >= LEVELS.index("table")

    @property
    def reason(self) -> str | None:
        """Why the change is not a fault; None for a gap in the rules."""
        mutant = self.mutant
        for one in HARMLESS:
            same = all(
                a in ("", b) for a, b in ((one.table, mutant.table), (one.field, mutant.field), (one.kind, mutant.kind))
            )
            if same and (self.is_lossy or not one.lossy):
                return one.why
        return self.unused or None

    @property
    def is_gap(self) -> bool:
        """Whether the rules miss the fault, on one switch or on all."""
        return not self.reason and (not self.is_found or self.is_found_on_all is False)

    @property
    def counts_on_all(self) -> bool:
        """Whether the change is a fault on all switches: found, or without a reason."""
        return self.is_found_on_all is not None and (self.is_found_on_all or not self.reason)


def unused(bundle: Bundle, mutant: Mutant) -> str:
    """Why a row or an entry has no effect: nothing uses its class, queue or port; "" if something does."""
    device = bundle.devices[mutant.device]
    classes = {str(tc) for row in device.table("DSCP_TO_TC_MAP").values() for tc in row.values()}
    if mutant.table in ("TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP") and mutant.field not in {"", *classes}:
        return "no DSCP maps to the class"
    lossless = {str(one) for plane in (bundle.wiring.planes if bundle.wiring else ()) for one in plane.lossless}
    if mutant.table == "MAP_PFC_PRIORITY_TO_QUEUE" and mutant.field not in {"", *lossless}:
        return "no PFC on the priority"
    if (
        mutant.table == "TC_TO_QUEUE_MAP"
        and mutant.new is not None
        and not {mutant.field, mutant.old, mutant.new} & lossless
    ):
        return "another lossy queue"
    queues = {row.get(tc) for row in device.table("TC_TO_QUEUE_MAP").values() for tc in classes}
    if mutant.table == "QUEUE" and mutant.key.rpartition("|")[2] not in queues:
        return "no DSCP maps to the queue"
    port = mutant.key.partition("|")[0]
    wired = {port for link in bundle.links for name, port in (link.a, link.b) if name == mutant.device}
    if mutant.table == "PORT" and port not in wired and mutant.field in ("admin_status", "mtu", "subport"):
        return "the port has no cable"
    if mutant.table == "PORT_QOS_MAP" and mutant.key == "global":
        return "the ports name their own maps"
    if mutant.table == "WRED_PROFILE" and any(color in mutant.field for color in ("red_", "yellow_")):
        return "RoCE packets are green" if not mutant.field.startswith("wred_green") else ""
    if mutant.table == "FLEX_COUNTER_TABLE" and mutant.key not in ("PFCWD", "PORT", "QUEUE", "PG_WATERMARK"):
        return "an optional counter"
    if mutant.table == "BGP_PEER_GROUP_AF" and mutant.field == "admin_status":
        group, _, family = mutant.key.removeprefix("default|").rpartition("|")
        own = device.table("BGP_NEIGHBOR_AF")
        members = [key for key, row in device.table("BGP_NEIGHBOR").items() if row.get("peer_group_name") == group]
        if all(own.get(f"{key}|{family}", {}).get("admin_status") for key in members):
            return "the neighbors of the group activate the family themselves"
    is_lossy = mutant.table == "DSCP_TO_TC_MAP" and mutant.old not in lossless and mutant.new not in lossless
    if is_lossy and mutant.new is not None:
        return "another lossy class"
    return ""


def results(examples: Sequence[str], count: int, seed: int, jobs: int = 1) -> Iterator[Result]:
    """All mutants of the examples. Raises SystemExit if an example has findings."""
    with rendered(examples) as made, shared_work(jobs) as pool:
        parts = [(example, folder, table, count, seed) for example, folder in made for table in TABLES]
        for part in pool.map(_results_of_table, parts):
            yield from part


def _results_of_table(part: tuple[str, Path, str, int, int]) -> list[Result]:
    example, folder, table, count, seed = part
    bundle = opened(folder)
    return [judged(example, bundle, mutant) for mutant in mutants(bundle, count, seed, (table,))]


def judged(example: str, bundle: Bundle, mutant: Mutant) -> Result:
    """The mutant on one switch, and on all that have its row."""
    wired, names = bundle.devices[mutant.device].wired, holders(bundle, mutant)
    on_all = level(bundle, mutant, names)[0] if len(names) > 1 else None
    reached, findings = level(bundle, mutant, (mutant.device,))
    places = tuple(sorted({f"{one.code}@{one.device}:{one.path}" for one in findings})[:3])
    planes = {plane.name for plane in bundle.wiring.planes if not plane.lossless} if bundle.wiring else set()
    is_lossy = bool(wired and wired.plane in planes)
    return Result(example, mutant, is_lossy, reached, places, on_all, unused(bundle, mutant))


def commit() -> str:
    """The commit that is measured."""
    git = ["git", "log", "-1", "--format=%h"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def page(found: Sequence[Result], count: int, seed: int) -> str:
    """The text of docs/mutants.md."""
    survivors = [one for one in found if not one.is_found]
    share = 100 * (1 - len(survivors) / len(found))
    examples = ", ".join(dict.fromkeys(one.example for one in found))
    exact = Counter(one.level for one in found)
    on_all = [bool(one.is_found_on_all) for one in found if one.counts_on_all]
    lines = [
        "# Seeded faults", "",
        f"Generated by `benchmarks/mutants.py` (seed {seed}, {count} for each table of each example named below) "
        f"at commit {commit()}; do not edit.", "",
        f"Each of {len(found)} mutants changes one value of one switch in a correct bundle ({examples}; without",
        "manifest.json), and `validate` checks the bundle. "
        f"In {len(found) - len(survivors)} cases ({share:.1f} %) an error or a warning",
        f"names the switch and the table (or the rows that refer to it), in {exact['row'] + exact['field']} the row, "
        f"in {exact['field']} the field.", "",
        f"{len(on_all)} of these faults are in rows that several switches have; made on all of them at once, as a "
        "template does, "
        f"{sum(on_all)} changes",
        f"({100 * sum(on_all) / max(1, len(on_all)):.1f} %) are found: no switch is left to compare with.",
        "Survivors that have a reason in the last list are not faults, and this share does not count them.", "",
        "| change | mutants | found | on all switches | found |", "|---|---|---|---|---|",
        *_counts(found, lambda one: one.mutant.kind), "",
        "| table | mutants | found | on all switches | found |", "|---|---|---|---|---|",
        *_counts(found, lambda one: one.mutant.table), "",
        "## Survivors", "",
    ]  # fmt: skip
    lines += _survivors(survivors)
    lines += ["## Survivors on all switches", "", *_survivors([one for one in found if one.is_found_on_all is False])]
    return "\n".join(lines)


def _survivors(survivors: Sequence[Result]) -> list[str]:
    grouped: dict[tuple[str, str, str, str], int] = Counter(
        (one.mutant.table, one.mutant.field or "(row)", one.mutant.kind, one.reason or "a gap") for one in survivors
    )
    if not grouped:
        return ["None.", ""]
    lines = ["| table | field | change | mutants | why |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(key[:3])} | {number} | {key[3]} |" for key, number in sorted(grouped.items())]
    return [*lines, ""]


def _counts(found: Sequence[Result], name: Any) -> Iterator[str]:
    total, caught = Counter(map(name, found)), Counter(name(one) for one in found if one.is_found)
    everywhere = Counter(name(one) for one in found if one.is_found_on_all is not None)
    caught_everywhere = Counter(name(one) for one in found if one.is_found_on_all)
    return (
        f"| {key} | {total[key]} | {caught[key]} | {everywhere[key] or ''} | {caught_everywhere[key] or ''} |"
        for key in sorted(total)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--example", action="append")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    gc.disable()
    found = []
    for one in results(options.example or EXAMPLES, options.count, options.seed, options.jobs):
        found.append(one)
        if not one.is_found and not one.reason:
            print(f"{one.example} {one.mutant.kind}: {one.mutant} {one.places}", flush=True)
        if one.counts_on_all and not one.is_found_on_all:
            print(f"{one.example} {one.mutant.kind} on all switches: {one.mutant}", flush=True)
    with rendered(() if options.example else mutants_infiniband.EXAMPLES) as made:
        in_files = [
            one
            for example, folder in made
            for one in mutants_infiniband.file_results(folder, example, options.count, options.seed)
        ]
    open_files = [one for one in in_files if not one.is_found and not one.reason]
    for gap in open_files:
        print(f"{gap.example} {gap.mutant.kind}: {gap.mutant}")
    survivors = [one for one in found if not one.is_found]
    gaps = sum(not one.reason for one in survivors) + len(open_files)
    print(f"{len(found)} mutants, {len(survivors)} survive; {len(in_files)} in files of subnet managers; {gaps} gaps")
    on_all = [bool(one.is_found_on_all) for one in found if one.counts_on_all]
    print(f"{len(on_all)} on all switches at once, {len(on_all) - sum(on_all)} survive")
    if options.page:
        text = page(found, options.count, options.seed)
        kinds = [kind.name for kind in faults.KINDS]
        named = faults.section([*faults.outcomes(options.example or faults.PAGE_EXAMPLES, kinds, options.jobs)])
        options.page.write_text("\n".join([text, named, *mutants_infiniband.section(in_files)]), encoding="utf-8")
    least_on_all = LEAST_FOUND * len(on_all)
    return 1 if gaps or len(survivors) > (1 - LEAST_FOUND) * len(found) or sum(on_all) < least_on_all else 0


if __name__ == "__main__":
    sys.exit(main())
