"""LLDP dumps of every form give the links that the fabric has, on every verb that judges files."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.observed.lldp import read_lldp
from fabricgen.observed.running import InputForm, form_of
from tests.conftest import Cli
from tests.inventories import explicit, write

Neighbors = dict[str, dict[str, Endpoint]]  # device -> port -> (far device, alias of the far port)


@pytest.fixture
def files(cli: Cli, tmp_path: Path) -> Path:
    """Loose files without their links."""
    assert cli("render", write(tmp_path / "inventory", explicit()), "-o", tmp_path / "b", "-q").code == 0
    folder = tmp_path / "files"
    shutil.copytree(tmp_path / "b" / "sonic", folder)
    for file in folder.glob("*/config_db.json"):
        config = json.loads(file.read_text())
        del config["DEVICE_NEIGHBOR"]
        config.pop("BGP_NEIGHBOR", None)
        config.pop("INTERFACE", None)  # subnets are a source of links, and so are descriptions
        for port in config["PORT"].values():
            port.pop("description", None)
        file.write_text(json.dumps(config, indent=4))
    return folder


def seen(tmp_path: Path) -> Neighbors:
    """The links between the switches in LLDP: the alias of the far port."""
    bundle = open_bundle([tmp_path / "b"])
    found: Neighbors = {}
    for link in bundle.switch_links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            alias = bundle.devices[far[0]].text_of("PORT", far[1], "alias")
            found.setdefault(near[0], {})[near[1]] = far[0], alias
    return found


def lldpctl(ports: dict[str, Endpoint]) -> str:
    """One neighbor is not a list; eth0 leads to the management network."""
    items = [
        {port: {"via": "LLDP", "chassis": {far: {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}},
                "port": {"id": {"type": "local", "value": alias}, "descr": "uplink"}}}
        for port, (far, alias) in [*ports.items(), ("eth0", ("oob", "1/1"))]
    ]  # fmt: skip
    return json.dumps({"lldp": {"interface": items if len(items) > 1 else items[0]}})


def lldpctl_json0(ports: dict[str, Endpoint]) -> str:
    items = [
        {"name": port, "via": "LLDP", "chassis": [{"id": [{"type": "mac", "value": "02::"}], "name": [{"value": far}]}],
         "port": [{"id": [{"type": "local", "value": alias}], "descr": [{"value": "uplink"}]}]}
        for port, (far, alias) in ports.items()
    ]  # fmt: skip
    return json.dumps({"lldp": [{"interface": items}]})


def show_lldp_table(ports: dict[str, Endpoint]) -> str:
    lines = ["Capability codes: (R) Router, (B) Bridge, (O) Other",
             f"{'LocalPort':14}{'RemoteDevice':16}{'RemotePortID':16}{'Capability':12}RemotePortDescr",
             f"{'-' * 12}  {'-' * 14}  {'-' * 14}  {'-' * 10}  {'-' * 15}"]  # fmt: skip
    lines += [f"{port:14}{far:16}{alias:16}{'BR':12}a cable" for port, (far, alias) in ports.items()]
    return "\n".join([*lines, "-" * 50, f"Total entries displayed:  {len(ports)}", ""])


def show_lldp_neighbors(ports: dict[str, Endpoint]) -> str:
    """lldpd 14ce0998, src/client/text_writer.c: txt_start, txt_data and txt_end. A description can have several
    lines."""
    rule = "-" * 79
    lines = [rule, "LLDP neighbors:", rule]
    for port, (far, alias) in ports.items():
        lines += [
            f"Interface:    {port}, via: LLDP, RID: 6, Time: 0 day, 17:03:57",
            "  Chassis:",
            "    ChassisID:    mac 50:eb:1a:f7:3b:94",
            f"    SysName:      {far}",
            "    SysDescr:     SONiC Software Version: SONiC.202505",
            "                  PortID: of another line",
            "    MgmtIP:       10.0.0.1",
            "    Capability:   Bridge, on",
            "  Port:",
            f"    PortID:       local {alias}",
            "    PortDescr:    uplink",
            "    TTL:          120",
            rule,
        ]
    return "\n".join(lines) + "\n"


def entry_table(ports: dict[str, Endpoint]) -> str:
    return json.dumps({
        f"LLDP_ENTRY_TABLE:{port}": {"type": "hash", "value": {"lldp_rem_sys_name": far, "lldp_rem_port_id": alias}}
        for port, (far, alias) in ports.items()
    })  # fmt: skip


def entry_rows(ports: dict[str, Endpoint]) -> str:
    rows = {port: {"lldp_rem_sys_name": far, "lldp_rem_port_id": alias} for port, (far, alias) in ports.items()}
    return json.dumps({"LLDP_ENTRY_TABLE": rows})


def links_of(cli: Cli, *command: object) -> int:
    outcome = cli(*command, "--format", "json", "--fail-on", "never")
    assert outcome.code == 0, outcome.err
    return int(json.loads(outcome.out)["summary"]["links"])


FORMS = [
    (lldpctl, "{}.json"),
    (lldpctl, "{}.lldp.json"),
    (lldpctl_json0, "{}/lldpctl.json"),
    (show_lldp_table, "{}.txt"),
    (show_lldp_neighbors, "{}.txt"),
    (entry_table, "{}_lldp.json"),
    (entry_rows, "{}/lldp.json"),
]


@pytest.mark.parametrize(("form", "name"), FORMS, ids=[f"{form.__name__}-{name}" for form, name in FORMS])
def test_every_form_gives_the_links(
    form: Callable[[dict[str, Endpoint]], str], name: str, cli: Cli, files: Path, tmp_path: Path
) -> None:
    neighbors = seen(tmp_path)
    for device, ports in neighbors.items():
        file = tmp_path / "lldp" / name.format(device)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(form(ports))
    count = sum(map(len, neighbors.values())) // 2
    assert count > 0 == links_of(cli, "validate", files)
    for verb in (["validate"], ["simulate", "deadlock"]):
        assert links_of(cli, *verb, files, "--lldp", tmp_path / "lldp") == count
    planned = {frozenset((link.a, link.b)) for link in open_bundle([tmp_path / "b"]).switch_links}
    found = read_lldp(tmp_path / "lldp")
    assert {a for a, _ in found} == {end for pair in planned for end in pair}


def test_one_file_for_all_switches(cli: Cli, files: Path, tmp_path: Path) -> None:
    neighbors = seen(tmp_path)
    whole = {device: json.loads(lldpctl(ports)) for device, ports in neighbors.items()}
    (tmp_path / "all.json").write_text(json.dumps(whole))
    assert links_of(cli, "validate", files, "--lldp", tmp_path / "all.json") == sum(map(len, neighbors.values())) // 2


def dumps(folder: Path, neighbors: Neighbors) -> Path:
    """A dump of each switch."""
    folder.mkdir()
    for device, ports in neighbors.items():
        (folder / f"{device}.json").write_text(lldpctl(ports))
    return folder


def test_without_a_plan_nothing_differs(cli: Cli, files: Path, tmp_path: Path) -> None:
    """LLDP makes the links, and one line says so; missing DEVICE_NEIGHBOR tables are one note."""
    lldp = dumps(tmp_path / "lldp", seen(tmp_path))
    outcome = cli("validate", files, "--lldp", lldp, "--format", "json")
    assert "the files have no links with which to compare them" in outcome.err and "differ" not in outcome.err
    found = [one for one in json.loads(outcome.out)["findings"] if one["code"] in ("FG241", "FG245", "FG242")]
    assert [(one["code"], one["severity"]) for one in found] == [("FG245", "note")]


def test_a_planned_cable_that_neither_end_sees_is_down(cli: Cli, files: Path, tmp_path: Path) -> None:
    """All simulators count it as down, and say so."""
    neighbors = seen(tmp_path)
    port, (far, alias) = next(iter(neighbors["leaf1"].items()))
    del neighbors["leaf1"][port]
    table = open_bundle([tmp_path / "b"]).devices[far].table("PORT")
    del neighbors[far][next(name for name, row in table.items() if row["alias"] == alias)]
    lldp = dumps(tmp_path / "lldp", neighbors)
    before = json.loads(cli("simulate", "deadlock", tmp_path / "b", "--format", "json").out)["deadlock"]
    outcome = cli("simulate", "deadlock", tmp_path / "b", "--lldp", lldp)
    assert "1 planned cable is not seen by LLDP and counts as down" in outcome.out
    assert "LLDP: 1 planned cable is not seen and counts as down" in outcome.err
    after = json.loads(cli("simulate", "deadlock", tmp_path / "b", "--lldp", lldp, "--format", "json").out)["deadlock"]
    assert after["covers"]["lossless_links"] == before["covers"]["lossless_links"] - 1


def test_swapped_cables_are_found_and_host_links_stay(cli: Cli, files: Path, tmp_path: Path) -> None:
    """The dump of a bundle's switches: what was planned and is not, and the links LLDP cannot see."""
    neighbors = seen(tmp_path)
    first, second = list(neighbors["leaf1"])[:2]
    one, other = neighbors["leaf1"][first], neighbors["leaf1"][second]
    aliases = {far: open_bundle([tmp_path / "b"]).devices[far].table("PORT") for far, _ in (one, other)}
    for port, (far, alias) in ((first, other), (second, one)):
        neighbors["leaf1"][port] = far, alias
        far_port = next(name for name, row in aliases[far].items() if row["alias"] == alias)
        own = open_bundle([tmp_path / "b"]).devices["leaf1"].text_of("PORT", port, "alias")
        neighbors[far][far_port] = "leaf1", own
    (tmp_path / "lldp").mkdir()
    for device, ports in neighbors.items():
        (tmp_path / "lldp" / f"{device}.json").write_text(lldpctl(ports))
    before = json.loads(cli("validate", tmp_path / "b", "--format", "json").out)["summary"]
    outcome = cli("validate", tmp_path / "b", "--lldp", tmp_path / "lldp", "--format", "json")
    after = json.loads(outcome.out)
    assert before["errors"] == 0 and after["summary"]["links"] == before["links"]
    errors = [one for one in after["findings"] if one["severity"] == "error"]
    assert outcome.code == 1 and {one["device"] for one in errors} >= {"leaf1"}


