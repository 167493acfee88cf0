"""`fabricgen diff` as a person uses it."""

import json
import re
import shutil
from pathlib import Path

import jsonpatch
import pytest

from fabricgen.sonic.dump import dump
from tests.conftest import Cli, Golden
from tests.diff.fabrics import COMMUNITY, Config, Edit, edited, running
from tests.inventories import explicit, rail_optimized, write

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rendered bundle, once for all tests; no test writes into it."""
    from fabricgen.cli.main import run

    folder = tmp_path_factory.mktemp("diff")
    with pytest.raises(SystemExit):
        run(["render", str(write(folder / "inventory", explicit())), "-o", str(folder / "old"), "-q"])
    return folder / "old"


@pytest.fixture
def old(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in the working directory."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(bundle, tmp_path / "old")
    return Path("old")


def all_sorts(device: str, config: Config) -> None:
    """Changes of every cost, on all switches, on leaves, on one."""
    for row in config["PORT"].values():
        row["mtu"] = "9000"
    config["NTP_SERVER"]["10.255.15.9"] = {"association_type": "server", "iburst": "on"}
    config["SNMP_COMMUNITY"]["plain-text"] = {"TYPE": "RW"}
    if device.startswith("leaf"):
        config["BUFFER_PROFILE"]["pg_lossless_400000_40m_profile"]["xoff"] = "600000"
        config["PORT_QOS_MAP"]["Ethernet256"]["pfc_enable"] = "3"
        config["ACL_TABLE"] = {"GUARD": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0", "Ethernet256"]}}
    if device == "spine2":
        config["DEVICE_METADATA"]["localhost"]["hwsku"] = "Arista-7060X6-64PE-P64"
        config["BUFFER_POOL"]["egress_lossless_pool"]["size"] = "1"
        config["PORT"]["Ethernet0"]["description"] = 'with "quotes" and a very long text, ' * 4
        del config["SYSLOG_SERVER"]


def few(device: str, config: Config) -> None:
    """The same without the switch that changes its HwSKU, and with one port instead of all."""
    ports = config["PORT"]
    all_sorts(device if device.startswith("leaf") else "", config)
    for name in list(ports)[1:]:
        ports[name]["mtu"] = "9100"


@pytest.mark.parametrize(
    ("fmt", "file"), [("text", "text"), ("markdown", "md"), ("json", "json"), ("jsonpatch", "patch")]
)
def test_all_sorts_of_changes(fmt: str, file: str, old: Path, cli: Cli, golden: Golden) -> None:
    new = edited(old, "new", few if "json" in fmt else all_sorts)
    shutil.rmtree(new / "sonic/leaf2")
    outcome = cli("diff", old, new, "--format", fmt, "--exit-code")
    assert outcome.code == 4 and "plain-text" not in outcome.out
    golden(GOLDEN / f"all_sorts.{file}", re.sub(r'"version": "[^"]+"', '"version": "…"', outcome.out).encode())


def test_drift(old: Path, cli: Cli, golden: Golden) -> None:
    def by_hand(device: str, config: Config) -> None:
        if device.startswith("leaf"):
            config["PFC_WD"].pop("Ethernet256")
            config["VLAN"] = {"Vlan10": {"vlanid": "10"}}

    folder = running(old, "running", by_hand)
    (folder / "spine2.json").unlink()
    for fmt, suffix in (("text", "text"), ("markdown", "md")):
        outcome = cli("diff", old, folder, "--format", fmt)
        assert outcome.code == 0 and COMMUNITY not in outcome.out
        golden(GOLDEN / f"drift.{suffix}", outcome.out.encode())


def test_no_differences(old: Path, cli: Cli) -> None:
    outcome = cli("diff", old, old, "--exit-code")
    assert (outcome.code, outcome.out) == (
        0,
        "No differences.\n4 devices: 0 added, 0 removed, 0 changed, 4 unchanged.\n",
    )
    found = json.loads(cli("diff", old, old, "--format", "json").out)
    assert found["changes"] == [] and found["cost"]["class"] is None
    assert json.loads(cli("diff", old, old, "--format", "jsonpatch").out)["devices"] == {}
    assert "no differences" in cli("diff", old, old, "--format", "markdown").out


def test_order_and_layout_are_no_difference(old: Path, cli: Cli) -> None:
    new = edited(old, "new", lambda device, config: None)
    for file in new.glob("sonic/*/config_db.json"):
        content = json.loads(file.read_bytes())
        file.write_text(json.dumps(dict(reversed(content.items())), indent=1))
    assert cli("diff", old, new, "--exit-code").code == 0


def test_a_number_and_its_text_are_equal(old: Path, cli: Cli) -> None:
    """CONFIG_DB stores everything as text."""
    new = edited(old, "new", lambda device, config: None)
    for file in new.glob("sonic/*/config_db.json"):
        text, count = re.subn(r'("(?:asn|holdtime|mtu)": )"(\d+)"', r"\1\2", file.read_text())
        assert count
        file.write_text(text)
    assert cli("diff", old, new, "--exit-code").code == 0


def test_exit_code_only_when_asked_for(old: Path, cli: Cli) -> None:
    new = edited(old, "new", all_sorts)
    assert cli("diff", old, new).code == 0
    assert cli("diff", old, new, "--exit-code").code == 4


def test_patches_lead_from_old_to_new(old: Path, cli: Cli) -> None:
    def edit(device: str, config: Config) -> None:
        all_sorts(device, config)
        del config["SNMP_COMMUNITY"]["plain-text"]  # a secret: no patch would show it

    new = edited(old, "new", edit)
    found = json.loads(cli("diff", old, new, "--format", "jsonpatch").out)
    assert sorted(found["devices"]) == ["leaf1", "leaf2", "spine1", "spine2"]
    for device, each in found["devices"].items():
        before, after = (json.loads((side / "sonic" / device / "config_db.json").read_bytes()) for side in (old, new))
        assert jsonpatch.apply_patch(before, each["patch"]) == after
        assert [(op["op"], op["path"]) for op in each["ops"]] == [(op["op"], op["path"]) for op in each["patch"]]
    assert {device: each["cost"] for device, each in found["devices"].items()} == {
        "leaf1": "guarded",
        "leaf2": "guarded",
        "spine1": "cheap",
        "spine2": "reboot",
    }
    outcome = cli("diff", old, new, "--format", "jsonpatch", "--output", "patches")
    assert outcome.out == "" and "1 device by reboot" in outcome.err
    for device, each in found["devices"].items():
        assert json.loads(Path(f"patches/{device}.json").read_bytes()) == each["patch"]


def test_a_clean_switch_does_not_drift(old: Path, cli: Cli) -> None:
    folder = running(old, "running")
    outcome = cli("diff", old, folder, "--exit-code")
    assert outcome.code == 0 and outcome.out.startswith("Added by the switch, not drift:\n  CRM: 4 on ")
    assert "No drift." in outcome.out and "4 secrets not compared" in outcome.out and COMMUNITY not in outcome.out
    for form in ("leaf1", "leaf1/config_db"):  # one switch, by either name
        one = Path("one") / f"{form}.json"
        one.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "leaf1.json", one)
        outcome = cli("diff", old, one, "--exit-code")
        assert outcome.code == 0 and "3 devices of the bundle without a running configuration" in outcome.out


def test_the_way_back_keeps_what_the_switch_made(old: Path, cli: Cli) -> None:
    """RUNNING BUNDLE: the patch brings the switch to the bundle, and touches nothing of the image's."""

    def by_hand(device: str, config: Config) -> None:
        config["PORT"]["Ethernet0"]["mtu"] = "1500"
        config["VLAN"] = {"Vlan10": {"vlanid": "10"}}

    folder = running(old, "running", by_hand)
    found = json.loads(cli("diff", folder, old, "--format", "jsonpatch").out)
    assert found["devices"]["leaf1"]["patch"] == [
        {"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9100"},
        {"op": "remove", "path": "/VLAN/Vlan10"},
        {"op": "remove", "path": "/VLAN"},
    ]
    before = json.loads((folder / "leaf1.json").read_bytes())
    after = jsonpatch.apply_patch(before, found["devices"]["leaf1"]["patch"])
    assert "FEATURE" in after and "VLAN" not in after and after["PORT"]["Ethernet0"]["mtu"] == "9100"


