"""What is rendered: the platform's own port facts, sessions and routes, canonical bytes, the sources of all fields."""

import ipaddress
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.sources import read_sources
from fabricgen.bundle.write import BundleWriter
from fabricgen.platforms.catalog import switch_platform
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.sonic.dump import dump
from fabricgen.sonic.schema import check
from tests.inventories import ARISTA, DELL, DELL_LINKS, DUAL_STACK, NVIDIA, Tree, explicit, write

Config = dict[str, dict[str, dict[str, Any]]]


def render(folder: Path, tree: Tree) -> dict[str, bytes]:
    """The bundle's files but the manifest, written to `folder`/b as well."""
    plans = make_plans(write(folder / "inventory", tree))
    found = {}
    with BundleWriter(folder / "b", "f") as writer:
        for path, content in BundleContent(plans).files():
            found[path] = content
            writer.add(path, content)
        writer.commit(1, "")
    return found


def config_of(files: dict[str, bytes], device: str) -> Config:
    config: Config = json.loads(files[f"sonic/{device}/config_db.json"])
    return config


CASES = {
    "arista": explicit(ARISTA),
    "nvidia": explicit(NVIDIA),
    "dell": explicit(DELL, links=DELL_LINKS),
    "dual": explicit(addressing=DUAL_STACK),
    "bare": {key: value for key, value in explicit().items() if key != "management"},
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def get(case: str) -> tuple[Path, dict[str, bytes]]:
        folder = tmp_path_factory.mktemp(case)
        return folder / "b", render(folder, CASES[case])

    return get


@pytest.mark.parametrize("case", CASES)
def test_the_schema_accepts_every_file(case: str, rendered: Any) -> None:
    for path, content in rendered(case)[1].items():
        if path.startswith("sonic/"):
            assert check(json.loads(content)) == [], path


@pytest.mark.parametrize("case", CASES)
def test_bytes_are_canonical(case: str, rendered: Any) -> None:
    for path, content in rendered(case)[1].items():
        if path.startswith("sonic/"):
            assert dump(json.loads(content)) == content
            assert content.isascii() and not content.endswith(b"\n") and b"\n    " in content


@pytest.mark.parametrize(("case", "platform"), [("arista", ARISTA), ("nvidia", NVIDIA), ("dell", DELL)])
def test_ports_are_the_platforms_own(case: str, platform: str, rendered: Any) -> None:
    model = switch_platform(platform)
    assert model
    layout = model.layouts[0]
    for device in ("leaf1", "spine1"):
        config = config_of(rendered(case)[1], device)
        assert list(config["PORT"]) == [port.name for port in layout.ports]
        for port in layout.ports:
            row = config["PORT"][port.name]
            assert row["lanes"] == ",".join(map(str, port.lanes))
            assert row["alias"] == port.alias and row["index"] == str(port.index)
            assert row["speed"] == str(port.speed_mbps) and row["subport"] == str(port.subport)
            assert row.get("fec", "") == port.fec
            wired = port.name in config["DEVICE_NEIGHBOR"]
            assert row["admin_status"] == ("up" if wired else "down") and ("description" in row) is wired
        metadata = config["DEVICE_METADATA"]["localhost"]
        assert (metadata["hwsku"], metadata["platform"]) == (layout.hwsku, model.onie_platform)
        assert metadata["buffer_model"] == model.buffer_model and metadata["hostname"] == device
        assert metadata["type"] == {"leaf1": "ToRRouter", "spine1": "LeafRouter"}[device]


@pytest.mark.parametrize("case", ["arista", "nvidia", "dell", "dual"])
def test_both_ends_of_every_session_agree(case: str, rendered: Any) -> None:
    files = rendered(case)[1]
    configs = {path.split("/")[1]: config_of(files, path.split("/")[1]) for path in files if path.startswith("sonic/")}
    families = []
    for name, config in configs.items():
        own = config["DEVICE_METADATA"]["localhost"]
        addresses = {key.split("|")[1].split("/")[0] for key in config["INTERFACE"] if "|" in key}
        for peer, row in config["BGP_NEIGHBOR"].items():
            far = configs[row["name"]]
            assert row["local_addr"] in addresses
            back = far["BGP_NEIGHBOR"][row["local_addr"]]
            assert (back["local_addr"], back["name"], back["asn"]) == (peer, name, own["bgp_asn"])
            assert row["asn"] == far["DEVICE_METADATA"]["localhost"]["bgp_asn"] != own["bgp_asn"]
            families.append(ipaddress.ip_address(peer).version)
    assert {family: families.count(family) for family in set(families)} == ({4: 8, 6: 8} if case == "dual" else {4: 8})


@pytest.mark.parametrize("case", ["arista", "dual"])
def test_every_host_prefix_is_announced_by_its_leaf(case: str, rendered: Any) -> None:
    files = rendered(case)[1]
    for leaf in ("leaf1", "leaf2"):
        config = config_of(files, leaf)
        announced = [ipaddress.ip_network(key.split("|")[1]) for key in config["STATIC_ROUTE"]]
        assert all(row == {"blackhole": "true", "advertise": "true"} for row in config["STATIC_ROUTE"].values())
        hosts = [key.split("|")[1] for key in config["INTERFACE"] if key.startswith("Ethernet0|")]
        for text in hosts:
            network = ipaddress.ip_interface(text).network
            assert any(network.version == each.version and network.subnet_of(each) for each in announced)
    assert "STATIC_ROUTE" not in config_of(files, "spine1")


def test_traditional_and_dynamic_buffers(rendered: Any) -> None:
    traditional, dynamic = (config_of(rendered(case)[1], "leaf1") for case in ("arista", "nvidia"))
    assert traditional["BUFFER_PG"]["Ethernet256|3-4"] == {"profile": "pg_lossless_400000_40m_profile"}
    assert traditional["BUFFER_PG"]["Ethernet0|3-4"] == {"profile": "pg_lossless_400000_5m_profile"}
    assert int(traditional["BUFFER_PROFILE"]["pg_lossless_400000_40m_profile"]["xoff"]) > 0
    assert "DEFAULT_LOSSLESS_BUFFER_PARAMETER" not in traditional
    assert dynamic["BUFFER_PG"]["Ethernet256|3-4"] == {"profile": "NULL"}
    assert not any(name.startswith("pg_lossless_") and "_profile" in name and name != "pg_lossless_profile"
                   for name in dynamic["BUFFER_PROFILE"])  # fmt: skip
    assert dynamic["CABLE_LENGTH"]["AZURE"]["Ethernet256"] == "40m"
    assert dynamic["LOSSLESS_TRAFFIC_PATTERN"]["AZURE"]["mtu"] == "4192"


def test_secrets_are_placeholders(rendered: Any) -> None:
    config = config_of(rendered("arista")[1], "leaf1")
    assert config["SNMP_COMMUNITY"] == {"${secret:snmp/read}": {"TYPE": "RO"}}


def test_nothing_is_rendered_of_a_management_that_is_not_there(rendered: Any) -> None:
    config = config_of(rendered("bare")[1], "leaf1")
    assert not {"MGMT_PORT", "MGMT_INTERFACE", "NTP", "SYSLOG_SERVER", "SNMP"} & set(config)


@pytest.mark.parametrize("case", ["arista", "nvidia", "dual"])
@pytest.mark.parametrize("device", ["leaf1", "spine2"])
def test_every_field_has_its_row_in_the_source_map(case: str, device: str, rendered: Any) -> None:
    folder, files = rendered(case)
    sources = read_sources(folder)
    assert sources
    without = set()
    for table, rows in config_of(files, device).items():
        for key, row in rows.items():
            for name, value in row.items():
                explanation = sources.explain(device, table, key, name)
                assert explanation is not None, f"{table}|{key}|{name}"
                if not any(origin.inventory or origin.platform or origin.steps for origin in explanation.origins):
                    without.add((table, name, str(value)))
    # what has no origin is a word of the template itself, the same for every switch
    assert len({value for _, _, value in without}) <= 20
    numbers = ("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "CABLE_LENGTH", "PORT", "BGP_NEIGHBOR", "WRED_PROFILE")
    assert not {table for table, _, _ in without} & {*numbers, "DSCP_TO_TC_MAP"}


def test_origins_lead_to_the_inventory_and_to_the_sku(rendered: Any) -> None:
    folder, _ = rendered("arista")
    sources = read_sources(folder)
    assert sources

    def origins(table: str, key: str, name: str) -> list[str]:
        explanation = sources.explain("leaf1", table, key, name)
        assert explanation
        return [place for origin in explanation.origins for place in (origin.inventory, origin.platform) if place]

    assert origins("PORT", "Ethernet0", "mtu") == ["fabric.yaml#planes.compute.mtu"]
    assert origins("DSCP_TO_TC_MAP", "AZURE", "26")[0].startswith("fabric.yaml#planes.compute.lossless")
    cable, table = origins("BUFFER_PROFILE", "pg_lossless_400000_40m_profile", "xoff")
    assert cable.startswith("fabric.yaml#planes.compute.cables") and "pg_profile_lookup.ini" in table


def test_sources_do_not_move_with_lines(rendered: Any, tmp_path: Path) -> None:
    tree = CASES["arista"]
    folder = write(tmp_path / "inventory", tree)
    file = folder / "fabric.yaml"
    file.write_text("# a remark\n\n" + file.read_text())
    found = dict(BundleContent(make_plans(folder)).files())
    assert found == rendered("arista")[1]


def test_cabling_shows_both_ends_and_the_true_length(tmp_path: Path) -> None:
    tree = explicit(cables={"host-leaf": "2m", "leaf-spine": {"length": "30m", "medium": "smf"}})
    tree["devices"] = [{"name": "leaf1", "rack": "A1", "unit": 40}]
    lines = render(tmp_path, tree)["cabling.csv"].decode().splitlines()
    assert lines[0].startswith("cable,plane,kind,a_device,a_ports,a_rack,a_unit,b_device,b_ports")
    assert "compute/gpu/0" not in lines[1]
    rows = [line.split(",")[1:] for line in lines[1:]]
    assert [
        "compute",
        "host-leaf",
        "gpu-000",
        "rail0",
        "",
        "",
        "leaf1",
        "Ethernet0",
        "A1",
        "40",
        "2m",
        "dac",
        "400G",
    ] in rows
    assert any(row[1] == "leaf-spine" and row[-3:] == ["30m", "smf", "400G"] for row in rows)
    assert len(rows) == 6
