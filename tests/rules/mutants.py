"""Seeded faults: one value of one device of a clean bundle is changed, and the rules must name the place.

    python tests/rules/mutants.py BUNDLE [--count 400] [--seed 1]

prints how many mutants were found by device and table, by row, and by field, and every survivor.
"""

import argparse
import copy
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import Bundle, ObservedDevice, open_bundle
from fabricgen.findings import Severity
from fabricgen.rules.registry import run
from fabricgen.sonic.canonical import dump

# Free text and settings that say nothing about forwarding: a change of them is no fault.
_HARMLESS = {("PORT", "description"), ("SNMP", "Location"), ("SNMP", "Contact")}
_KEYED_BY_ADDRESS = ("INTERFACE", "LOOPBACK_INTERFACE", "MGMT_INTERFACE", "BGP_NEIGHBOR", "STATIC_ROUTE")
_WORDS = (
    ("up", "down"), ("enable", "disable"), ("true", "false"), ("on", "off"), ("dynamic", "static", "traditional"),
    ("ingress", "egress", "both"), ("DWRR", "WRR", "STRICT"), ("drop", "forward", "alert"), ("rs", "fc", "none"),
    ("ecn_all", "ecn_none", "ecn_red", "ecn_green"), ("ToRRouter", "LeafRouter", "SpineRouter"), ("RO", "RW"),
    ("separated", "unified"), ("enabled", "disabled"), ("server", "pool"), ("mgmt", "default"),
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: `old` to `new`, of a field, of a key (`field` empty), or a row taken away (`new` empty)."""

    device: str
    table: str
    key: str
    field: str
    old: str
    new: str

    def __str__(self) -> str:
        place = "|".join(part for part in (self.table, self.key, self.field) if part)
        return f"{self.device} {place}: {self.old or 'row'} -> {self.new or 'removed'}"


def mutants(bundle: Bundle, count: int, seed: int) -> Iterator[Mutant]:
    """Random mutants; tables are equally likely, so that small ones are not forgotten."""
    chance = random.Random(seed)
    names = list(bundle.devices)
    seen = set()
    while len(seen) < count:
        device = bundle.devices[chance.choice(names)]
        table = chance.choice(sorted(device.config))
        key = chance.choice(sorted(device.table(table)))
        mutant = _mutant(device, table, key, chance)
        if mutant and mutant not in seen:
            seen.add(mutant)
            yield mutant


def _mutant(device: ObservedDevice, table: str, key: str, chance: random.Random) -> Mutant | None:
    row = device.row(table, key)
    fields = sorted(field for field in row if (table, field) not in _HARMLESS)
    kind = chance.random()
    if table in _KEYED_BY_ADDRESS and "." in key and kind < 0.5:
        return Mutant(device.name, table, key, "", key, _other_address(key, chance))
    if kind < 0.12 or not fields:
        return Mutant(device.name, table, key, "", "", "")
    field = chance.choice(fields)
    old = row[field]
    if not isinstance(old, str):
        return None
    new = _other_value(device, table, field, old, chance)
    return Mutant(device.name, table, key, field, old, new) if new not in (old, "") else None


def _other_address(key: str, chance: random.Random) -> str:
    """The key with the last or third number of its address changed, or with another prefix length."""
    head, _, text = key.rpartition("|")
    interface = ip_interface(text)
    step = chance.choice((2, 4, 256, 512))
    length = f"/{interface.network.prefixlen}" if "/" in text else ""
    if length and chance.random() < 0.25:
        other = f"{interface.ip}/{interface.network.prefixlen - 1}"
        if key.startswith(("default", "STATIC")):
            other = str(interface.network.supernet())
    else:
        other = f"{interface.ip + step}{length}"
    return f"{head}|{other}" if head else other


def _other_value(device: ObservedDevice, table: str, field: str, old: str, chance: random.Random) -> str:
    for words in _WORDS:
        if old in words:
            return chance.choice([word for word in words if word != old])
    if old.isdecimal():
        number = int(old)
        if table.endswith("_MAP") and number < 64:
            return str(chance.choice([n for n in range(8) if n != number]))
        return str(chance.choice([number + 1, max(number - 1, 0), number * 2, number // 2, number * 10]))
    if old.endswith("m") and old[:-1].isdecimal():
        return chance.choice([text for text in ("5m", "40m", "150m", "300m") if text != old])
    for other in ("SCHEDULER", "WRED_PROFILE", "BUFFER_PROFILE", "BUFFER_POOL"):
        names = sorted(device.table(other))
        if old in names and len(names) > 1:
            return chance.choice([name for name in names if name != old])
    try:
        return str(ip_interface(old).ip + chance.choice((1, 2, 256)))
    except ValueError:
        pass
    if "," in old:
        return chance.choice([old.rpartition(",")[0], f"{old.rpartition(',')[0]},7"])
    return chance.choice([f"{old}x", old[:-1], f"{old[:-1]}{(int(old[-1]) + 1) % 10}" if old[-1].isdigit() else old])


def mutated(bundle: Bundle, mutant: Mutant) -> Bundle:
    """The bundle with the one change."""
    device = bundle.devices[mutant.device]
    config: dict[str, Any] = {**device.config, mutant.table: copy.deepcopy(device.config[mutant.table])}
    rows = config[mutant.table]
    if mutant.field:
        rows[mutant.key][mutant.field] = mutant.new
    elif mutant.new:
        rows[mutant.new] = rows.pop(mutant.key)
    else:
        del rows[mutant.key]
    changed = ObservedDevice(device.name, device.file, device.wired)
    changed.__dict__.update(config=config, text=dump(config))
    return replace(bundle, devices={**bundle.devices, device.name: changed})


LEVELS = ("missed", "device", "table", "row", "field")


def level(bundle: Bundle, mutant: Mutant) -> tuple[str, list[str]]:
    """How exactly the place was named, and the codes that named its device and table."""
    best, codes = 0, []
    for finding in run(mutated(bundle, mutant)):
        if finding.severity is Severity.NOTE or finding.device != mutant.device:
            continue
        table, _, rest = finding.path.partition("|")
        reached = 1
        if table == mutant.table:
            codes.append(finding.code)
            reached = 2
            keys = {mutant.key, mutant.new}
            if any(rest == key or rest.startswith(f"{key}|") for key in keys if key):
                reached = 4 if not mutant.field or rest.endswith(f"|{mutant.field}") else 3
        best = max(best, reached)
    return LEVELS[best], sorted(set(codes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    bundle = open_bundle([options.bundle])
    found: Counter[str] = Counter()
    for mutant in mutants(bundle, options.count, options.seed):
        reached, codes = level(bundle, mutant)
        found[reached] += 1
        if reached in ("missed", "device"):
            print(f"{reached:7} {mutant}")  # noqa: T201
        elif reached != "field":
            print(f"{reached:7} {mutant} {codes}")  # noqa: T201
    at_least = [(name, sum(found[other] for other in LEVELS[n:])) for n, name in enumerate(LEVELS) if n >= 2]
    print(f"{options.count} mutants; " + ", ".join(f"{name} named: {n}" for name, n in at_least))  # noqa: T201


if __name__ == "__main__":
    main()