def test_an_additional_community_on_the_switch_is_drift(old: Path, cli: Cli) -> None:
    folder = running(old, "running")
    config = json.loads((folder / "leaf1.json").read_bytes())
    config["SNMP_COMMUNITY"]["public"] = {"TYPE": "RW"}
    (folder / "leaf1.json").write_bytes(dump(config))
    outcome = cli("diff", old, folder, "--exit-code")
    assert outcome.code == 4 and "+ SNMP_COMMUNITY|***  TYPE RW" in outcome.out and "public" not in outcome.out


@pytest.mark.parametrize("fmt", ["text", "json", "markdown", "jsonpatch"])
def test_secrets_are_never_printed(fmt: str, old: Path, cli: Cli) -> None:
    def with_secrets(text: str) -> Edit:
        def edit(device: str, config: Config) -> None:
            config["TACPLUS_SERVER"] = {"10.0.0.1": {"passkey": text, "tcp_port": "49"}}
            config["NTP_KEY"] = {"1": {"type": "md5", "value": text}}
            config["SNMP_COMMUNITY"] = {text: {"TYPE": "RO"}}
            config["SNMP_USER"] = {text[-1]: {"SNMP_USER_AUTH_PASSWORD": [text]}}

        return edit

    sides = [edited(old, f"with-{text}", with_secrets(f"hunter{text}")) for text in "12"]
    for new in (sides[1], running(sides[0], "running", with_secrets("hunter3"))):
        outcome = cli("diff", sides[0], new, "--format", fmt, "--exit-code")
        assert outcome.code in (1, 4) and "hunter" not in outcome.out + outcome.err  # 1: the rows are not valid
        assert COMMUNITY not in outcome.out
    outcome = cli("diff", old, sides[0], "--format", fmt)
    assert "hunter" not in outcome.out + outcome.err


