"""Applies 20 plans with ansible-playbook to a stand-in of a switch, each interrupted at a random moment.

    python -m benchmarks.ansible_plans [--plans 20] [--seed 1]

The stand-in has a real sshd, Redis and processes (tests/handoff/switch). A kill ends the command of the switch and the
role's module at once. Then the next run of the play completes the change, or the timer on the switch restores the
configuration from before it.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.diff.measured import edited
from tests.diff.test_plan import KINDS, expected_reloads
from tests.handoff.site import Site, assert_holds, filled, opened

NAME, RELEASE, MOST_MOMENTS = "leaf1", 202505, 60
_WAIT_S = 120


def main() -> None:
    """Print a line for each plan; exit with 1 if one ends with anything but the old or the new configuration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="fabricgen-plans-") as folder, opened(Path(folder)) as site:
        kinds = _kinds(site)
        bad = sum(not _interrupted(site, kinds[number % len(kinds)], number, chance) for number in range(options.plans))
    print(f"{options.plans - bad} of {options.plans} plans end with the old or the new configuration")
    sys.exit(1 if bad else 0)


def _kinds(site: Site) -> list[str]:
    """The kinds of change that patches make on this leaf, and that change it."""
    refused = expected_reloads("traditional", RELEASE)
    tables = site.tables(NAME)
    found = []
    for kind, edit in KINDS.items():
        with contextlib.suppress(KeyError, IndexError, ValueError):  # the lab has no such row
            if f"{kind}, back" not in refused and edited(tables, edit) != tables:
                found.append(kind)
    return found


def _interrupted(site: Site, kind: str, number: int, chance: random.Random) -> bool:
    switch = site.switches[NAME]
    new = filled(site.tables(NAME))
    site.reset()
    switch.hold(edited(new, KINDS[kind]))
    before = switch.running
    moment = chance.randint(1, MOST_MOMENTS)
    (switch.folder / "moments").unlink(missing_ok=True)
    (switch.folder / "kill_at").write_text(str(moment))
    with contextlib.suppress(AssertionError):  # the play fails, as it should, if the kill comes before its end
        site.play("apply", "--limit", NAME)
    reached = len((switch.folder / "moments").read_text().splitlines())
    (switch.folder / "kill_at").unlink()
    patches = sum("apply-patch" in line for line in switch.log())
    try:
        if number % 2:
            switch.pass_time()
            _wait(site)
            way = "restored"
            assert switch.running == switch.startup
            if switch.running != before:  # the play had completed the change, or restored and applied nothing
                assert_holds(switch.running, new, before)
                way = "complete"
        else:
            site.play("apply", "--limit", NAME)
            switch.pass_time()  # the timer of the killed run has nothing to restore
            _wait(site)
            assert_holds(switch.running, new, before)
            assert switch.startup == switch.running
            way = "resumed"
    except AssertionError as error:
        print(f"{kind}, moment {moment}: {error}")
        return False
    print(f"{kind}: {patches} patches begun, moment {min(moment, reached)} of at least {reached}, {way}", flush=True)
    return True


def _wait(site: Site) -> None:
    switch, end = site.switches[NAME], time.monotonic() + _WAIT_S
    while switch.timers() or (switch.folder / "etc/fabricgen/pending.json").exists():
        assert time.monotonic() < end, "the timer does not end"
        time.sleep(0.1)


if __name__ == "__main__":
    main()
