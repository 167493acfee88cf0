"""Render every shipped layout in every role, for each set of priorities and each BGP style, into a folder.

    python scripts/matrix.py build/matrix

Each combination is a small fabric: two leaves, two spines, and a core if the layout has buffer facts for cores. One
file of each role is kept: <layout>-<role>-<priorities>-<bgp>/config_db.json.
"""

import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from fabricgen.findings import has_errors
from fabricgen.platforms import catalog
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.units import format_speed

PRIORITIES = {"34": {3: [26], 4: [34]}, "3": {3: [26]}, "345": {3: [26], 4: [34], 5: [46]}}
BGP = ("numbered", "unnumbered")
ROLES = ("leaf", "spine", "core")
NIC_MBPS = 400_000


def layouts() -> Iterator[tuple[SwitchPlatform, Layout]]:
    """Every layout with buffer facts for lossless classes."""
    for name in catalog.switch_names():
        platform = catalog.switch_platform(name)
        assert platform is not None
        for layout in platform.layouts:
            if layout.buffers and (layout.headroom or platform.buffer_model == "dynamic"):
                yield platform, layout


def kept(nth_layout: int, role: str, priorities: str, bgp: str) -> bool:
    """Whether a combination is kept. Each layout has 15 files.

    Priorities and BGP share no table. For each layout one role skips one set of priorities with unnumbered BGP. The
    skipped pair changes from layout to layout, so every layout and every role has every set and every style.
    """
    nth_set = tuple(PRIORITIES).index(priorities)
    return bgp == "numbered" or (nth_layout + ROLES.index(role)) % len(PRIORITIES) != nth_set


def inventory(platform: SwitchPlatform, layout: Layout, classes: dict[int, list[int]], bgp: str) -> str:
    """A fabric with one or two switches of each role."""
    ports = [port.name for port in layout.fabric_ports if port.speed_mbps == layout.speed_mbps]
    cable_m = max((row.cable_m for row in layout.headroom if row.speed_mbps == layout.speed_mbps), default=40)
    core = "core" in layout.buffers
    links = [f"leaf{leaf}:{ports[spine]}, spine{spine}:{ports[leaf]}" for leaf, spine in product((0, 1), (0, 1))]
    links += [f"spine{spine}:{ports[3]}, core0:{ports[spine]}" for spine in (0, 1)] if core else []
    links += [f"gpu/{host}:rail0, leaf{host}:{ports[3]}" for host in (0, 1)] if layout.speed_mbps == NIC_MBPS else []
    roles = ["leaf", "spine", *(["core"] if core else [])]
    tiers = "\n".join(f"    {role}: {{platform: {platform.name}, layout: {layout.name}}}" for role in roles)
    ends = "\n".join(f"      - [{link}]" for link in links)
    return f"""\
fabricgen: 1
fabric: matrix
hosts: {{gpu: {{model: hgx-h100, count: 2}}}}
planes:
  compute:
    design: explicit
    hosts: [gpu]
    bgp: {bgp}
{tiers}
    speed: {format_speed(layout.speed_mbps)}
    cables: {{host-leaf: {min(5, cable_m)}m, leaf-spine: {min(40, cable_m)}m, spine-core: {cable_m}m}}
    lossless: {{classes: {{{", ".join(f"{tc}: {{dscp: {dscp}}}" for tc, dscp in classes.items())}}}}}
    addressing: {{loopbacks: 10.0.0.0/24, links: 10.0.1.0/24, hosts: 10.0.2.0/24}}
    leaves: [{{name: leaf0}}, {{name: leaf1}}]
    spines: [{{name: spine0}}, {{name: spine1}}]
    cores: [{"{name: core0}" if core else ""}]
    links:
{ends}
management: {{addresses: 10.255.0.0/24, gateway: 10.255.0.1, ntp: [10.255.0.9], syslog: [10.255.0.8]}}
"""


def main(folder: Path) -> int:
    """Render all combinations. The exit code is 1 if a layout cannot be planned."""
    files = 0
    with tempfile.TemporaryDirectory() as aside:
        source = Path(aside) / "fabric.yaml"
        for (nth, (platform, layout)), priorities, bgp in product(enumerate(layouts()), PRIORITIES, BGP):
            source.write_text(inventory(platform, layout, PRIORITIES[priorities], bgp), encoding="utf-8")
            plans = make_plans(source)
            if has_errors(plans.findings):
                print(f"{platform.name} {layout.name}: {plans.findings[0].message}", file=sys.stderr)
                return 1
            roles = (role for role in ROLES if kept(nth, role, priorities, bgp))
            wanted = {f"sonic/{role}0/config_db.json": role for role in roles}
            for path, content in BundleContent(plans).files():
                if path in wanted:
                    name = f"{platform.name}-{layout.name}-{wanted[path]}-{priorities}-{bgp}"
                    target = folder / name / "config_db.json"
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
                    files += 1
    print(f"{files} files in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
