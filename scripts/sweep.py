"""Judge a small fabric of every layout with buffers, in every SONiC release and on every medium: no finding above note.

    python scripts/sweep.py [WORD]

Two leaves, two spines and two cores of a layout are joined on its fastest ports, without cores where the layout has no
buffer facts for them. Where plugs fill cages, each link has its own cage. Then every layout is joined with the NVIDIA
and the Broadcom layout that the names below give, if both have ports of one speed. WORD limits the sweep to platforms
whose name contains it. The exit code is 1 if there is a finding.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from fabricgen.api import render, validate
from fabricgen.findings import Finding, Severity
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.catalog_index import lossy_roles
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.sonic.releases import BRANCHES, MASTER, MASTER_WORD
from fabricgen.units import format_speed
from scripts.matrix import layouts

RELEASES: tuple[int | str, ...] = (*BRANCHES, MASTER_WORD)
MEDIA_M = {"dac": 3, "aoc": 17, "mmf": 40, "smf": 150}  # with a length that is rounded up in most tables
FIXED = ("dac", "aoc")  # with plugs at both ends
_LINKS = 4  # of a spine: two to leaves and two to cores
MIXED_WITH = ("Mellanox-SN5600-O128", "Mellanox-SN5600-V256", "Arista-7060X6-64PE-O128S2", "Arista-7060X6-64PE")
Model = tuple[SwitchPlatform, Layout]


def main(word: str = "") -> int:
    """Judge all fabrics, and print what is wrong and the counts."""
    counts: Counter[str] = Counter()
    for name, text in fabrics(word):
        counts["fabrics"] += 1
        for one in judged(text):
            counts["findings"] += 1
            print(f"{name}: {one.code} {one.message}", flush=True)
    print(f"{counts['fabrics']} fabrics, {counts['findings']} findings above note")
    return int(counts["findings"] > 0)


def fabrics(word: str) -> Iterator[tuple[str, str]]:
    """Name and inventory of each fabric."""
    known = [one for one in layouts() if word in one[0].name]
    for platform, layout in known:
        lossy = lossy_roles(platform, layout)
        roles = {role: (platform, layout) for role in ("leaf", "spine", "core") if role not in lossy}
        if {"leaf", "spine"} <= roles.keys():
            kinds = media(roles, layout.speed_mbps)
            for release, medium in ((one, kind) for one in RELEASES for kind in kinds):
                yield f"{layout.hwsku} {release} {medium}", inventory(roles, layout.speed_mbps, release, medium)
    others = [found for hwsku in MIXED_WITH if (found := layout_by_hwsku(hwsku))]
    for platform, layout in known:
        for other, its in others:
            speeds = [speed for speed in layout.speeds_mbps if its.ports_at(speed)]
            fits = not lossy_roles(platform, layout).keys() & {"leaf"} and not lossy_roles(other, its).keys() & {
                "spine"
            }
            if speeds and fits and platform.buffer_model != other.buffer_model:
                roles = {"leaf": (platform, layout), "spine": (other, its)}
                for medium in media(roles, speeds[0]):
                    name = f"{layout.hwsku} below {its.hwsku} {medium}"
                    yield name, inventory(roles, speeds[0], MASTER_WORD, medium)


def media(roles: dict[str, Model], speed_mbps: int) -> list[str]:
    """The media that can join ports of all roles: copper needs equal lanes, and each plug needs a cage."""
    lanes = {len(layout.ports_at(speed_mbps)[0].lanes) for _, layout in roles.values()}
    cages = min(len(_by_cage(layout, speed_mbps)) for _, layout in roles.values())
    plugged = [medium for medium in MEDIA_M if medium not in FIXED or cages >= _LINKS]
    return [medium for medium in plugged if medium != "dac" or len(lanes) == 1]


def _by_cage(layout: Layout, speed_mbps: int) -> list[str]:
    """The first port of each cage."""
    return list({one.index: one.name for one in reversed(layout.ports_at(speed_mbps))}.values())[::-1]


def inventory(roles: dict[str, Model], speed_mbps: int, release: int | str, medium: str) -> str:
    """Two switches of each role, each joined to both of the next one."""
    length_m = min(_length_m(model, speed_mbps, release, MEDIA_M[medium]) for model in roles.values())
    ports = {
        role: _by_cage(layout, speed_mbps) if medium in FIXED else [one.name for one in layout.ports_at(speed_mbps)]
        for role, (_, layout) in roles.items()
    }
    tiers = list(roles)
    links = [
        f"[{low}{n}:{ports[low][-1 - m]}, {high}{m}:{ports[high][n]}]"
        for low, high in pairwise(tiers)
        for n in (0, 1)
        for m in (0, 1)
    ]
    cable = f"{{length: {length_m}m, medium: {medium}}}"
    names = {"leaf": "leaves", "spine": "spines", "core": "cores"}
    switches = "\n".join(f"    {names[role]}: [{{name: {role}0}}, {{name: {role}1}}]" for role in roles)
    models = "\n".join(
        f"    {role}: {{platform: {platform.name}, layout: {layout.hwsku}}}"
        for role, (platform, layout) in roles.items()
    )
    return f"""\
fabricgen: 1
fabric: sweep
sonic: {{release: {release}}}
planes:
  compute:
    design: explicit
{models}
    speed: {format_speed(speed_mbps)}
    cables: {{leaf-spine: {cable}, spine-core: {cable}}}
{switches}
    links: [{", ".join(links)}]
    addressing: {{loopbacks: 10.0.0.0/24, links: 10.0.1.0/24, hosts: 10.0.2.0/24}}
management: {{addresses: 10.255.0.0/24, gateway: 10.255.0.1, ntp: [10.255.0.9], syslog: [10.255.0.8]}}
"""


def _length_m(model: Model, speed_mbps: int, release: int | str, wanted_m: int) -> int:
    """The wanted length, or the longest one of the SKU's table if that is shorter."""
    platform, layout = model
    if platform.buffer_model == "dynamic":
        return wanted_m
    rows = layout.at(MASTER if release == MASTER_WORD else int(release)).headroom
    return min(wanted_m, max((row.cable_m for row in rows if row.speed_mbps == speed_mbps), default=wanted_m))


def judged(text: str) -> list[Finding]:
    """What is above note in the fabric of an inventory."""
    with tempfile.TemporaryDirectory() as aside:
        source, bundle = Path(aside) / "fabric.yaml", Path(aside) / "bundle"
        source.write_text(text, encoding="utf-8")
        rendering = render(source, bundle)
        findings = [*rendering.findings, *(validate([bundle]).findings if rendering.is_written else ())]
    return [one for one in findings if one.severity is not Severity.NOTE]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
