"""The rules of subnet managers' files: silent on clean bundles and on what OpenSM takes as well, at the right line of a
broken one."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Finding
from fabricgen.rules.registry import all_rules
from fabricgen.rules.run import run
from tests.conftest import Cli
from tests.opensm.small import DRAGONFLY, MESH, TORUS, TREE, rendered
from tests.rules.opensm.cases import BAD, CONF, GOOD, NET, PARTS, PORT, TOPO, Case

CODES = {rule.code for rule in all_rules() if re.fullmatch(r"FG8[123]\d|FG841", rule.code)}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clean bundles by name."""
    folder = tmp_path_factory.mktemp("clean")
    for name in (TREE, TORUS, MESH, DRAGONFLY):
        rendered(folder, name)
    return folder


def broken(clean: Path, folder: Path, case: Case) -> Path:
    """A bundle after the change; files that stay are links to those of the clean one."""
    root = folder / case.bundle
    shutil.copytree(clean / case.bundle, root, copy_function=os.link)
    subnet = root / "infiniband" / case.plane
    for name in (CONF, PARTS, "root_guids", "cn_guids", NET, TOPO, "standby-1/opensm.conf"):
        text = (subnet / name).read_text() if (subnet / name).is_file() else None
        if text is not None:
            (subnet / name).unlink()
            (subnet / name).write_text(text)
    for name in case.files if case.old else ():
        text = (subnet / name).read_text()
        assert case.old in text, f"{name} has no {case.old!r}"
        (subnet / name).unlink()
        (subnet / name).write_text(text.replace(case.old, case.new, 1))
    if case.change:
        case.change(subnet)
    return root


def found_in(root: Path) -> list[Finding]:
    return [finding for finding in run(open_bundle([root])) if finding.severity != "note"]


@pytest.mark.parametrize("name", [TREE, TORUS, MESH, DRAGONFLY])
def test_clean_bundles_have_no_finding(clean: Path, name: str) -> None:
    assert run(open_bundle([clean / name])) == []


@pytest.mark.parametrize("case", BAD, ids=[f"{number}-{case.code}" for number, case in enumerate(BAD)])
def test_a_change_is_found_at_its_line(clean: Path, tmp_path: Path, case: Case) -> None:
    root = broken(clean, tmp_path, case)
    findings = found_in(root)
    mine = [finding for finding in findings if finding.code == case.code]
    assert mine, findings
    names = {
        Path(one.location.file).relative_to(root / "infiniband" / case.plane).as_posix() for one in mine if one.location
    }
    assert names <= set(case.files), mine
    if case.at != "_":
        wanted = (case.at or case.new).strip()
        lines = [_line(finding) for finding in mine]
        assert any(wanted in text for text in lines), (wanted, lines, mine)
    assert not case.severity or {str(finding.severity) for finding in mine} == {case.severity}, mine
    assert case.lenient or {finding.code for finding in findings} <= {case.code, *case.also}, findings


@pytest.mark.parametrize("case", GOOD, ids=[f"{number}-{case.code}" for number, case in enumerate(GOOD)])
def test_what_opensm_takes_is_no_finding(clean: Path, tmp_path: Path, case: Case) -> None:
    findings = found_in(broken(clean, tmp_path, case))
    assert {finding.code for finding in findings} <= set(case.also), findings


def _line(finding: Finding) -> str:
    assert finding.location and finding.location.line and finding.location.column
    return Path(finding.location.file).read_text().splitlines()[finding.location.line - 1]


def test_every_rule_has_a_bad_and_a_good_case() -> None:
    assert {case.code for case in BAD} == {case.code for case in GOOD} == CODES


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


def test_an_accepted_finding_is_told_apart(
    clean: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = broken(clean, tmp_path, next(case for case in BAD if case.code == "FG835"))
    monkeypatch.chdir(tmp_path)
    accepted = 'code = "FG835"\ndevice = "compute"\npath = "*opensm.conf|*"\nreason = "lab"'
    Path("fabricgen.toml").write_text(f"[[suppressions]]\n{accepted}\n")
    report = json.loads(cli("validate", root, "--format", "json").out)
    assert (report["findings"], report["summary"]["suppressed"]) == ([], 2)


@pytest.mark.parametrize("name", [TREE, TORUS, DRAGONFLY])
@pytest.mark.parametrize(
    "garbled", ["", "\n", "x", "\0\xff", "{", "0x", "a b c = : ; , 0x1\n" * 3, "doubled", "halved"]
)
def test_garbled_files_are_judged_all_the_same(clean: Path, tmp_path: Path, name: str, garbled: str) -> None:
    """Whatever a file holds is a finding at most."""
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
    root = broken(clean, tmp_path, next(case for case in BAD if case.code == "FG815"))
    (finding,) = [
        one for one in json.loads(cli("validate", root, "--format", "json").out)["findings"] if one["code"] == "FG815"
    ][:1]
    assert [one["message"] for one in finding["related"]] == ["caused by planes.compute.infiniband.vls"]
