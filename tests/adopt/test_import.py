"""`import config-db`: the imported inventory renders the same files, except the listed rows."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fabricgen.adopt.adopt import adopt
from fabricgen.bundle.read import open_bundle
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.resources import resource
from tests.conftest import Cli
from tests.inventories import ARISTA, DUAL_STACK, NVIDIA, explicit, rail_optimized, write

SKU = "Arista-7060X6-64PE-O128S2"
Config = dict[str, Any]


_RENDERED: dict[tuple[bytes, ...], Path] = {}  # the files of an inventory -> a bundle that no test changes


def files_of(cli: Cli, inventory: Path, folder: Path) -> Path:
    """The files of a rendered inventory, without what only a bundle has. Equal inventories share a bundle."""
    key = tuple(file.read_bytes() for file in sorted(inventory.rglob("*")) if file.is_file())
    if key in _RENDERED:
        shutil.copytree(_RENDERED[key], folder / "bundle")
    else:
        assert cli("render", inventory, "-o", folder / "bundle", "-q").code == 0
        _RENDERED[key] = folder / "bundle"
    shutil.copytree(folder / "bundle" / "sonic", folder / "files")
    return folder / "files"


def configs(folder: Path) -> dict[str, Config]:
    return {file.parent.name: json.loads(file.read_text()) for file in folder.glob("*/config_db.json")}


def rows(config: Config) -> dict[tuple[str, str], Any]:
    """(table, key) -> row; a table that is not a mapping is one row. Secret keys are as in the list."""
    found = {}
    for table, of in config.items():
        for key, row in of.items() if isinstance(of, dict) else [("", of)]:
            found[table, "***" if table == "SNMP_COMMUNITY" and not key.startswith("${") else key] = row
    return found


def differing(files: Path, rendered: Path) -> set[tuple[str, str, str]]:
    """(device, table, key) of rows that are not the same in two folders."""
    old, new = ({name: rows(config) for name, config in configs(folder).items()} for folder in (files, rendered))
    assert old.keys() == new.keys()
    return {
        (name, *row)
        for name in old
        for row in old[name].keys() | new[name].keys()
        if old[name].get(row) != new[name].get(row)
    }


def taken_over(cli: Cli, files: Path, folder: Path) -> set[tuple[str, str, str]]:
    """Import, render, compare; the rows that differ, which are just those that are listed."""
    outcome = cli("import", "config-db", files, "-o", folder / "inventory")
    assert outcome.code == 0, outcome.err
    outcome = cli("render", folder / "inventory", "-o", folder / "again", "-q", "--locked")
    assert outcome.code == 0, outcome.out + outcome.err
    with (folder / "inventory" / "differences.csv").open() as stream:
        listed = {(row["device"], row["table"], row["key"]) for row in csv.DictReader(stream)}
    found = differing(files, folder / "again" / "sonic")
    assert found == listed
    return found


BUNDLES = {
    "quickstart": resource("inventories", "quickstart"),
    "spectrum": resource("inventories", "spectrum"),
    "superpod": resource("inventories", "superpod"),
    "border": resource("inventories", "border"),
    "dual-stack": rail_optimized(addressing=DUAL_STACK),
    "dynamic": explicit(NVIDIA),
    "unnumbered": rail_optimized(bgp="unnumbered", addressing=DUAL_STACK),
}


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_of_ours_comes_back_whole(name: str, cli: Cli, tmp_path: Path) -> None:
    inventory = BUNDLES[name]
    path = inventory if isinstance(inventory, Path) else write(tmp_path / "source", inventory)  # type: ignore[arg-type]
    files = files_of(cli, Path(str(path)), tmp_path)
    assert taken_over(cli, files, tmp_path) == set()
    if name != "spectrum":  # the largest: rendered three times as it is
        outcome = cli("check", tmp_path / "inventory", "--format", "json")
        assert outcome.code == 0, outcome.out


@pytest.mark.parametrize("keys", [{}, {"bgp": "unnumbered", "bfd": True}])
def test_timers_of_sessions_come_back_as_keys(keys: dict[str, Any], cli: Cli, tmp_path: Path) -> None:
    timers = {"bgp_timers": {"keepalive_s": 3, "hold_s": 9}}
    tree = explicit(ARISTA, addressing=DUAL_STACK, **keys, **timers)
    files = files_of(cli, write(tmp_path / "source", tree), tmp_path)
    assert taken_over(cli, files, tmp_path) == set()
    text = (tmp_path / "inventory" / "fabric.yaml").read_text()
    plane = yaml.safe_load(text)["planes"]["compute"]
    assert {key: plane[key] for key in (*keys, *timers)} == {**keys, **timers} and "holdtime" not in text


def test_quickstart_needs_no_override(cli: Cli, tmp_path: Path) -> None:
    """The numbers come back by the lock file and the design, not value by value."""
    files = files_of(cli, Path(str(BUNDLES["quickstart"])), tmp_path)
    assert cli("import", "config-db", files, "-o", tmp_path / "inventory").code == 0
    tree = yaml.safe_load((tmp_path / "inventory" / "fabric.yaml").read_text())
    assert "overrides" not in tree and len(tree["planes"]["compute"]["links"]) == 512
    base = json.loads((tmp_path / "inventory" / "base" / "compute-spine-00.json").read_text())
    assert base.keys() == {"SNMP", "SNMP_COMMUNITY"}
    assert tree["hosts"] == {"gpu": {"model": "server-1", "count": 32}} and tree["names"] == {
        "host": "{group}-{number:03}"
    }


ROUTER = {"name": "wan1", "asn": 64900, "switch": "leaf1", "port": "Ethernet384", "in": "all", "out": "all"}
NAS = {"prefix": "192.168.8.0/24", "name": "nas", "switch": "leaf2", "port": "Ethernet384"}
OUTSIDE: dict[str, Config] = {
    "filters": {
        "bgp": "unnumbered",
        "addressing": {pool: DUAL_STACK[pool] for pool in ("loopbacks", "hosts")},
        "external": [
            ROUTER | {"address": ["192.0.2.1/31", "2001:db8:9::1/127"], "in": ["0.0.0.0/0", "::/0"],
                      "out": ["10.64.0.0/10"]},
            ROUTER | {"switch": "leaf2", "port": "Ethernet388", "address": "192.0.2.9/29", "peer": "192.0.2.12",
                      "peer_port": "xe-0/0/1"},
        ],
        "static": [NAS | {"address": "192.0.2.33/31"}],
    },
    "one policy for all": {
        "external": [ROUTER | {"address": "192.0.2.1/31"}],
        "static": [NAS | {"prefix": ["192.168.8.0/24", "192.168.9.0/24"], "address": "192.0.2.33/29",
                          "next_hop": "192.0.2.36"}],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_routers_come_back_as_keys(name: str, cli: Cli, tmp_path: Path) -> None:
    """Without an override, and the verdicts on the inventory count their links."""
    given = OUTSIDE[name]
    files = files_of(cli, write(tmp_path / "source", explicit(**given)), tmp_path)
    assert taken_over(cli, files, tmp_path) == set()
    tree = yaml.safe_load((tmp_path / "inventory" / "fabric.yaml").read_text())
    plane = tree["planes"]["compute"]
    assert plane["external"] == given["external"] and plane["static"] == given["static"] and "overrides" not in tree
    judged = cli("check", tmp_path / "inventory", "--fail-on", "warning", "--ignore", "FG391")
    assert judged.code == 0, judged.out


def test_a_link_that_is_left_out_has_the_place_of_its_row(cli: Cli, tmp_path: Path) -> None:
    assert cli("render", BUNDLES["border"], "-o", tmp_path / "bundle", "-q").code == 0
    leaf = tmp_path / "bundle/sonic/compute-su00-r0-leaf/config_db.json"
    err = cli("import", "config-db", leaf, "-o", tmp_path / "inventory").err
    line = next(one for one in err.splitlines() if "FG142 link compute-spine-00:" in one)
    found = re.match(rf"{leaf}:(\d+):\d+: note FG142 link compute-spine-00:\S+ to compute-su00-r0-leaf:(\S+) ", line)
    assert found and f'"{found[2]}"' in leaf.read_text().splitlines()[int(found[1]) - 1]


def test_the_border_example_comes_back_as_keys(cli: Cli, tmp_path: Path) -> None:
    """From the bundle, too, whose fabric.json lists the routers apart from the links of the fabric."""
    assert cli("render", BUNDLES["border"], "-o", tmp_path / "bundle", "-q").code == 0
    outcome = cli("import", "config-db", tmp_path / "bundle", "-o", tmp_path / "inventory")
    assert outcome.code == 0 and "FG142" not in outcome.err
    tree = yaml.safe_load((tmp_path / "inventory" / "fabric.yaml").read_text())
    source = yaml.safe_load((Path(str(BUNDLES["border"])) / "fabric.yaml").read_text())["planes"]["compute"]
    plane = tree["planes"]["compute"]
    own = [{key: value for key, value in one.items() if key != "cable"} for one in source["external"]]
    assert plane["external"] == [own[0], own[1] | {"switch": "compute-su00-r4-leaf"}]
    assert plane["static"] == source["static"] and "overrides" not in tree
    assert plane["addressing"]["hosts"] == source["addressing"]["hosts"]


def test_a_router_that_no_key_describes_becomes_overrides(cli: Cli, tmp_path: Path) -> None:
    """Its ASN is one of the fabric."""
    files = files_of(cli, write(tmp_path / "source", explicit(**OUTSIDE["one policy for all"])), tmp_path)
    file = files / "leaf1" / "config_db.json"
    config = json.loads(file.read_text())
    config["BGP_NEIGHBOR"]["192.0.2.0"]["asn"] = config["DEVICE_METADATA"]["localhost"]["bgp_asn"]
    file.write_text(json.dumps(config, indent=4))
    assert taken_over(cli, files, tmp_path) == set()
    plane = yaml.safe_load((tmp_path / "inventory" / "fabric.yaml").read_text())["planes"]["compute"]
    assert "external" not in plane and len(plane["static"]) == 1
    outcome = cli("import", "config-db", files, "-o", tmp_path / "other")
    assert "FG143 overrides replace a router or a static route" in outcome.err


@pytest.fixture
def foreign(cli: Cli, tmp_path: Path) -> Path:
    """Two leaves and two spines as other people would have them."""
    files = files_of(cli, write(tmp_path / "source", explicit()), tmp_path)
    for name, config in configs(files).items():
        config["DEVICE_METADATA"]["localhost"] |= {"type": "LeafRouter", "deployment_id": "7"}
        config["PORT"]["Ethernet0"] |= {"mtu": "9216", "description": "lab"}
        config["BUFFER_QUEUE"] = {key: {"profile": f"[BUFFER_PROFILE|{row['profile']}]"}
                                  for key, row in config["BUFFER_QUEUE"].items()}  # fmt: skip
        config["FEATURE"] = {"telemetry": {"state": "enabled"}, "snmp": {"state": "disabled"}}
        config["VENDOR_TABLE"] = {"a*b": {"x": "1"}}
        config["TACPLUS_SERVER"] = {"10.9.9.9": {"passkey": "correct horse", "priority": 1}}
        config["SNMP_COMMUNITY"] = {"battery": {"TYPE": "RO"}, "staple": {"TYPE": "RW"}}
        config["LOOPBACK_INTERFACE"]["Loopback1"] = {}
        config["PFC_WD"].pop("GLOBAL", None)
        config["NTP"] = 7
        (files / name / "config_db.json").write_text(json.dumps(config, indent=4))
    return files


def test_a_foreign_fabric_comes_back_but_for_what_is_listed(cli: Cli, foreign: Path, tmp_path: Path) -> None:
    found = taken_over(cli, foreign, tmp_path)
    tables = {table for _, table, _ in found}
    assert tables == {"BUFFER_QUEUE", "TACPLUS_SERVER", "SNMP_COMMUNITY", "NTP"}
    again = configs(tmp_path / "again" / "sonic")["leaf1"]
    assert again["FEATURE"]["telemetry"] == {"state": "enabled"} and again["VENDOR_TABLE"] == {"a*b": {"x": "1"}}
    assert again["DEVICE_METADATA"]["localhost"]["type"] == "LeafRouter"
    assert "GLOBAL" not in again["PFC_WD"] and again["PORT"]["Ethernet0"]["mtu"] == "9216"
    assert not any(row["profile"].startswith("[") for row in again["BUFFER_QUEUE"].values())


def test_secrets_are_written_nowhere(cli: Cli, foreign: Path, tmp_path: Path) -> None:
    outcome = cli("import", "config-db", foreign, "-o", tmp_path / "inventory")
    texts = [outcome.out, outcome.err, *(f.read_text() for f in (tmp_path / "inventory").rglob("*") if f.is_file())]
    assert not any(word in text for word in ("correct horse", "battery", "staple") for text in texts)
    base = json.loads((tmp_path / "inventory" / "base" / "leaf1.json").read_text())
    assert base["TACPLUS_SERVER"]["10.9.9.9"]["passkey"] == "${secret:tacplus_server/10.9.9.9/passkey}"
    assert len(base["SNMP_COMMUNITY"]) == 2


def test_one_file_on_standard_output(cli: Cli, foreign: Path, tmp_path: Path) -> None:
    """No lock file and no base file: what they would hold is in the overrides."""
    outcome = cli("import", "config-db", foreign, "-q")
    assert outcome.code == 0 and "FG144" in outcome.err
    (tmp_path / "one.yaml").write_text(outcome.out)
    assert cli("render", tmp_path / "one.yaml", "-o", tmp_path / "again", "-q").code == 0
    different = {table for _, table, _ in differing(foreign, tmp_path / "again" / "sonic")}
    assert different <= {"BUFFER_QUEUE", "TACPLUS_SERVER", "SNMP_COMMUNITY", "NTP", "VENDOR_TABLE"}


def test_some_files_of_a_fabric(cli: Cli, tmp_path: Path) -> None:
    """A leaf alone: its uplinks lead to routers without a file."""
    files = files_of(cli, write(tmp_path / "source", explicit()), tmp_path)
    for name in ("leaf2", "spine1", "spine2"):
        shutil.rmtree(files / name)
    assert taken_over(cli, files, tmp_path) == set()


def test_switches_that_share_or_lack_numbers(cli: Cli, tmp_path: Path) -> None:
    """Numbers that were given twice, or not at all: the lock has its own, the overrides those of the files."""
    files = files_of(cli, write(tmp_path / "source", rail_optimized(4, 4, 1)), tmp_path)
    for index, (name, config) in enumerate(configs(files).items()):
        if index % 2:
            config["LOOPBACK_INTERFACE"] = {"Loopback0": {}, "Loopback0|10.0.0.1/32": {}}
            config["MGMT_INTERFACE"] = {"eth0|10.255.0.2/30": {"gwaddr": "10.255.0.1"}}
        else:
            del (
                config["LOOPBACK_INTERFACE"],
                config["MGMT_INTERFACE"],
                config["DEVICE_METADATA"]["localhost"]["bgp_asn"],
            )
        (files / name / "config_db.json").write_text(json.dumps(config, indent=4))
    assert taken_over(cli, files, tmp_path) == set()


def test_numbers_that_no_pool_gives(cli: Cli, tmp_path: Path) -> None:
    """Leaves that share an ASN, a switch with the address of the gateway, a reserved ASN: a note names each."""
    files = files_of(cli, write(tmp_path / "source", explicit()), tmp_path)
    for name, config in configs(files).items():
        config["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "65001" if name.startswith("leaf") else "4294967295"
        config["MGMT_INTERFACE"] = {f"eth0|10.255.0.{name[-1]}/24": {"gwaddr": "10.255.0.1"}}
        (files / name / "config_db.json").write_text(json.dumps(config, indent=4))
    assert taken_over(cli, files, tmp_path) == set()
    outcome = cli("import", "config-db", files, "-o", tmp_path / "again-imported")
    numbers = [line for line in outcome.err.splitlines() if "FG143" in line]
    assert any("compute/leaf/leaf2 has 65001" in line for line in numbers), outcome.err
    assert any("10.255.0.1/24" in line and "management" in line for line in numbers), outcome.err


def test_spines_with_an_asn_each(cli: Cli, tmp_path: Path) -> None:
    files = files_of(cli, write(tmp_path / "source", explicit()), tmp_path)
    own = {"spine1": "65101", "spine2": "65102"}
    for name, config in configs(files).items():
        config["DEVICE_METADATA"]["localhost"]["bgp_asn"] = own.get(
            name, config["DEVICE_METADATA"]["localhost"]["bgp_asn"]
        )
        for row in config["BGP_NEIGHBOR"].values():
            row["asn"] = own.get(row["name"], row["asn"])
        (files / name / "config_db.json").write_text(json.dumps(config, indent=4))
    assert taken_over(cli, files, tmp_path) == set()
    tree = yaml.safe_load((tmp_path / "inventory" / "fabric.yaml").read_text())
    assert "overrides" not in tree


def test_links_from_a_file_and_from_bgp(cli: Cli, tmp_path: Path) -> None:
    files = files_of(cli, write(tmp_path / "source", explicit()), tmp_path)
    links = [["leaf1|" + link.a[1], f"{link.b[0]}|{link.b[1]}"] for link in
             open_bundle([tmp_path / "bundle"]).switch_links if link.a[0] == "leaf1"]  # fmt: skip
    for name, config in configs(files).items():
        del config["DEVICE_NEIGHBOR"]
        (files / name / "config_db.json").write_text(json.dumps(config, indent=4))
    assert taken_over(cli, files, tmp_path) == set()  # by BGP peers
    (tmp_path / "links.json").write_text(json.dumps(links))
    outcome = cli("import", "config-db", files, "--links", tmp_path / "links.json", "-o", tmp_path / "linked")
    assert outcome.code == 0
    tree = yaml.safe_load((tmp_path / "linked" / "fabric.yaml").read_text())
    assert len(tree["planes"]["compute"]["links"]) == len(links)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({}, "has the 1 ports of its files, which have no PORT"),
        (
            {"VLAN": {"Vlan7": {"vlanid": "7"}}, "VLAN_MEMBER": {"Vlan7|Ethernet8": {"tagging_mode": "untagged"}}},
            "PORT",
        ),
        ({"PORT": {"Ethernet0": {"alias": "fortyGigE0/0"}, "Ethernet4": {}}}, "2 ports of its files, without lanes"),
        ({"PORT": {"Ethernet0": {"lanes": "3,4"}, "Ethernet4": {}}}, "2 ports of its files, without lanes"),
    ],
)
def test_files_that_the_switch_completes_come_in(tables: dict[str, Any], said: str, cli: Cli, tmp_path: Path) -> None:
    """docker-sonic-vs and `config load` take files without lanes or without PORT."""
    config = {"DEVICE_METADATA": {"localhost": {"hwsku": "MyLab-64x400G"}}, **tables}
    (tmp_path / "files" / "a").mkdir(parents=True)
    (tmp_path / "files" / "a" / "config_db.json").write_text(json.dumps(config))
    assert taken_over(cli, tmp_path / "files", tmp_path) == set()
    outcome = cli("import", "config-db", tmp_path / "files", "-o", tmp_path / "once-more")
    assert outcome.code == 0 and said in outcome.err and "import sonic-device" not in outcome.out


def test_an_import_has_the_release_that_has_what_the_files_have(cli: Cli, tmp_path: Path) -> None:
    """An inventory refuses rows that its release does not have (FG112)."""
    newest = {"DEVICE_METADATA": {"localhost": {"type": "LeafRouter", "has_sonic_dhcpv4_relay": "True"}}}
    versions = {"VERSIONS": {"DATABASE": {"VERSION": "version_202411_02"}}}
    for release, config in ((202605, newest), (202411, versions)):
        (tmp_path / "a.json").write_text(json.dumps(config))
        folder = tmp_path / str(release)
        assert cli("import", "config-db", tmp_path / "a.json", "-o", folder).code == 0
        assert yaml.safe_load((folder / "fabric.yaml").read_text())["sonic"]["release"] == release


def with_hwsku(files: Path, hwsku: str) -> Path:
    """All switches have another hwsku, in their neighbors' metadata, too; "" for none."""
    for name, config in configs(files).items():
        own = config["DEVICE_METADATA"]["localhost"]
        for row in (own, *config["DEVICE_NEIGHBOR_METADATA"].values()):
            if row.pop("hwsku", "") and hwsku:
                row["hwsku"] = hwsku
        (files / name / "config_db.json").write_text(json.dumps(config, indent=4))
    return files


