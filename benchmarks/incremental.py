"""Check a fabric after random edits, from the results of earlier runs and from nothing, and compare the bytes.

Each edit is checked twice with the results of earlier runs: the second time the whole result is one of them. Reports
are JSON and text in turn.

python -m benchmarks.incremental [--edits 200] [--switches 0] [--seed 0] [--watch]

Prints the CPU of both, and every 20 edits how far it is, on standard error. With --watch, one process keeps what it
can from one check to the next, as `check --watch` does, and the rendered files are compared, too. With --switches, the
fabric is that of make_inventory. The exit code is 1 if any report differs.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from benchmarks.make_inventory import main as make_inventory
from fabricgen.api.checking import Check, check
from fabricgen.api.resident import Resident
from fabricgen.cli.main import run
from fabricgen.results import without_evidence
from tests.inventories import rail_optimized, text_of

_SHOWN_EVERY = 20  # edits
Tree = dict[str, Any]
Edit = Callable[[random.Random, Tree, Sequence[str]], None]


def _plane(tree: Tree) -> Tree:
    plane: Tree = tree["planes"]["compute"]
    return plane


def _cable(draw: random.Random, tree: Tree, _: Sequence[str]) -> None:
    kind = draw.choice(("host-leaf", "leaf-spine"))
    _plane(tree).setdefault("cables", {})[kind] = draw.choice(("3m", "5m", "30m", "40m", "60m"))


def _override(draw: random.Random, tree: Tree, names: Sequence[str], *rows: Tree) -> None:
    change = {"match": {"name": draw.choice(names)}, "config_db": draw.choice(rows)}
    tree["overrides"] = [*tree.get("overrides", [])[-2:], change]


def _cable_of_port(draw: random.Random, tree: Tree, names: Sequence[str]) -> None:
    length = draw.choice(("5m", "40m", "300m"))
    _override(draw, tree, names, {"CABLE_LENGTH": {"AZURE": {"Ethernet0": length}}})


def _row(draw: random.Random, tree: Tree, names: Sequence[str]) -> None:
    _override(
        draw,
        tree,
        names,
        {"PORT": {"Ethernet0": {"mtu": draw.choice(("1500", "9100", "99999"))}}},
        {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": draw.choice(("3", "3,4", "5"))}}},
        {"DSCP_TO_TC_MAP": {"AZURE": {"26": draw.choice(("3", "0"))}}},
        {"DEVICE_METADATA": {"localhost": {"bgp_asn": "4200000123"}}},
        {"STATIC_ROUTE": {"default|203.0.113.0/24": {"nexthop": "10.255.0.1"}}},
    )


def _no_overrides(_: random.Random, tree: Tree, __: Sequence[str]) -> None:
    tree.pop("overrides", None)


def _note(draw: random.Random, tree: Tree, names: Sequence[str]) -> None:
    state = draw.choice(("active", "drained"))
    tree["devices"] = [{"name": draw.choice(names), "rack": f"r{draw.randrange(4)}", "state": state}]


def _plane_value(draw: random.Random, tree: Tree, _: Sequence[str]) -> None:
    name, values = draw.choice((("mtu", (9100, 9000)), ("lossless", ("roce-lossless", "roce-lossless-two-class"))))
    _plane(tree)[name] = draw.choice(values)


def _failures(draw: random.Random, tree: Tree, _: Sequence[str]) -> None:
    tree["checks"] = {"failures": draw.choice((1, 2))}


def _suppression(draw: random.Random, tree: Tree, _: Sequence[str]) -> None:
    tree["suppressions"] = [{"code": draw.choice(("FG203", "FG512", "FG591")), "reason": "an edit"}]


EDITS: Sequence[Edit] = (
    _cable, _cable_of_port, _row, _row, _no_overrides, _note, _plane_value, _failures, _suppression,
)  # fmt: skip


def edited(tree: Tree, names: Sequence[str], seed: int, count: int) -> Iterator[Tree]:
    """The tree after one edit, after two, and so on."""
    draw, now = random.Random(seed), deepcopy(tree)
    for _ in range(count):
        draw.choice(EDITS)(draw, now, names)
        yield deepcopy(now)


def checked(inventory: Path, *options: object) -> tuple[bytes, float]:
    """The exit code and the report of `check` in this process, and its CPU in seconds."""
    shown, began = StringIO(), time.process_time()
    with redirect_stdout(shown), redirect_stderr(StringIO()):
        try:
            run(["check", str(inventory), "--format", "json", *map(str, options)])
        except SystemExit as stop:
            code = stop.code
    return f"{code}\n{shown.getvalue()}".encode(), time.process_time() - began


def names_of(inventory: Path) -> list[str]:
    """The names of the switches of an inventory."""
    from fabricgen.render.plans import make_plans

    return list(make_plans(inventory).allocation.names.values())


@dataclass
class Compared:
    """The numbers of the edits after which the reports differ, how many reports have verdicts on rendered files, and
    the CPU of all checks: from nothing, and from the results of all edits before."""

    different: list[int] = field(default_factory=list)
    rendered: int = 0
    cold_s: float = 0.0
    warm_s: float = 0.0


def compare(folder: Path, tree: Tree, seed: int, count: int) -> Compared:
    """Check the tree after each of `count` edits."""
    inventory, cache = folder / "inventory", folder / "cache"
    inventory.mkdir()
    file = inventory / "fabric.yaml"
    file.write_text(text_of(tree))
    names, done = names_of(inventory), Compared()
    checked(inventory, "--cache", cache)
    for number, now in enumerate(edited(tree, names, seed, count)):
        file.write_text(text_of(now))
        form = ("--format", ("json", "text")[number % 2])
        expected, cold = checked(inventory, "--no-cache", *form)
        found, warm = checked(inventory, "--cache", cache, *form)
        again, _ = checked(inventory, "--cache", cache, *form)
        done.cold_s, done.warm_s = done.cold_s + cold, done.warm_s + warm
        done.rendered += b'"deadlock":' in found or b"\ndeadlock  plane" in found
        if found != expected or again != expected:
            done.different.append(number)
        _show(number, count, done)
    return done


def _show(number: int, count: int, done: Compared) -> None:
    if number % _SHOWN_EVERY == _SHOWN_EVERY - 1:
        print(f"{number + 1} of {count} edits; reports differ after: {done.different or 'none'}", file=sys.stderr)


class Watched:
    """Checks of one process that keeps what it can from one to the next, beside checks from nothing."""

    def __init__(self, folder: Path) -> None:
        self._fresh = folder / "fresh"
        self._resident = Resident(folder / "resident")
        self.was_rendered = False

    def compare(self, inventory: Path) -> tuple[bool, float, float]:
        """Whether both find and render the same, and the CPU of both in seconds: from nothing, and resident."""
        shutil.rmtree(self._fresh, ignore_errors=True)
        began = time.process_time()
        expected = check(inventory, bundle=self._fresh)
        middle = time.process_time()
        found = check(inventory, resident=self._resident)
        ended = time.process_time()
        kept = self._resident.folder
        is_same = _plain(found, kept) == _plain(expected, self._fresh)
        self.was_rendered = expected.is_complete
        if expected.is_complete:  # after an error the resident folder is that of the last rendering
            is_same = is_same and _files(kept) == _files(self._fresh)
        return is_same, middle - began, ended - middle


def _plain(found: Check, folder: Path) -> str:
    """All that a check finds, without the evidence of the proof and the place of the rendering."""
    plain = replace(found, deadlock=tuple(map(without_evidence, found.deadlock)), codes=frozenset())
    return f"{plain!r} {sorted(found.codes)}".replace(str(folder), "")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def compare_watched(folder: Path, tree: Tree, seed: int, count: int) -> Compared:
    """Check the tree after each of `count` edits in a process that keeps what it can, and from nothing."""
    inventory = folder / "watched" / "inventory"
    inventory.mkdir(parents=True)
    file = inventory / "fabric.yaml"
    file.write_text(text_of(tree))
    names, done, watched = names_of(inventory), Compared(), Watched(folder / "watched")
    watched.compare(inventory)
    for number, now in enumerate(edited(tree, names, seed, count)):
        file.write_text(text_of(now))
        is_same, cold, warm = watched.compare(inventory)
        done.cold_s, done.warm_s = done.cold_s + cold, done.warm_s + warm
        done.rendered += watched.was_rendered
        if not is_same:
            done.different.append(number)
        _show(number, count, done)
    return done


def main() -> int:
    """Print what differs, and the CPU."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--switches", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--watch", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fabricgen-bench-") as folder:
        tree = rail_optimized()
        if given.switches:
            make_inventory(["--switches", str(given.switches), f"{folder}/made"])
            tree = yaml.safe_load((Path(folder) / "made" / "fabric.yaml").read_text())
        done = (compare_watched if given.watch else compare)(Path(folder), tree, given.seed, given.edits)
    print(f"{given.edits} edits: {len(done.different)} reports differ, {done.rendered} have verdicts on rendered files")
    cold_s, warm_s = done.cold_s / given.edits, done.warm_s / given.edits
    print(f"CPU of one check: {cold_s:.2f} s from nothing, {warm_s:.2f} s from results")
    return bool(done.different)


if __name__ == "__main__":
    sys.exit(main())
