"""The files with another setting are those that `render` writes for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.results import Setting
from fabricgen.simulate.tuning.analysis import Allowed
from fabricgen.simulate.tuning.files import TunedFiles, changed_rows, present_setting
from tests.inventories import ARISTA, rail_optimized, write
from tests.simulate.tuning.conftest import quietly

PRESENT = Setting(131_072, 262_144, 5, 0, 1)
OTHER = Setting(65_536, 1 << 20, 20, 1, 1)
LAYER = """
planes: {compute: {queue_pairs: 4, lossless: {ecn: {min: 64KiB, max: 1MiB, probability: 20}}}}
overrides:
  - {match: {plane: compute}, config_db: {DEFAULT_LOSSLESS_BUFFER_PARAMETER: {AZURE: {default_dynamic_th: "1"}}}}
"""


def files_of(folder: Path) -> TunedFiles:
    bundle = open_bundle([folder])
    switches = list(bundle.devices)
    present = present_setting(bundle, switches, 1)
    assert present
    return TunedFiles(bundle, switches, present)


def test_the_present_setting_is_that_of_the_plan(built: Path) -> None:
    assert files_of(built).present == PRESENT


def test_other_files_are_as_rendered(built: Path, inventory: Path, tmp_path: Path) -> None:
    (tmp_path / "layer.yaml").write_text(LAYER)
    assert quietly("render", inventory, tmp_path / "layer.yaml", "--output", tmp_path / "build") == 0
    rendered, changed = open_bundle([tmp_path / "build"]), files_of(built).with_setting(OTHER)
    assert {name: one.config for name, one in changed.devices.items()} == {
        name: one.config for name, one in rendered.devices.items()
    }
    assert files_of(tmp_path / "build").present == OTHER
    assert changed_rows(files_of(built), OTHER) == {
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "1"}}
    }


def test_slower_ports_have_smaller_thresholds(built: Path) -> None:
    """Ports of 200G hold half of the bytes of those of 400G."""
    bundle = open_bundle([built])
    name, device = next(iter(bundle.devices.items()))
    ports = {port: {**row, "speed": "200000"} for port, row in device.table("PORT").items()}
    slower = replace(bundle, devices={name: device.reshaped({**device.config, "PORT": ports})})
    present = present_setting(slower, [name], 1)
    assert present == replace(PRESENT, kmin_bytes=2 * PRESENT.kmin_bytes, kmax_bytes=2 * PRESENT.kmax_bytes)
    row = TunedFiles(slower, [name], present).with_setting(PRESENT).devices[name].row("WRED_PROFILE", "LOSSLESS_400G")
    assert [row[f"{colour}_min_threshold"] for colour in ("green", "yellow", "red")] == ["65536"] * 3
    assert row["ecn"] == "ecn_all"


def test_nothing_is_changed_for_the_present_setting(built: Path) -> None:
    found = files_of(built)
    assert found.with_setting(PRESENT) is found.bundle


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        (Setting(131_072, 64 << 20, 5, 0, 1), "FG547"),
        (Setting(1024, 2048, 5, 0, 1), "FG547"),
        (Setting(131_072, 8 << 20, 5, -5, 1), "FG543"),
    ],
)
def test_rules_refuse(built: Path, setting: Setting, code: str) -> None:
    allowed = Allowed(files_of(built))
    assert code in allowed.refusals(setting)
    assert allowed.refused[code] == 1
    assert allowed.refusals(OTHER) == ()


def test_the_alpha_of_a_sku_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "inventory", rail_optimized(hosts=4, unit=4, planned=1, platform=ARISTA))
    assert quietly("render", tmp_path / "inventory", "--output", tmp_path / "b") == 0
    assert Allowed(files_of(tmp_path / "b")).refusals(OTHER) == ("FG524",)