@pytest.mark.parametrize("hwsku", ["Force10-S6000", "", "Arista-7060X6-64PE-P64"])
def test_ports_and_headroom_of_the_files_make_a_platform(hwsku: str, cli: Cli, tmp_path: Path) -> None:
    """SONiC VS has the hwsku Force10-S6000 and any ports; the catalog knows no headroom of the last one."""
    files = with_hwsku(files_of(cli, write(tmp_path / "source", explicit()), tmp_path), hwsku)
    assert taken_over(cli, files, tmp_path) == set()
    [entry] = (tmp_path / "inventory" / "platforms").glob("*.yaml")
    known = yaml.safe_load(entry.read_text())
    assert any(layout["headroom"] for layout in known["layouts"])
    plane = yaml.safe_load((tmp_path / "inventory" / "fabric.yaml").read_text())["planes"]["compute"]
    assert set(plane["lossless"]["classes"]) == {3, 4} and plane["leaf"]["platform"] == known["name"]
    if hwsku:
        assert cli("check", tmp_path / "inventory", "--fail-on", "warning").code == 0


def test_switches_with_other_ports_are_layouts_of_one_platform(cli: Cli, tmp_path: Path) -> None:
    """A spine of the lab has half of the ports."""
    files = with_hwsku(files_of(cli, write(tmp_path / "source", explicit()), tmp_path), "Force10-S6000")
    file = files / "spine1" / "config_db.json"
    config = json.loads(file.read_text())
    for port in [name for name, row in config["PORT"].items() if row.get("admin_status") != "up"][::2]:
        for table in ("PORT", "PORT_QOS_MAP", "CABLE_LENGTH"):
            for rows_of in (config[table], *config[table].values()):
                rows_of.pop(port, None)
        for table in ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PFC_WD"):
            config[table] = {key: row for key, row in config[table].items() if key.split("|")[0] != port}
    file.write_text(json.dumps(config, indent=4))
    assert taken_over(cli, files, tmp_path) == set()
    [entry] = (tmp_path / "inventory" / "platforms").glob("*.yaml")
    assert len(yaml.safe_load(entry.read_text())["layouts"]) == 2


