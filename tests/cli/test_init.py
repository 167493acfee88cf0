"""`fabricgen init`: an inventory of any design that passes `check` as it is."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.first_layouts import counted
from fabricgen.design.registry import designs
from fabricgen.resources import resource
from tests.conftest import Cli
from tests.design.exhaustive import DESIGNS, least_switches
from tests.examples import examples
from tests.inventories import ARISTA, DELL, GENERIC, NVIDIA

FILES = ["allocations.lock.yaml", "fabric.yaml", "inventory.schema.json"]


def planes_of(folder: Path, cli: Cli) -> dict[str, Any]:
    counted = json.loads(cli("capacity", folder, "--format", "json").out)["capacity"]["planes"]
    return {plane["name"]: plane for plane in counted}


def switches_of(plane: dict[str, Any]) -> int:
    return sum(plane["switches"].values())


@pytest.mark.parametrize("platform", [ARISTA, NVIDIA, DELL])
def test_init_then_check(platform: str, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("init", tmp_path / "fabric", "--platform", platform)
    assert outcome.code == 0 and "32 hosts, 256 GPUs" in outcome.out
    assert sorted(each.name for each in (tmp_path / "fabric").iterdir()) == FILES
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


@pytest.mark.parametrize(
    ("model", "options", "line", "is_named"),
    [
        ("dgx-h100", (), "classes: {3: {dscp: [26]}, 4: {dscp: [34]}}", True),
        ("hgx-b200", (), "classes: {3: {dscp: [26]}, 4: {dscp: [34]}}", False),
        ("mi355x", (), "classes: {3: {dscp: [26]}}", False),
        ("gb300-nvl72-ethernet", (), "subplanes: 2", False),
        ("gb300-nvl72", ("--technology", "infiniband"), "leaf: {platform: nvidia-q3400}", False),
        ("dgx-b300-4-planes", (), "subplanes: 4", False),
    ],
)
def test_init_with_a_host_model(
    model: str, options: tuple[str, ...], line: str, is_named: bool, cli: Cli, tmp_path: Path
) -> None:
    """What is written for the model is rendered and passes, and says what the hosts still need."""
    folder = tmp_path / "site"
    done = cli("init", folder, "--host-model", model, "--hosts", 8, *options)
    assert done.code == 0 and line in (folder / "fabric.yaml").read_text(), done.err
    assert ("has no PCI addresses" in done.out.replace("\n", " ")) is not is_named
    assert cli("-q", "render", folder, "-o", tmp_path / "b").code == 0
    assert cli("validate", tmp_path / "b").code == 0


def test_init_refuses_what_cannot_be_rendered(cli: Cli, tmp_path: Path) -> None:
    assert "can only be counted" in cli("init", tmp_path / "f", "--platform", GENERIC).err
    assert (
        "is an InfiniBand switch, and --technology is roce"
        in cli("init", tmp_path / "f", "--platform", "nvidia-qm9700").err
    )
    assert "unknown switch platform 'x'" in cli("init", tmp_path / "f", "--platform", "x").err
    assert not (tmp_path / "f" / "fabric.yaml").exists()


@pytest.mark.parametrize("hosts", [1, 20])
@pytest.mark.parametrize("design", designs())
@pytest.mark.usefixtures("few_failures")
def test_every_design_passes_the_check(
    design: str, hosts: int, cli: Cli, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert cli("init", tmp_path / "f", "--design", design, "--hosts", hosts).code == 0
    outcome = cli("check", tmp_path / "f", "--format", "json")
    assert outcome.code == 0, outcome.err
    shown = json.loads(outcome.out)
    if "infiniband" in shown:
        request.getfixturevalue("opensm")  # a plane that is not tried on OpenSM has a warning
    assert shown["summary"]["errors"] == 0
    warnings = {one["code"] for one in shown["findings"] if one["severity"] == "warning"}
    assert warnings <= (set() if design in DESIGNS else {"FG702", "FG703"})  # routes can load a link twice
    (plane,) = json.loads(cli("capacity", tmp_path / "f", "--format", "json").out)["capacity"]["planes"]
    assert (plane["hosts"], plane["gpus"]) == (hosts, hosts * 8)


@pytest.mark.parametrize("design", designs())
@pytest.mark.usefixtures("opensm", "few_failures")
def test_every_design_passes_the_check_as_infiniband(design: str, cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path / "f", "--design", design, "--technology", "infiniband", "--hosts", 9).code == 0
    outcome = cli("check", tmp_path / "f", "--format", "json")
    assert outcome.code == 0, outcome.err
    shown = json.loads(outcome.out)
    codes = [finding["code"] for finding in shown["findings"]]
    assert [code for code in codes if not code.startswith(("FG60", "FG70"))] in (
        ["FG888"],
        ["FG836", "FG888"],  # hosts on several subnets: guid 0 of the manager binds to any of them
    )  # of failures and of load
    single = design == "rail-only"  # each group of rails is one switch
    assert (shown["infiniband"][0]["engine"] == "minhop") is single


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


@pytest.mark.parametrize("design", DESIGNS)
def test_init_has_the_least_switches(design: str, cli: Cli, tmp_path: Path) -> None:
    """A seeded share; `python -m benchmarks.first_layouts` compares every number of hosts."""
    for hosts in random.Random(f"{design}/20").sample(range(1, 400), 3):
        folder = tmp_path / str(hosts)
        assert cli("init", folder, "--design", design, "--hosts", hosts).code == 0
        plane = planes_of(folder, cli)["compute"]
        assert switches_of(plane) == least_switches(design, hosts, 128) and plane["hosts"] == hosts
        assert plane["waste"] == []


@pytest.mark.parametrize("radix", [36, 64, 128])
@pytest.mark.parametrize("design", DESIGNS)
def test_first_layouts_have_the_least_switches(design: str, radix: int) -> None:
    largest = radix * radix // 16 if design == "rail-only" else 16 * radix
    for hosts in random.Random(f"{design}/{radix}").sample(range(1, largest), examples(12)):
        assert counted(design, hosts, radix) == least_switches(design, hosts, radix), hosts


def test_growth_is_planned_in_words(cli: Cli, tmp_path: Path) -> None:
    full = cli("init", tmp_path / "full", "--gpus", 512)
    assert (
        "plane compute: 12 switches, room for 64 hosts; to grow to 128 without moved cables, add --planned-hosts 128: "
        "16 switches\n"
    ) in full.out
    planned = cli("init", tmp_path / "planned", "--hosts", 64, "--planned-hosts", 128)
    assert "plane compute: 16 switches, room for 128 hosts without a moved cable\n" in planned.out
    assert cli("render", tmp_path / "planned", "-o", tmp_path / "b").code == 0
    links = {link["id"]: link for link in json.loads((tmp_path / "b/fabric.json").read_text())["links"]}
    file = tmp_path / "planned" / "fabric.yaml"
    file.write_text(file.read_text().replace("count: 64", "count: 128"))
    assert cli("render", tmp_path / "planned", "-o", tmp_path / "b").code == 0
    grown = {link["id"]: link for link in json.loads((tmp_path / "b/fabric.json").read_text())["links"]}
    assert len(grown) == 2 * len(links) and {key: grown[key] for key in links} == links


def test_planes_of_an_inventory(cli: Cli, tmp_path: Path) -> None:
    everything = "compute,storage,in-band,out-of-band"
    outcome = cli("init", tmp_path / "f", "--planes", everything, "--hosts", 40, "--name", "hall-7")
    assert outcome.code == 0 and "fabric: hall-7\n" in (tmp_path / "f/fabric.yaml").read_text()
    planes = planes_of(tmp_path / "f", cli)
    assert list(planes) == sorted(everything.split(","))
    assert [plane["endpoints"] for plane in planes.values()] == [320, 80, 40, 80]
    assert planes["storage"]["switches"]["leaf"] == 2  # each card of a host is on its own leaf
    checked = cli("check", tmp_path / "f", "--format", "json")
    findings = json.loads(checked.out)["findings"]
    assert checked.code == 0 and not findings


def test_capacity_names_the_change_that_needs_fewer_switches(cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path / "f", "--hosts", 64).code == 0
    file = tmp_path / "f" / "fabric.yaml"
    file.write_text(file.read_text().replace("{hosts: 64, planned: 1}", "{hosts: 16, planned: 4}"))
    (tmp_path / "f" / FILES[0]).unlink()
    line = "  fewer switches         `scalable_unit: {hosts: 64}` needs 12 switches instead of 36\n"
    assert line in cli("capacity", tmp_path / "f").out
    file.write_text(file.read_text().replace("{hosts: 16, planned: 4}", "{hosts: 64}"))
    plane = planes_of(tmp_path / "f", cli)["compute"]
    assert switches_of(plane) == 12 and plane["waste"] == []


@pytest.mark.parametrize("name", sorted(folder.name for folder in resource("inventories").iterdir()))
def test_every_example_is_copied_with_its_schema(name: str, cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path / "f", "--example", name).code == 0
    first = (tmp_path / "f" / "fabric.yaml").read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={FILES[2]}"
    assert '"fabricgen inventory"' in (tmp_path / "f" / FILES[2]).read_text()
    assert cli("render", tmp_path / "f", "-o", tmp_path / "b", "--locked").code == 0


def test_init_suggests_a_host_model(cli: Cli, tmp_path: Path) -> None:
    done = cli("init", tmp_path / "site", "--host-model", "mi35x")
    assert done.code == 2 and "unknown host model 'mi35x'; did you mean mi355x" in done.err


def test_what_init_lists(cli: Cli) -> None:
    listed = cli("init", "--list")
    assert listed.code == 0
    for name in (*designs(), *(folder.name for folder in resource("inventories").iterdir())):
        assert any(line.startswith(f"  {name} ") and len(line) > 30 for line in listed.out.splitlines()), name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--hosts", 8, "--gpus", 64), "give --hosts or --gpus, not both"),
        (("--example", "superpod", "--gpus", 64), "copies an inventory as it is: remove --gpus"),
        (("--example", "x"), "no example is called 'x'; the examples are: border,"),
        (("--planes", "compute,x"), "'x' is not a valid plane; the planes are: compute, storage"),
        (("--design", "dual-tor", "--planes", "storage"), "dgx-b300, the host of a dual-tor design, has NICs for:"),
        (("--design", "explicit", "--planned-hosts", 64), "use neither --planes nor --planned-hosts"),
        (("--name", "-x"), "'-x' is not a name"),
    ],
)
def test_init_refuses(arguments: tuple[object, ...], message: str, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("init", tmp_path / "f", *arguments)
    assert outcome.code == 2 and message in outcome.err
    assert not (tmp_path / "f").exists()
    assert "DIR is missing" in cli("init").err
