"""docs/extending.md: its package is installed and each of its members is used through the command line."""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricgen import extensions
from fabricgen.resources import resource
from tests.extensions.installed import Installed, installed
from tests.inventories import Tree, explicit, rail_optimized, write

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PORTS = {"Ethernet264": "Ethernet8", "Ethernet256": "Ethernet4", "Ethernet8": "Ethernet4"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the page and the metadata that an installer writes."""
    folder = tmp_path_factory.mktemp("site")
    files: dict[str, list[str]] = defaultdict(list)
    for name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        files[name].append(text)
    for name, texts in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(texts))
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(groups))
    return folder


@pytest.fixture(scope="module")
def fabricgen(site: Path) -> Iterator[Installed]:
    with installed(site) as found:
        yield found


@pytest.fixture(scope="module")
def bundle(fabricgen: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rendered")
    done = fabricgen("render", write(folder / "inventory", explicit()), "--output", folder / "bundle")
    assert done.returncode == 0, done.stdout
    return folder / "bundle"


def help_of(fabricgen: Installed, *verb: str) -> str:
    """The help text on one line."""
    return " ".join(fabricgen(*verb, "--help").stdout.split())


def test_the_page_has_an_example_for_each_group(site: Path) -> None:
    groups = {
        value for name, value in vars(extensions).items() if name.isupper() and str(value).startswith("fabricgen.")
    }
    project = tomllib.loads((site / "pyproject.toml").read_text())["project"]
    assert project["entry-points"].keys() == groups


def test_a_rule(fabricgen: Installed, bundle: Path) -> None:
    done = fabricgen("validate", bundle, "--format", "json", "--expand")
    found = [one for one in json.loads(done.stdout)["findings"] if one["code"] == "FG001"]
    assert [one["device"] for one in found] == ["leaf1", "leaf2", "spine1", "spine2"]
    assert {(one["path"], one["severity"], one["message"]) for one in found} == {
        ("NTP_SERVER", "warning", "1 NTP servers, expected at least 2")
    }
    page = fabricgen("explain", "FG001").stdout
    assert "A switch has fewer than two NTP servers" in page and "RFC 8633" in page
    assert fabricgen("validate", bundle, "--select", "FG001", "--fail-on", "warning").returncode == 1
    assert "FG001" not in fabricgen("validate", bundle, "--ignore", "FG001").stdout


def test_a_suppression_of_its_code(fabricgen: Installed, tmp_path: Path) -> None:
    tree = {**explicit(), "suppressions": [{"code": "FG001", "reason": "one clock is enough in the lab"}]}
    checked = fabricgen("check", write(tmp_path / "inventory", tree))
    assert checked.returncode == 0 and "FG001" not in checked.stdout, checked.stdout
    assert "1 suppressed" in checked.stdout


def test_a_format(fabricgen: Installed, bundle: Path) -> None:
    done = fabricgen("validate", bundle, "--select", "FG001", "--expand", "--format", "csv")
    lines = done.stdout.splitlines()
    assert lines[0] == "code,severity,device,path,message" and len(lines) == 5
    assert lines[1] == 'FG001,warning,leaf1,NTP_SERVER,"1 NTP servers, expected at least 2"'
    assert "csv      a row for each finding, for spreadsheets" in fabricgen("list", "formats").stdout
    assert "|csv]" in "".join(fabricgen("check", "--help").stdout.split())


def islands(hosts: int) -> Tree:
    tree = rail_optimized(hosts, 4)
    tree["planes"]["compute"] |= {"design": "islands", "scalable_unit": {"hosts": 4}}
    del tree["planes"]["compute"]["spine"]
    return tree


def test_a_design(fabricgen: Installed, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", islands(8))
    checked = fabricgen("check", inventory, "--ignore", "FG001")
    assert checked.returncode == 0 and "0 errors" in checked.stdout, checked.stdout
    assert fabricgen("render", inventory, "--output", tmp_path / "bundle").returncode == 0
    wiring = json.loads((tmp_path / "bundle" / "fabric.json").read_text())
    switch_of = {link["a"][0]: link["b"][0] for link in wiring["links"]}
    assert len(wiring["links"]) == 8 * 8 and len(switch_of) == 8 and len(set(switch_of.values())) == 2
    counted = fabricgen("capacity", inventory).stdout
    assert "leaf switches" in counted and "host-leaf links" in counted and "leaf-spine" not in counted


def test_a_design_refuses_what_does_not_fit(fabricgen: Installed, tmp_path: Path) -> None:
    tree = islands(40)
    tree["planes"]["compute"]["scalable_unit"] = {"hosts": 40}
    checked = fabricgen("check", write(tmp_path / "inventory", tree))
    assert checked.returncode == 1
    assert "error FG201  320 endpoints of a unit do not fit the 128 ports of its switch" in checked.stdout
    del tree["planes"]["compute"]["leaf"]
    missing = fabricgen("check", write(tmp_path / "without", tree))
    assert missing.returncode == 1 and "error FG106" in missing.stdout


def test_a_first_layout(fabricgen: Installed, tmp_path: Path) -> None:
    done = fabricgen("init", tmp_path / "new", "--design", "islands", "--hosts", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "design: islands" in (tmp_path / "new" / "fabric.yaml").read_text()
    checked = fabricgen("check", tmp_path / "new", "--ignore", "FG001")
    assert checked.returncode == 0, checked.stdout


def test_a_handoff(fabricgen: Installed, bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = fabricgen("handoff", "hosts-file", bundle, "-o", folder, "--only", "leaf*", "--domain", "lab.example")
    assert done.returncode == 0 and done.stdout == f"1 file in {folder}. Next: append {folder}/hosts to /etc/hosts\n"
    names = [line.split()[1] for line in (folder / "hosts").read_text().splitlines()]
    assert names == ["leaf1.lab.example", "leaf2.lab.example"]
    assert "Domain of the switches. [default: fabric.example]" in help_of(fabricgen, "handoff", "hosts-file")
    assert "hosts-file" in help_of(fabricgen, "handoff")


def test_a_platform(fabricgen: Installed, tmp_path: Path) -> None:
    ends = [[_on_eight_ports(end) for end in link] for link in explicit()["planes"]["compute"]["links"]]
    inventory = write(tmp_path / "inventory", explicit("site-8x400g", links=ends))
    checked = fabricgen("check", inventory, "--ignore", "FG001")
    assert checked.returncode == 0 and "0 errors, 0 warnings" in checked.stdout, checked.stdout
    assert fabricgen("render", inventory, "--output", tmp_path / "bundle").returncode == 0
    assert '"hwsku": "Site-O8"' in (tmp_path / "bundle" / "sonic" / "leaf1" / "config_db.json").read_text()


def _on_eight_ports(end: str) -> str:
    device, port = end.split(":")
    return f"{device}:{PORTS.get(port, port)}"


def test_a_filter(fabricgen: Installed, tmp_path: Path) -> None:
    template = resource("templates", "sonic", "management.json.j2").read_text()
    (tmp_path / "overlay").mkdir()
    changed = template.replace("{{ management.location }}", "{{ management.location | slug }}")
    (tmp_path / "overlay" / "management.json.j2").write_text(changed)
    inventory, bundle = write(tmp_path / "inventory", explicit()), tmp_path / "bundle"
    done = fabricgen("render", inventory, "--output", bundle, "--templates", tmp_path / "overlay")
    assert done.returncode == 0, done.stdout
    assert '"Location": "hall-1"' in (bundle / "sonic" / "leaf1" / "config_db.json").read_text()