def test_a_sku_of_the_catalog_for_switches_without_one(cli: Cli, tmp_path: Path) -> None:
    files = with_hwsku(files_of(cli, write(tmp_path / "source", explicit()), tmp_path), "")
    outcome = cli("import", "config-db", files, "-o", tmp_path / "inventory", "--hwsku", SKU)
    assert outcome.code == 0 and "FG141" not in outcome.err
    assert f"platform: {ARISTA}" in (tmp_path / "inventory" / "fabric.yaml").read_text()
    assert cli("import", "config-db", files, "--hwsku", "No-Such").code == 2


def test_standard_output_has_no_place_for_a_platform(cli: Cli, tmp_path: Path) -> None:
    files = with_hwsku(files_of(cli, write(tmp_path / "source", explicit()), tmp_path), "Force10-S6000")
    outcome = cli("import", "config-db", files)
    assert outcome.code == 1 and "give --output" in outcome.out


def test_a_platform_of_ones_own_travels_along(cli: Cli, tmp_path: Path) -> None:
    entry = tmp_path / "entry.yaml"
    catalog = Path(__file__).parents[2] / "fabricgen" / "platforms" / "catalog" / "switches" / f"{ARISTA}.yaml"
    files = files_of(cli, write(tmp_path / "source", explicit()), tmp_path)
    hwsku = configs(files)["leaf1"]["DEVICE_METADATA"]["localhost"]["hwsku"]
    entry.write_text(catalog.read_text().replace(hwsku, "MyLab-SKU").replace(ARISTA, "mylab-switch"))
    for name in configs(files):
        file = files / name / "config_db.json"
        file.write_text(file.read_text().replace(hwsku, "MyLab-SKU"))
    made = cli("import", "config-db", files, "-o", tmp_path / "made")
    assert made.code == 0 and "FG141" in made.err
    outcome = cli("import", "config-db", files, "--platform", entry, "-o", tmp_path / "inventory")
    assert outcome.code == 0, outcome.err
    assert cli("render", tmp_path / "inventory", "-o", tmp_path / "again", "-q").code == 0
    assert differing(files, tmp_path / "again" / "sonic") == set()


