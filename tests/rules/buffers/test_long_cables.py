"""Long cables on every switch of the dynamic buffer model: an error or a warning has the numbers."""

import re
from pathlib import Path

import pytest

from fabricgen.api import render, validate
from fabricgen.findings import Finding, Severity
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.units import format_speed
from scripts.matrix import layouts

DYNAMIC = {
    platform.name: (platform, layout)
    for platform, layout in layouts()
    if platform.buffer_model == "dynamic" and {"leaf", "spine"} <= layout.buffers.keys()
}


def joined(platform: SwitchPlatform, layout: Layout, length: str) -> str:
    """A leaf and a spine that all ports of the highest speed join."""
    ports = [one.name for one in layout.ports_at(layout.speed_mbps)]
    links = ", ".join(f"[leaf0:{port}, spine0:{port}]" for port in ports)
    model = f"{{platform: {platform.name}, layout: {layout.hwsku}}}"
    return f"""\
fabricgen: 1
fabric: long
planes:
  compute:
    design: explicit
    leaf: {model}
    spine: {model}
    speed: {format_speed(layout.speed_mbps)}
    cables: {{leaf-spine: {{length: {length}, medium: smf}}}}
    leaves: [{{name: leaf0}}]
    spines: [{{name: spine0}}]
    links: [{links}]
    addressing: {{loopbacks: 10.0.0.0/24, links: 10.0.4.0/22, hosts: 10.0.8.0/24}}
management: {{addresses: 10.255.0.0/24, gateway: 10.255.0.1, ntp: [10.255.0.9], syslog: [10.255.0.8]}}
"""


@pytest.mark.parametrize("length", ["10000m", "1000m", "500m"])
@pytest.mark.parametrize("name", DYNAMIC)
def test_headroom_of_long_cables(name: str, length: str, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(joined(*DYNAMIC[name], length))
    rendering = render(tmp_path / "fabric.yaml", tmp_path / "bundle")
    assert rendering.is_written, rendering.findings
    found = validate([tmp_path / "bundle"], select=("FG519", "FG520")).findings
    assert found and all(has_numbers(one, length) for one in found), found


def has_numbers(one: Finding, length: str) -> bool:
    """Whether a finding is above note, and has the length, the headroom and the memory."""
    return one.severity is not Severity.NOTE and length in one.message and len(re.findall(r"\d{5,}", one.message)) >= 2