def test_other_files_of_a_bundle_count(cli: Cli, tmp_path: Path) -> None:
    for name, length in (("old", "40m"), ("new", "50m")):
        tree = explicit(cables={"leaf-spine": length})
        assert cli("render", write(tmp_path / f"i-{name}", tree), "-o", tmp_path / name, "-q").code == 0
    outcome = cli("diff", tmp_path / "old", tmp_path / "new")
    assert "~ cabling.csv  changed" in outcome.out
    assert "CABLE_LENGTH|AZURE" in outcome.out


def test_new_devices_have_no_patch(old: Path, cli: Cli) -> None:
    shutil.copytree(old, "new")
    shutil.rmtree(old / "sonic/leaf2")
    outcome = cli("diff", old, "new", "--exit-code")
    assert outcome.code == 4 and re.search(r"^\+ leaf2  new device, \d+ rows$", outcome.out, re.MULTILINE)
    assert "cost" not in outcome.out
    assert json.loads(cli("diff", old, "new", "--format", "jsonpatch").out)["devices"] == {}


def test_markdown_fits_a_comment(old: Path, cli: Cli) -> None:
    def much(device: str, config: Config) -> None:
        for number in range(600):
            config["ACL_TABLE"] = config.get("ACL_TABLE", {})
            config["ACL_TABLE"][f"{device}`{number}<b>"] = {"policy_desc": f"```{device}{number}" * 20}

    outcome = cli("diff", old, edited(old, "new", much), "--format", "markdown")
    assert len(outcome.out) < 65_536 and "groups left out; `fabricgen diff` shows all" in outcome.out
    assert outcome.out.count("````diff\n") == outcome.out.count("<details>") == outcome.out.count("</details>") > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "old"], "nowhere: no such file or folder"),
        (["old", "nowhere"], "nowhere: no such file or folder"),
        (["empty", "old"], "empty: the folder has no bundle, no config_db.json and no LLDP dump"),
        (["old", "old/sonic", "--as", "bundle"], "old/sonic: is not a bundle: it contains neither manifest.json nor"),
        (["old", "broken"], "broken/leaf1.json:1:2: not JSON"),
        (["old", "list.json"], "list.json:1:1: not a JSON object"),
        (["old", "rows"], "PORT is not an object with fields"),
        (["old", "other"], "have no common device: they belong to different fabrics (tiny, small)"),
        (["old", "topology"], "has no InfiniBand plane to compare with ibnetdiscover"),
        (["old", "old", "--as", "ibnetdiscover"], "has no InfiniBand plane to compare with ibnetdiscover"),
        (["lldp.json", "old"], "lldp.json is neither a bundle nor a config_db.json"),
        (["old", "lldp.json", "--format", "jsonpatch"], "cables cannot be patched"),
        (["old", "lldp.json", "--as", "running"], "lldp.json:1:1: the file has no table of CONFIG_DB"),
        (["old", "notes.txt"], "neither JSON nor the output of `show lldp table` or ibnetdiscover"),
    ],
)
def test_what_cannot_be_compared(arguments: list[str], said: str, old: Path, cli: Cli) -> None:
    Path("empty").mkdir()
    for folder, text in (("broken", "{,"), ("rows", '{"PORT": ["Ethernet0"]}')):
        Path(folder).mkdir()
        Path(folder, "leaf1.json").write_text(text)
    Path("list.json").write_text("[]")
    Path("notes.txt").write_text("hello")
    Path("lldp.json").write_text('{"lldp": {"interface": []}}')
    Path("topology").write_text("#\n# Topology file: generated\n#\nvendid=0x2c9\n")
    if "other" in arguments:
        cli("render", write(Path("inventory"), rail_optimized()), "-o", "other", "-q")
    outcome = cli("diff", *arguments)
    assert outcome.code == 2 and said in outcome.err and outcome.out == ""


def test_a_target_that_is_not_valid(old: Path, cli: Cli) -> None:
    """The findings are those of `validate`; no verdict is that the change can be loaded."""

    def edit(device: str, config: Config) -> None:
        config["VLAN_MEMBER"] = {"Vlan7|Ethernet999": {"tagging_mode": "untagged"}}

    new = edited(old, "not-valid", edit)
    for fmt, code in (("text", 0), ("jsonpatch", 1), ("plan", 1)):
        outcome = cli("diff", old, new, "--format", fmt)
        assert outcome.code == code and "error FG408" in outcome.err and "the target is not valid" in outcome.err
    assert "not valid" not in cli("diff", new, old, "--format", "jsonpatch").err
    outcome = cli("rehearse", old, new)
    assert outcome.code == 1 and "the target is not valid: VLAN_MEMBER" in outcome.out
