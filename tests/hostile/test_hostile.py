"""Nothing executes, nothing escapes, and no secret is shown."""

import json
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabricgen.cli.diff import FORMATS as DIFF_FORMATS
from fabricgen.handoff import handoffs
from fabricgen.report.formats import formats
from fabricgen.resources import resource
from tests.handoff.site import fabricgen
from tests.hostile.payloads import (
    CANARY,
    FORMULA,
    PAYLOAD,
    add_secrets,
    edit,
    poison_all,
    poison_texts,
    shows_secret,
)  # fmt: skip

RAW = re.compile("[^\\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
COMMAND = re.compile(r"^\s*::\w|##\[", re.MULTILINE)
OWN_COMMAND = re.compile(r"::(error|warning|notice) (file=[^\s:]+,)?.*", re.ASCII)
Ran = Callable[..., str]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundle = tmp_path_factory.mktemp("clean") / "bundle"
    assert fabricgen("-q", "render", str(resource("inventories", "explicit")), "--output", str(bundle), "--locked") == 0
    return bundle


@pytest.fixture
def hostile(rendered: Path, tmp_path: Path) -> Path:
    """A bundle whose leaf1 has the payload in every text that a switch accepts, and every kind of secret."""
    bundle = Path(shutil.copytree(rendered, tmp_path / "bundle"))
    for number, file in enumerate(sorted(bundle.glob("sonic/*/config_db.json"))):
        management = {"MGMT_INTERFACE": {f"eth0|10.255.0.{number + 2}/24": {"gwaddr": "10.255.0.1"}}}
        edit(file, lambda tables, more=management: tables | more)
    edit(bundle / "sonic/leaf1/config_db.json", poison_texts, add_secrets)
    wiring = json.loads((bundle / "fabric.json").read_text())
    for device in wiring["devices"]:
        device |= {"rack": FORMULA, "unit": "+1+1"}
    (bundle / "fabric.json").write_text(json.dumps(wiring))
    return bundle


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Ran]:
    """Runs a command in an empty folder. Its output must be harmless; returns standard output."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)

    def command(*arguments: str | Path, own_commands: bool = False) -> str:
        code = fabricgen(*map(str, arguments))
        out, err = capfd.readouterr()
        assert code in (0, 1, 2, 4), err
        for text in (out, err):
            assert not RAW.search(text), (arguments, RAW.search(text))
            assert not shows_secret(text), arguments
        assert not COMMAND.search(err)
        if own_commands:
            assert all(map(OWN_COMMAND.fullmatch, out.splitlines()))
        else:
            assert not COMMAND.search(out), (arguments, COMMAND.search(out))
        return out

    yield command
    assert not list(tmp_path.rglob(CANARY))
    names = [path.name for path in tmp_path.rglob("*")]
    assert all(name.isprintable() for name in names), names


@pytest.mark.parametrize("fmt", formats())
def test_reports(fmt: str, hostile: Path, ran: Ran) -> None:
    own = fmt == "github"
    out = ran("-v", "--debug", "validate", hostile, "--deploy", "--format", fmt, own_commands=own)
    assert "FG430" in out
    ran("simulate", "deadlock", hostile / "sonic", "--failures", "0", "--format", fmt, own_commands=own)


@pytest.mark.parametrize("fmt", formats())
def test_reports_of_other_paths(fmt: str, hostile: Path, ran: Ran) -> None:
    """Files without their bundle, and a report in a file."""
    ran("validate", hostile / "sonic", "--format", fmt, own_commands=fmt == "github")
    ran("-q", "validate", hostile, "--format", fmt, "--output", "report")
    assert not RAW.search(Path("report").read_text()) and not shows_secret(Path("report").read_text())


def test_simulations_and_their_files(hostile: Path, ran: Ran, tmp_path: Path) -> None:
    files = ("--certificate", tmp_path / "c.json", "--routes", tmp_path / "r.json", "--svg", tmp_path / "svg")
    ran("simulate", "deadlock", hostile, *files)
    ran("simulate", "congestion", hostile, "--svg", tmp_path / "svg")
    for file in (tmp_path / "c.json", tmp_path / "r.json", *(tmp_path / "svg").glob("*")):
        assert not shows_secret(file.read_text())


def test_explain_tables(hostile: Path, ran: Ran) -> None:
    for table in ("SNMP_COMMUNITY", "TACPLUS", "LOCAL_USER", "X509", "SNMP", "PORT", PAYLOAD, ""):
        ran("explain", hostile, f"leaf1:{table}")
        ran("explain", hostile, f"leaf1:{table}|x|y")


PLACES = (
    "TACPLUS|global|passkey", "LOCAL_USER|admin|note", "LOCAL_USER|admin|password-hash", "X509|server|material",
    "PROXY|web|url", "SNMP|LOCATION|Location", "PORT|Ethernet0|description", "NTP_KEY|7|value",
    f"{PAYLOAD}|{PAYLOAD}|{PAYLOAD}",
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(PLACES)))
def test_explain(number: int, hostile: Path, ran: Ran) -> None:
    assert ran("explain", hostile, f"leaf1:{PLACES[number]}")


@pytest.mark.parametrize("fmt", DIFF_FORMATS)
def test_diff(fmt: str, rendered: Path, hostile: Path, ran: Ran, tmp_path: Path) -> None:
    for old, new in (
        (rendered, hostile),
        (hostile, rendered),
        (rendered, hostile / "sonic"),
        (hostile / "sonic", hostile),
    ):
        ran("diff", old, new, "--format", fmt)
    ran("diff", rendered, hostile, "--format", fmt, "--output", tmp_path / "out")
    out = tmp_path / "out"
    for file in (one for one in out.rglob("*") if one.is_file()) if out.is_dir() else [out]:
        assert not shows_secret(file.read_text())


UNUSED = ("dhcp", "host-bgp", "paths")  # handoffs of what this fabric does not have


@pytest.mark.parametrize("name", handoffs())
def test_handoffs(name: str, hostile: Path, ran: Ran, tmp_path: Path) -> None:
    ran("handoff", name, hostile, "--output", tmp_path / "out")
    assert list((tmp_path / "out").rglob("*")) or name in UNUSED
    for file in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        text = file.read_text()
        assert not shows_secret(text) or stat.S_IMODE(file.stat().st_mode) == 0o600, file
        if file.suffix == ".csv":
            assert not re.search(r'(^|,)"?[=+\-@]', text, re.MULTILINE), file
        if file.suffix in (".html", ".conf", ".rules"):
            assert not RAW.search(text), file
        assert file.suffix != ".html" or "<img" not in text, file


def test_the_ansible_files_with_secrets_are_private(hostile: Path, ran: Ran, tmp_path: Path) -> None:
    ran("handoff", "ansible", hostile, "--output", tmp_path / "out")
    modes = {file.parent.name: file.stat().st_mode & 0o777 for file in tmp_path.glob("out/files/*/config_db.json")}
    assert modes == {"leaf1": 0o600, "leaf2": 0o644, "spine1": 0o644, "spine2": 0o644}
    before = tmp_path / "out/files/leaf1/config_db.json"
    before.chmod(0o644)
    ran("handoff", "ansible", hostile, "--output", tmp_path / "out")
    assert before.stat().st_mode & 0o777 == 0o600


def test_import(hostile: Path, ran: Ran, tmp_path: Path) -> None:
    ran("import", "config-db", hostile / "sonic")
    ran("import", "config-db", hostile / "sonic", "--output", tmp_path / "imported")
    assert list((tmp_path / "imported").rglob("*"))
    for file in (path for path in (tmp_path / "imported").rglob("*") if path.is_file()):
        assert not shows_secret(file.read_text()), file


def test_a_payload_in_every_text_of_a_file(rendered: Path, ran: Ran, tmp_path: Path) -> None:
    bundle = Path(shutil.copytree(rendered, tmp_path / "bundle"))
    edit(bundle / "sonic/leaf1/config_db.json", poison_all)
    for fmt in formats():
        ran("validate", bundle, "--format", fmt, own_commands=fmt == "github")
    for fmt in DIFF_FORMATS:
        ran("diff", rendered, bundle, "--format", fmt)
    for name in handoffs():
        ran("handoff", name, bundle, "--output", tmp_path / "out" / name)
    for file in ("fabric.json", "manifest.json", "sources.json"):
        shutil.copy(rendered / file, bundle / file)
        edit(bundle / file, poison_all)
        for verb in (
            ("validate", bundle),
            ("diff", rendered, bundle),
            ("handoff", "ansible", bundle, "-o", tmp_path / "o"),
        ):
            ran(*verb)
        shutil.copy(rendered / file, bundle / file)


@pytest.mark.parametrize(
    "name", ["../../etc/x", "/etc/x", "..", "x\n", "a/b", "x\u202ey", "{{ x }}", "$(touch pwned-file)"]
)
def test_names_of_devices(name: str, rendered: Path, ran: Ran, tmp_path: Path) -> None:
    """A hostname and the names of fabric.json cannot become paths."""
    folder = tmp_path / "loose"
    folder.mkdir()
    tables = json.loads((rendered / "sonic/leaf1/config_db.json").read_text())
    tables["DEVICE_METADATA"]["localhost"]["hostname"] = name
    (folder / "leaf1.json").write_text(json.dumps(tables))
    assert "FG221" in ran("validate", folder, "--format", "concise") or (name.isprintable() and "/" not in name)
    ran("diff", rendered, folder, "--as", "running", "--format", "jsonpatch", "--output", tmp_path / "patches")
    for handoff in handoffs():
        ran("handoff", handoff, folder, "--output", tmp_path / "out" / handoff)
    for key in ("fabric", "planes", "devices", "hosts"):
        bundle = Path(shutil.copytree(rendered, tmp_path / key))
        wiring = json.loads((bundle / "fabric.json").read_text())
        if key == "fabric":
            wiring["fabric"] = name
        else:
            wiring[key][0]["name"] = name
        (bundle / "fabric.json").write_text(json.dumps(wiring))
        for handoff in handoffs():
            ran("handoff", handoff, bundle, "--output", tmp_path / "out2" / handoff)
        assert not (tmp_path / "out2").exists()
    assert {path.name for path in tmp_path.iterdir()} <= {
        "loose", "patches", "out", "work", "fabric", "planes", "devices", "hosts",
    }  # fmt: skip


def test_inventory(ran: Ran, tmp_path: Path) -> None:
    """Control characters in an inventory are findings, and nothing is written."""
    text = (resource("inventories", "explicit") / "fabric.yaml").read_text()
    places = {
        "fabric": text.replace("fabric: lab", f"fabric: {json.dumps('lab' + chr(10))}"),
        "group": text.replace("gpu:", f"{json.dumps('gpu' + PAYLOAD)}:").replace("[gpu]", "[gpu]"),
        "name": text.replace("name: leaf1", f"name: {json.dumps('leaf1' + chr(10))}"),
        "platform": text.replace("platform: arista-7060x6-64pe", f"platform: {json.dumps(PAYLOAD)}"),
        "location": text + f"management: {{addresses: 10.9.0.0/24, snmp: {{location: {json.dumps(PAYLOAD)}}}}}\n",
        "ntp": text + f"management: {{addresses: 10.9.0.0/24, ntp: [{json.dumps(PAYLOAD)}]}}\n",
        "secret": text + f"management: {{snmp: {{community: !secret {json.dumps(PAYLOAD)}}}}}\n",
        "config_db": text + f"overrides: [{{match: {{name: '*'}}, config_db: {{{json.dumps(PAYLOAD)}: {{}}}}}}]\n",
    }  # fmt: skip
    assert all(place != text for place in places.values())
    for name, content in places.items():
        folder = Path(shutil.copytree(resource("inventories", "explicit"), tmp_path / name))
        (folder / "fabric.yaml").write_text(content)
        for verb in ("check", "capacity"):
            ran(verb, folder)
        ran("render", folder, "--output", tmp_path / "out" / name)
        assert not (tmp_path / "out" / name).exists(), name
