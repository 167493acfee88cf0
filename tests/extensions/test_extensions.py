"""Filters and catalogs of other installed packages: a real distribution on the path, in a separate process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricgen.codes import code_names
from fabricgen.findings import Severity
from fabricgen.resources import resource
from fabricgen.rules.rule import rule
from tests.extensions.installed import Installed, installed
from tests.inventories import explicit, write

PLATFORM = Path(__file__).parents[2] / "fabricgen" / "platforms" / "catalog" / "switches" / "dell-z9664f.yaml"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a package that has a filter and a catalog, and the metadata of an installed package."""
    folder = tmp_path / "site"
    (folder / "site_fabric" / "catalog" / "switches").mkdir(parents=True)
    (folder / "site_fabric" / "__init__.py").write_text(
        "from pathlib import Path\n"
        "CATALOG = Path(__file__).with_name('catalog')\n"
        "def loud(text):\n    return f'{text}!'\n"
    )
    entry = (
        PLATFORM.read_text().replace("name: dell-z9664f", "name: site-switch").replace("DellEMC-Z9664f-O64", "Site-O64")
    )
    (folder / "site_fabric" / "catalog" / "switches" / "site-switch.yaml").write_text(entry)
    metadata = folder / "site_fabric-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: site-fabric\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        "[fabricgen.filters]\nloud = site_fabric:loud\n\n[fabricgen.platforms]\nsite = site_fabric:CATALOG\n"
    )
    return folder


@pytest.fixture
def fabricgen(site: Path) -> Iterator[Installed]:
    with installed(site) as found:
        yield found


def test_a_foreign_platform_is_rendered_and_judged(fabricgen: Installed, tmp_path: Path) -> None:
    links = [[a.replace(":Ethernet264", ":Ethernet16").replace(":Ethernet256", ":Ethernet8") for a in link]
             for link in explicit()["planes"]["compute"]["links"]]  # fmt: skip
    inventory = write(tmp_path / "inventory", explicit("site-switch", links=links))
    checked = fabricgen("check", inventory)
    assert checked.returncode == 0, checked.stdout
    assert "0 errors, 0 warnings, 1 note" in checked.stdout  # the note: no lock file yet
    assert fabricgen("render", inventory, "--output", tmp_path / "bundle").returncode == 0
    assert '"hwsku": "Site-O64"' in (tmp_path / "bundle" / "sonic" / "leaf1" / "config_db.json").read_text()


def test_a_foreign_filter_is_used(fabricgen: Installed, tmp_path: Path) -> None:
    template = resource("templates", "sonic", "management.json.j2").read_text()
    (tmp_path / "overlay").mkdir()
    changed = template.replace("{{ management.location }}", "{{ management.location | loud }}")
    (tmp_path / "overlay" / "management.json.j2").write_text(changed)
    inventory, bundle = write(tmp_path / "inventory", explicit()), tmp_path / "bundle"
    done = fabricgen("render", inventory, "--output", bundle, "--templates", tmp_path / "overlay")
    assert done.returncode == 0, done.stdout
    assert '"Location": "hall 1!"' in (bundle / "sonic" / "leaf1" / "config_db.json").read_text()


def test_a_broken_extension_is_named(fabricgen: Installed, site: Path, tmp_path: Path) -> None:
    (site / "site_fabric" / "__init__.py").write_text("raise RuntimeError('no licence')\n")
    outcome = fabricgen("capacity", write(tmp_path / "inventory", explicit()))
    assert outcome.returncode == 2
    assert "extension site (site_fabric:CATALOG) of fabricgen.platforms cannot be loaded: no licence" in outcome.stderr


def test_two_catalogs_with_one_model_are_refused(fabricgen: Installed, site: Path, tmp_path: Path) -> None:
    catalog = site / "site_fabric" / "catalog" / "switches"
    (catalog / "dell-z9664f.yaml").write_text(PLATFORM.read_text())
    outcome = fabricgen("capacity", write(tmp_path / "inventory", explicit()))
    assert outcome.returncode == 2 and "two catalogs have dell-z9664f" in outcome.stderr


def test_foreign_names_are_completed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (site / "site_fabric-1.dist-info" / "entry_points.txt").open("a") as file:
        file.write("\n[fabricgen.handoffs]\nsite-sheets = site_fabric:SHEETS\n")
    monkeypatch.setenv("_FABRICGEN_COMPLETE", "bash_complete")
    for words, expected in (("init --platform site", "site-switch"), ("handoff site", "site-sheets")):
        monkeypatch.setenv("COMP_WORDS", f"fabricgen {words}")
        monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
        environment = {**os.environ, "PYTHONPATH": str(site)}
        command = [sys.executable, "-m", "fabricgen"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.split() == [f"plain,{expected}"]


def test_a_rule_cannot_take_a_code_of_another_page() -> None:
    code = min(code_names())
    with pytest.raises(ValueError, match=f"{code} is already used: codes.yaml describes it"):
        rule(code, Severity.ERROR, "taken")(lambda fabric: ())
