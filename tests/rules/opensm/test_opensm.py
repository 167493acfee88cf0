"""The rules on files of OpenSM: clean bundles and valid changes have no finding; a broken file has one at its line."""

import json
import re
import shutil
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.rules.registry import all_rules
from fabricgen.rules.run import run
from tests.conftest import Cli
from tests.opensm.small import DRAGONFLY, LEVELS, MESH, TORUS, TREE, rendered
from tests.rules.case import Case, GoodCase, SubnetFiles
from tests.rules.opensm.cases import CASES, GOOD
from tests.rules.opensm.changes import CONF, NET, PARTS, PORT

CODES = {rule.code for rule in all_rules() if rule.check.__module__.startswith("fabricgen.rules.opensm.")}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clean bundles by name."""
    folder = tmp_path_factory.mktemp("clean")
    for name in (TREE, TORUS, MESH, DRAGONFLY, LEVELS):
        rendered(folder, name)
    return folder


def broken(folder: Path, case: Case) -> Path:
    """The bundle of a case, after its change."""
    case.clean.broken(case.change, folder)
    assert isinstance(case.clean, SubnetFiles)
    return folder / case.clean.bundle


@pytest.mark.parametrize("name", [TREE, TORUS, MESH, DRAGONFLY, LEVELS])
def test_clean_bundles_have_no_finding(clean: Path, name: str) -> None:
    assert run(open_bundle([clean / name])) == []


@pytest.mark.parametrize("case", GOOD, ids=[f"{number}-{case.code}" for number, case in enumerate(GOOD)])
def test_a_change_that_opensm_accepts_has_no_finding(tmp_path: Path, case: GoodCase) -> None:
    findings = run(case.clean.broken(case.change, tmp_path))
    assert {finding.code for finding in findings if finding.severity != "note"} <= set(case.also), findings


def test_every_rule_has_a_bad_and_a_good_case() -> None:
    assert {case.code for case in CASES} == {case.code for case in GOOD} == CODES


def test_a_loose_folder_is_judged(clean: Path, tmp_path: Path, cli: Cli) -> None:
    folder = Path(shutil.copytree(clean / TREE / "infiniband" / "compute", tmp_path / "opensm"))
    found = json.loads(cli("validate", folder, "--format", "json").out)["findings"]
    assert found == []
    parts = folder / PARTS
    parts.write_text(parts.read_text().replace(f"{PORT}=full", "0x02fab00200009999=full"))
    outcome = cli("validate", folder / CONF, "--format", "concise")
    assert outcome.code == 1 and re.search(rf"{PARTS}:\d+:5.* FG820 ", outcome.out), outcome.out


def test_without_a_netlist_the_rest_is_judged(clean: Path, tmp_path: Path, cli: Cli) -> None:
    folder = Path(shutil.copytree(clean / TREE / "infiniband" / "compute", tmp_path / "opensm"))
    (folder / NET).unlink()
    conf = folder / CONF
    conf.write_text(conf.read_text().replace("use_ucast_cache TRUE", "use_ucast_cache yes"))
    (folder / "standby-1" / CONF).unlink()
    (folder / "standby-1").rmdir()
    found = json.loads(cli("validate", folder, "--format", "json").out)["findings"]
    assert [(one["code"], one["severity"]) for one in found] == [("FG811", "error"), ("FG814", "note")]


def test_ibnetdiscover_beside_it_is_the_wiring(clean: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(clean / TREE / "infiniband" / "compute", tmp_path / "opensm"))
    (folder / NET).rename(folder / "ibnetdiscover.txt")
    roots = folder / "root_guids"
    roots.write_text("\n".join(roots.read_text().splitlines()[:-1]) + "\n")
    assert [finding.code for finding in run(open_bundle([folder]))] == ["FG828"]


@pytest.mark.parametrize(
    ("keys", "code"), [(("0xhunter2", "0xhunter2"), "FG811"), (("0xdeadbeef", "0xdeadbee5"), "FG833")]
)
def test_a_key_is_not_shown(clean: Path, tmp_path: Path, cli: Cli, keys: tuple[str, str], code: str) -> None:
    folder = Path(shutil.copytree(clean / TREE / "infiniband" / "compute", tmp_path / "opensm"))
    for file, key in zip((CONF, f"standby-1/{CONF}"), keys, strict=True):
        (folder / file).write_text((folder / file).read_text() + f"m_key {key}\n")
    for form in ("concise", "text", "json", "sarif", "github", "gitlab", "junit"):
        out = cli("validate", folder, "--format", form).out
        assert code in out and "hunter" not in out and "deadbee" not in out, form


def test_a_placeholder_of_a_secret_is_a_number_later(clean: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(clean / TREE / "infiniband" / "compute", tmp_path / "opensm"))
    for file in (CONF, f"standby-1/{CONF}"):
        (folder / file).write_text((folder / file).read_text() + "m_key ${secret:sm/key}\n")
    assert run(open_bundle([folder])) == []


def test_an_accepted_finding_is_counted_separately(
    clean: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = broken(tmp_path, next(case for case in CASES if case.code == "FG835"))
    monkeypatch.chdir(tmp_path)
    accepted = 'code = "FG835"\ndevice = "compute"\npath = "*opensm.conf|*"\nreason = "lab"'
    Path("fabricgen.toml").write_text(f"[[suppressions]]\n{accepted}\n")
    report = json.loads(cli("validate", root, "--ignore", "FG255", "--format", "json").out)
    assert (report["findings"], report["summary"]["suppressed"]) == ([], 2)


@pytest.mark.parametrize("name", [TREE, TORUS, DRAGONFLY])
@pytest.mark.parametrize(
    "garbled", ["", "\n", "x", "\0\xff", "{", "0x", "a b c = : ; , 0x1\n" * 3, "doubled", "halved"]
)
def test_garbled_files_raise_no_exception(clean: Path, tmp_path: Path, name: str, garbled: str) -> None:
    """Any content of a file leads to findings at most."""
    root = Path(shutil.copytree(clean / name, tmp_path / name))
    for file in sorted((root / "infiniband" / "compute").rglob("*")):
        if file.is_file():
            text = file.read_text()
            new = {"doubled": text.replace("\n", "\n" + text[:300]), "halved": text[: len(text) // 2]}.get(
                garbled, garbled
            )
            file.write_bytes(new.encode("latin-1"))
            assert isinstance(run(open_bundle([root]), ["FG8"]), list)
            file.write_text(text)


def test_an_option_leads_back_to_the_inventory(clean: Path, tmp_path: Path, cli: Cli) -> None:
    root = broken(tmp_path, next(case for case in CASES if case.code == "FG815"))
    (finding,) = [
        one for one in json.loads(cli("validate", root, "--format", "json").out)["findings"] if one["code"] == "FG815"
    ][:1]
    assert [one["message"] for one in finding["related"]] == ["caused by planes.compute.infiniband.vls"]
