"""Cages in other breakout modes: names, lanes and aliases as the port tables of the SKUs with those modes have them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.platforms.catalog import switch_names, switch_platform
from fabricgen.platforms.model import Layout, PlatformPort, SwitchPlatform
from fabricgen.platforms.port_modes import PortModes
from fabricgen.platforms.ports_in_use import PortsInUse
from tests.platforms.test_catalog import BY_HAND

# The port tables of these SKUs have other aliases, lanes or speeds than their platform.json.
OF_THEIR_OWN = {"celestica-silverstone", "dell-s5232f", "micas-w6940-128x1-fr4", "nvidia-sn6600-ld"}
PLATFORMS = [
    platform
    for name in switch_names()
    if (platform := switch_platform(name)) and platform.cages and name not in OF_THEIR_OWN
]
WITH_CHOICES = [platform for platform in PLATFORMS if len(platform.layouts) > 1]


def pairs(layouts: Sequence[Layout]) -> Iterator[tuple[Layout, Layout]]:
    return ((base, goal) for base in layouts for goal in layouts if base is not goal)


def configured(platform: SwitchPlatform, base: Layout, modes: dict[str, str]) -> Layout:
    return in_modes(PortModes(platform, base), modes)


def in_modes(known: PortModes, modes: dict[str, str]) -> Layout:
    found = {parent: known.mode(parent, text) for parent, text in modes.items()}
    return known.with_modes({parent: mode for parent, mode in found.items() if mode})


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_breakout_makes_the_port_table_of_the_sku(name: str) -> None:
    """The modes of platform.json alone make the port_config.ini of a SKU that has them."""
    platform = switch_platform(name)
    assert platform
    for base, goal in pairs(platform.layouts[: BY_HAND[name]] if name not in OF_THEIR_OWN else ()):
        alone = replace(platform, layouts=(base,))
        made = configured(alone, base, {port.parent: port.breakout_mode for port in goal.ports})
        assert made.ports == goal.ports
        assert made.hwsku == base.hwsku


@pytest.mark.parametrize("platform", WITH_CHOICES, ids=lambda platform: str(platform.name))
def test_breakout_makes_the_names_and_lanes_of_the_sku(platform: SwitchPlatform) -> None:
    """SKUs of vendors differ in FEC, in the kind of a port and in aliases, but not in names, lanes and speeds."""
    alone = {base.hwsku: PortModes(replace(platform, layouts=(base,)), base) for base in platform.layouts}
    for base, goal in pairs(platform.layouts):
        modes = {port.parent: port.breakout_mode for port in goal.ports if port.kind == "fabric" and port.breakout_mode}
        made = in_modes(alone[base.hwsku], modes)
        found, expected = (
            {(port.name, port.lanes, port.speed_mbps) for port in layout.ports if port.parent in modes}
            for layout in (made, goal)
        )
        assert found == expected


def test_a_mode_by_name_and_by_another_speed() -> None:
    platform = switch_platform("nvidia-sn5600")
    assert platform
    known = PortModes(platform, platform.layouts[0])
    split, slow = known.mode("Ethernet8", "4x200G"), known.mode("Ethernet8", "2x200G")
    assert split and slow
    assert split.ports[1] == PlatformPort(
        "Ethernet10", (10, 11), "etp2b", 2, 2, "Ethernet8", 200_000, "fabric", "rs", "4x200G[100G,50G,25G,10G]"
    )
    assert [(port.name, port.speed_mbps, port.breakout_mode) for port in slow.ports] == [
        ("Ethernet8", 200_000, "2x400G[200G,100G,50G,40G,25G,10G]"),
        ("Ethernet12", 200_000, "2x400G[200G,100G,50G,40G,25G,10G]"),
    ]
    assert known.mode("Ethernet8", "3x100G") is None
    assert 65 not in known.numbers, "a service port stays free"


MODES = {"nvidia-sn5600": ["1x800G", "2x400G", "4x200G", "2x200G", "1x400G"], "nvidia-sn4700": ["1x400G", "2x200G"],
         "dell-z9864f": ["1x800G", "2x400G(8)", "4x200G", "1x100G(4)"]}  # fmt: skip


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_a_file_has_the_ports_of_its_cages(data: st.DataObject) -> None:
    """The layout of a file, by its PORT and BREAKOUT_CFG or by PORT alone, is the one that made it."""
    name = data.draw(st.sampled_from(sorted(MODES)))
    platform = switch_platform(name)
    assert platform
    base = data.draw(st.sampled_from(platform.layouts))
    known = PortModes(platform, base)
    numbers = data.draw(st.lists(st.sampled_from(sorted(known.numbers)), unique=True, max_size=5))
    wanted = {known.numbers[number][0]: data.draw(st.sampled_from(MODES[name])) for number in numbers}
    layout = configured(platform, base, wanted)
    rows = {
        port.name: {"lanes": ",".join(map(str, port.lanes)), "speed": str(port.speed_mbps)} for port in layout.ports
    }
    breakouts = {cage: {"brkout_mode": mode} for cage, mode in layout.breakout_modes.items()}
    assert PortsInUse().layout(platform, base, rows, breakouts).ports == layout.ports
    assert {port.name for port in PortsInUse().layout(platform, base, rows, {}).ports} == rows.keys()
    written = known.written(layout)
    cages = {
        known.numbers[number][0]: mode
        for key, mode in written.items()
        for number in range(int(key.split("-")[0]), int(key.split("-")[-1]) + 1)
    }
    assert configured(platform, base, cages).ports == layout.ports


def test_a_speed_takes_a_mode_that_breakout_cfg_can_have() -> None:
    """A SKU has two ports of 100G in each cage, and no source states its mode; platform.json has one for them."""
    platform = switch_platform("arista-7060px4-32")
    assert platform
    found = PortModes(platform, platform.layouts[0]).mode("Ethernet0", "2x100G")
    assert found and found.text.startswith("2x200G[100G") and [port.speed_mbps for port in found.ports] == [100_000] * 2


def test_cages_of_one_sku_are_not_mixed_with_those_of_another() -> None:
    """Two SKUs of one switch: 64 cages of 800G, or 128 of 400G, on the same lanes."""
    platform = switch_platform("micas-w6940-128x1-fr4")
    assert platform
    wide, narrow = (PortModes(platform, layout) for layout in platform.layouts)
    assert [mode.text for mode in wide.cages["Ethernet0"]] == ["1x800G", "2x400G", "2x200G", "2x100G"]
    assert [mode.text for mode in narrow.cages["Ethernet0"]] == ["1x400G"]


def test_a_mode_of_two_kinds_of_ports_is_written_as_it_is() -> None:
    platform = switch_platform("nvidia-sn6600-ld")
    assert platform
    known = PortModes(platform, platform.layouts[0])
    parent, mode = next((p, m) for p, modes in known.cages.items() for m in modes if "+" in m.text)
    written = known.written(known.with_modes({parent: mode}))
    assert list(written.values()) == [mode.text]
    assert known.mode(parent, mode.text) == mode
