"""Device folders that are not one switch: supervisors, line cards, and devices of several ASICs."""

import json
import shutil
from pathlib import Path

import pytest

from fabricgen.findings import Finding
from fabricgen.platforms.sonic_device.entry import import_device
from tests.conftest import Cli

BOX = Path(__file__).with_name("device") / "acme/x86_64-acme_box4-r0"
SKU = "Acme-Box4-O8"
FAR, OWN = "chassis_db_address=127.100.1.1\n", "start_chassis_db=1\nchassis_db_address=127.0.0.1\n"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A card with two ASICs: each has the files of a SKU."""
    folder = tmp_path / "device/acme/x86_64-acme_card-r0"
    folder.mkdir(parents=True)
    for file in BOX.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    for number in "01":
        shutil.copytree(BOX / SKU, folder / "Acme-Card" / number)
    (folder / "asic.conf").write_text("# two\nNUM_ASIC=2\nDEV_ID_ASIC_0=06:00.0\n")
    return folder


def codes(findings: list[Finding]) -> dict[str, Finding]:
    assert all(one.location and Path(one.location.file).exists() for one in findings)
    return {one.code: one for one in findings}


@pytest.mark.parametrize("below", ["", "Acme-Card"])
def test_a_device_of_several_asics_is_refused_with_the_part_to_import(card: Path, below: str, cli: Cli) -> None:
    platform, findings = import_device(card / below)
    found = codes(findings)["FG453"]
    assert platform is None and "2 ASICs" in found.message
    assert found.hint.endswith(str(card / "Acme-Card/0"))
    refused = cli("import", "sonic-device", card / below)
    assert refused.code == 1 and "FG453" in refused.err and not refused.out


@pytest.mark.parametrize(("chassis", "words"), [(FAR, "one of 2 ASICs of a line card"), (OWN, "one of 2 ASICs, not")])
def test_one_asic_is_a_part_with_the_name_of_the_sku(card: Path, chassis: str, words: str) -> None:
    (card / "chassisdb.conf").write_text(chassis)
    platform, findings = import_device(card / "Acme-Card/1")
    assert platform and (platform.name, platform.onie_platform) == ("acme-card-asic1", "x86_64-acme_card-r0")
    whole, _ = import_device(BOX / SKU)
    (layout,) = platform.layouts
    assert whole and (layout.hwsku, layout.ports, layout.headroom) == (
        "Acme-Card",
        whole.layouts[0].ports,
        whole.layouts[0].headroom,
    )
    assert words in codes(findings)["FG454"].message


def test_a_line_card_of_one_asic_is_an_entry_with_a_warning(card: Path) -> None:
    (card / "asic.conf").unlink()
    shutil.move(card / "Acme-Card/0", card / SKU)
    shutil.rmtree(card / "Acme-Card")
    (card / "chassisdb.conf").write_text(FAR)
    platform, findings = import_device(card)
    assert platform and [layout.hwsku for layout in platform.layouts] == [SKU]
    assert "this is a line card" in codes(findings)["FG454"].message
    (card / "chassisdb.conf").write_text(OWN)  # a switch with its own chassis database
    assert "FG454" not in codes(import_device(card)[1])


def test_a_supervisor_has_nothing_to_import(card: Path) -> None:
    (card / "platform_env.conf").write_text("usemsi=1\nsupervisor=1\n")
    platform, findings = import_device(card)
    found = codes(findings)["FG453"]
    assert platform is None and "supervisor" in found.message and "line cards" in found.hint


def test_findings_about_ports_of_modes_name_the_file_with_the_modes(tmp_path: Path) -> None:
    """A SKU without port_config.ini has its ports from hwsku.json and platform.json."""
    box = shutil.copytree(BOX, tmp_path / "device/acme/x86_64-acme_box4-r0")
    (box / SKU / "port_config.ini").unlink()
    shape = json.loads((box / SKU / "hwsku.json").read_text())
    shape["interfaces"][next(iter(shape["interfaces"]))]["default_brkout_mode"] = "1x10G"
    (box / SKU / "hwsku.json").write_text(json.dumps(shape))
    found = [one.location for one in import_device(box / SKU)[1] if one.code in ("FG127", "FG121") and one.location]
    assert str(box / SKU / "hwsku.json") in {place.file for place in found}
    assert all(Path(place.file).exists() for place in found)