def test_wrong_use(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    (tmp_path / "bad.json").write_text("{")
    assert "not empty" in cli("import", "config-db", tmp_path / "bad.json", "-o", tmp_path / "full").err
    assert cli("import", "config-db", tmp_path / "bad.json").code == 2
    assert cli("import", "config-db", tmp_path / "nowhere").code == 2
    config = {"DEVICE_METADATA": {"localhost": {"hostname": "a b", "hwsku": SKU}}}
    (tmp_path / "name.json").write_text(json.dumps(config))
    assert "FG140" in cli("import", "config-db", tmp_path / "name.json").out


ODD = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
ROWS = st.dictionaries(
    st.sampled_from(["asn", "name", "port", "profile", "lanes", "3", "pfc_enable", "mtu", "gwaddr", "NULL"]),
    st.one_of(ODD, st.sampled_from(["[BUFFER_PROFILE|x]", "leaf1", "Ethernet8", "3,4", "10.0.0.1"])),
)
KEYS = st.sampled_from(
    ["Ethernet0", "Ethernet0|3-4", "Ethernet0,Ethernet4|3", "10.0.0.1", "AZURE", "GLOBAL", "|", "",
     "Loopback0|10.0.0.1/32", "Ethernet0|10.1.0.0/31", "eth0|10.2.0.1/24", "a*b", "Ethernet[0]",
     "Ethernet0|fc00::1/127"]
)  # fmt: skip
TABLES = st.sampled_from([
    "PORT", "BGP_NEIGHBOR", "PORT_QOS_MAP", "BUFFER_PG", "QUEUE", "PFC_WD", "DSCP_TO_TC_MAP", "INTERFACE", "SCHEDULER",
    "CABLE_LENGTH", "DEVICE_NEIGHBOR", "STATIC_ROUTE", "MGMT_INTERFACE", "BUFFER_PROFILE", "LOOPBACK_INTERFACE", "X",
    "SNMP_COMMUNITY", "DEVICE_NEIGHBOR_METADATA",
])  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(TABLES, st.one_of(ODD, st.dictionaries(KEYS, st.one_of(ODD, ROWS), max_size=4)), max_size=6))
@example({"PORT": {"": {}}})
@example({"BUFFER_PROFILE": {"10.0.0.1": {"3": [], "profile": "x"}}})
def test_any_file_of_a_known_switch_can_be_taken_over(
    tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any]
) -> None:
    """And each row of it comes back, or is listed: `adopt` compares with a real render."""
    folder = tmp_path_factory.mktemp("any")
    metadata = {"localhost": {"hostname": "leaf1", "hwsku": SKU}}
    (folder / "leaf1.json").write_text(json.dumps({**config, "DEVICE_METADATA": metadata}))
    adopted = adopt(open_bundle([folder / "leaf1.json"]), "any", layout_by_hwsku)
    assert adopted.files, adopted.findings
