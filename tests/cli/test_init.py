"""`fabricgen init`: an inventory of any design that passes `check` as it is."""

import json
from pathlib import Path

import pytest
import yaml

from fabricgen.design.registry import designs
from tests.conftest import Cli
from tests.inventories import ARISTA, DELL, GENERIC, NVIDIA


@pytest.mark.parametrize("platform", [ARISTA, NVIDIA, DELL])
def test_init_then_check(platform: str, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("init", tmp_path / "fabric", "--platform", platform)
    assert outcome.code == 0 and "32 hosts, 256 GPUs" in outcome.out
    assert sorted(each.name for each in (tmp_path / "fabric").iterdir()) == ["allocations.lock.yaml", "fabric.yaml"]
    outcome = cli("check", tmp_path / "fabric")
    assert outcome.code == 0 and "0 errors, 0 warnings, 0 notes" in outcome.out
    assert "free, proved" in outcome.out
    assert cli("init", tmp_path / "fabric").code == 2


@pytest.mark.parametrize(
    ("folder", "fabric"),
    [
        ("2025", "2025"),
        ("on", "on"),
        ("1e3", "1e3"),
        ("hall 1", "hall-1"),
        ("é", "fabric"),
        ("_x.y", "x.y"),
        ("n" * 90, "n" * 63),
    ],
)
def test_init_names_the_fabric_after_the_folder(folder: str, fabric: str, cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path / folder, "--hosts", 1).code == 0
    lock = yaml.safe_load((tmp_path / folder / "allocations.lock.yaml").read_text())
    assert lock["fabric"] == fabric
    assert cli("render", tmp_path / folder, "-o", tmp_path / "b", "--locked", "-q").code == 0
    assert json.loads((tmp_path / "b/fabric.json").read_text())["fabric"] == fabric


@pytest.mark.parametrize("hosts", [1, 64, 65, 513])
def test_init_supports_every_size(hosts: int, cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path / "f", "--hosts", hosts).code == 0
    plane = json.loads(cli("capacity", tmp_path / "f", "--format", "json").out)["capacity"]["planes"][0]
    assert plane["endpoints"] == hosts * 8


def test_init_refuses_what_cannot_be_rendered(cli: Cli, tmp_path: Path) -> None:
    assert "can only be counted" in cli("init", tmp_path / "f", "--platform", GENERIC).err
    assert (
        "is an InfiniBand switch, and --technology is roce"
        in cli("init", tmp_path / "f", "--platform", "nvidia-qm9700").err
    )
    assert "unknown switch platform 'x'" in cli("init", tmp_path / "f", "--platform", "x").err
    assert not (tmp_path / "f" / "fabric.yaml").exists()


@pytest.mark.parametrize("hosts", [1, 40])
@pytest.mark.parametrize("design", designs())
def test_every_design_passes_the_check(
    design: str, hosts: int, cli: Cli, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert cli("init", tmp_path / "f", "--design", design, "--hosts", hosts).code == 0
    outcome = cli("check", tmp_path / "f", "--format", "json")
    assert outcome.code == 0, outcome.err
    shown = json.loads(outcome.out)
    if "infiniband" in shown:
        request.getfixturevalue("opensm")  # a plane that is not tried on OpenSM has a warning
    summary = shown["summary"]
    assert (summary["errors"], summary["warnings"]) == (0, 0)
    (plane,) = json.loads(cli("capacity", tmp_path / "f", "--format", "json").out)["capacity"]["planes"]
    assert (plane["hosts"], plane["gpus"]) == (hosts, hosts * 8)


@pytest.mark.parametrize("design", designs())
@pytest.mark.usefixtures("opensm")
def test_every_design_passes_the_check_as_infiniband(design: str, cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path / "f", "--design", design, "--technology", "infiniband").code == 0
    outcome = cli("check", tmp_path / "f", "--format", "json")
    assert outcome.code == 0, outcome.err
    shown = json.loads(outcome.out)
    assert [finding["code"] for finding in shown["findings"]] == ["FG888"]
    assert shown["infiniband"][0]["engine"] != "minhop"


@pytest.mark.parametrize("design", ["dragonfly", "torus", "mesh"])
def test_roce_is_refused_for_designs_that_can_deadlock(design: str, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("init", tmp_path / "f", "--design", design, "--technology", "roce")
    assert outcome.code == 2 and "one lossless class forms cycles" in outcome.err
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--design", "dragonfly", "--hosts", 3000), "no dragonfly of up to 64 groups holds 3000 hosts"),
        (("--design", "torus", "--hosts", 20000), "try a Clos or a dragonfly"),
        (("--platform", "micas-w6940-64oc"), "no layout of 400G, the speed of dgx-h100's NICs"),
        (("--technology", "infiniband", "--platform", DELL), "is an Ethernet switch"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(
    arguments: tuple[object, ...], message: str, cli: Cli, tmp_path: Path
) -> None:
    outcome = cli("init", tmp_path / "f", *arguments)
    assert outcome.code == 2 and message in outcome.err
    assert not (tmp_path / "f").exists()
