"""FG236 with a platform file that states the mode of a cage at one of its ports only."""

from dataclasses import replace

from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.rules.run import run
from tests.rules.clean import clean_fabric


def half_stated(hwsku: str) -> tuple[SwitchPlatform, Layout]:
    """The layout with no mode at the second port of each cage."""
    found = layout_by_hwsku(hwsku)
    assert found
    platform, layout = found
    ports = tuple(replace(one, breakout_mode="" if one.name != one.parent else "2x400G") for one in layout.ports)
    return platform, replace(layout, ports=ports)


def test_a_mode_is_that_of_the_port_that_states_it() -> None:
    fabric = clean_fabric()
    modes = layout_by_hwsku("Arista-7060X6-64PE-O128S2")
    assert modes
    for config in fabric.configs.values():
        config["BREAKOUT_CFG"] = {
            cage: {"brkout_mode": mode} for cage, mode in half_stated(modes[1].hwsku)[1].breakout_modes.items()
        }
    assert run(fabric.bundle(), ["FG236"], layout_lookup=half_stated) == []
    fabric.configs["leaf1"]["BREAKOUT_CFG"]["Ethernet0"]["brkout_mode"] = "1x800G"
    (found,) = run(fabric.bundle(), ["FG236"], layout_lookup=half_stated)
    assert found.device == "leaf1"