def test_a_full_name_and_a_port_without_alias(tmp_path: Path, cli: Cli) -> None:
    def device(name: str, port: dict[str, Any]) -> None:
        (tmp_path / "files").mkdir(exist_ok=True)
        config = {"DEVICE_METADATA": {"localhost": {"hostname": name}}, "PORT": {"Ethernet8": port}}
        (tmp_path / "files" / f"{name}.json").write_text(json.dumps(config))

    device("leaf1", {"alias": "etp2"})
    device("spine1", {})
    (tmp_path / "leaf1.json").write_text(lldpctl({"Ethernet8": ("spine1.example.net", "Ethernet8")}))
    assert links_of(cli, "validate", tmp_path / "files", "--lldp", tmp_path / "leaf1.json") == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ("[1]", "not an LLDP dump"),
        ('{"PORT": {}}', "not an LLDP dump"),
        ('{"lldp": {"interface": [3]}}', "unknown form"),
        ("Interface  Status", "not an LLDP dump"),
    ],
)
def test_a_file_that_is_not_a_dump_is_refused(text: str, problem: str, cli: Cli, files: Path, tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(text)
    outcome = cli("validate", files, "--lldp", tmp_path / "dump.json")
    assert outcome.code == 2 and problem in outcome.err and "dump.json" in outcome.err


def test_links_and_lldp_exclude_each_other(cli: Cli, files: Path, tmp_path: Path) -> None:
    (tmp_path / "links.json").write_text("[]")
    outcome = cli("validate", files, "--links", tmp_path / "links.json", "--lldp", tmp_path)
    assert outcome.code == 2 and "--links and --lldp" in outcome.err
    assert cli("validate", files, "--lldp", tmp_path / "nowhere").code == 2
    (tmp_path / "none").mkdir()
    assert "no LLDP dump in the folder" in cli("validate", files, "--lldp", tmp_path / "none").err


def test_neighbors_without_a_name_have_the_identifier_of_their_chassis(tmp_path: Path) -> None:
    """sonic-buildimage 18871: hosts without lldpd, whose NICs answer."""
    text = show_lldp_neighbors({"Ethernet0": ("x", "etp1"), "eth0": ("switch", "35")}).replace(
        "    SysName:      x\n", ""
    )
    (tmp_path / "leaf1.txt").write_text(text)
    assert form_of(tmp_path) is InputForm.LLDP
    assert read_lldp(tmp_path) == ((("leaf1", "Ethernet0"), ("50:eb:1a:f7:3b:94", "etp1")),)
    (tmp_path / "leaf1.txt").write_text(show_lldp_neighbors({}))
    assert read_lldp(tmp_path) == ()
