"""Address tables of switches: each form gives the same faults, and what no entry shows is said."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.main import main
from tests.conftest import Cli
from tests.inventories import rail_optimized, write

Rows = dict[str, str]  # address -> port


def mac(address: str) -> str:
    return "02:00:" + ":".join(f"{int(part):02x}" for part in address.split("."))


def show_arp(rows: Rows) -> str:
    """sonic-utilities scripts/nbrshow."""
    head = "Address       MacAddress         Iface        Vlan\n------------  -----------------  -----------  ------\n"
    lines = "".join(f"{address:<12}  {mac(address)}  {port:<11}  -\n" for address, port in rows.items())
    return f"{head}{lines}Total number of entries {len(rows)} \n"


def ip_neigh(rows: Rows) -> str:
    """iproute2, with an address that does not answer."""
    lines = [f"{address} dev {port} lladdr {mac(address)} REACHABLE" for address, port in rows.items()]
    return "\n".join(
        [*lines, "10.64.0.99 dev Ethernet0 FAILED", "fe80::1 dev Ethernet0 lladdr 02:00:00:00:00:01 STALE"]
    )


def ip_neigh_json(rows: Rows) -> str:
    found = [
        {"dst": address, "dev": port, "lladdr": mac(address), "state": ["STALE"]} for address, port in rows.items()
    ]
    return json.dumps([*found, {"dst": "10.64.0.99", "dev": "Ethernet0", "state": ["FAILED"]}])


def neigh_table(rows: Rows) -> str:
    """APPL_DB, as redis-dump writes it."""
    return json.dumps(
        {
            f"NEIGH_TABLE:{port}:{address}": {"type": "hash", "value": {"neigh": mac(address), "family": "IPv4"}}
            for address, port in rows.items()
        }
    )


FORMS: list[tuple[Callable[[Rows], str], str]] = [
    (show_arp, "{}.txt"), (show_arp, "{}/arp.txt"), (ip_neigh, "{}_ip_neigh.txt"), (ip_neigh_json, "{}.json"),
    (neigh_table, "{}/neigh_table.json"),
]  # fmt: skip


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("neighbors")
    words = ["render", str(write(folder / "i", rail_optimized())), "-o", str(folder / "b"), "-q"]
    assert CliRunner().invoke(main, words, standalone_mode=False).exception is None
    return folder / "b"


def answers(bundle: Path) -> dict[str, Rows]:
    """Switch -> the addresses of all hosts at their planned ports."""
    opened = open_bundle([bundle])
    assert opened.wiring
    nics = {(host.name, nic.name): nic.addresses for host in opened.wiring.hosts for nic in host.nics}
    found: dict[str, Rows] = {}
    for link in opened.wiring.links:
        for address in nics.get(link.a, ()):
            found.setdefault(link.b[0], {})[address.partition("/")[0]] = link.b[1]
    return found


def tables(folder: Path, rows: dict[str, Rows], form: Callable[[Rows], str] = show_arp, name: str = "{}.txt") -> Path:
    for device, given in rows.items():
        file = folder / name.format(device)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(form(given))
    return folder


def swapped(rows: dict[str, Rows]) -> tuple[str, str, str]:
    """Exchange the ports of two hosts at one switch: (switch, port, port)."""
    device = min(rows)
    first, second, *_ = rows[device]
    one, other = rows[device][first], rows[device][second]
    rows[device] |= {first: other, second: one}
    return device, one, other


def judged(cli: Cli, *arguments: object) -> list[dict[str, object]]:
    found = json.loads(cli("validate", *arguments, "--format", "json").out)["findings"]
    return [one for one in found if one["code"] in ("FG260", "FG261", "FG327", "FG330")]


@pytest.mark.parametrize(("form", "name"), FORMS, ids=[f"{form.__name__}-{name}" for form, name in FORMS])
def test_every_form_shows_the_swapped_hosts(
    form: Callable[[Rows], str], name: str, bundle: Path, tmp_path: Path, cli: Cli
) -> None:
    rows = answers(bundle)
    assert judged(cli, bundle, "--neighbors", tables(tmp_path / "right", rows, form, name)) == []
    device, one, other = swapped(rows)
    (found,) = judged(cli, bundle, "--neighbors", tables(tmp_path / "wrong", rows, form, name))
    assert (found["code"], found["severity"]) == ("FG327", "error")
    assert f"answers at {device} {one}" in str(found["message"]) and f"answers at {device} {other}" in str(
        found["message"]
    )
    assert str(found["hint"]).startswith("move the cable at ")


def test_a_table_of_mac_addresses_finds_the_port_of_a_vlan(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    """`show arp` names a VLAN, and `show mac` the port."""
    rows = answers(bundle)
    device, one, _ = swapped(rows)
    folder = tables(tmp_path, {name: dict.fromkeys(given, "Vlan10") for name, given in rows.items()}, name="{}/arp.txt")
    for name, given in rows.items():
        lines = [
            f"{number:>5}  {10:>6}  {mac(address).upper()}  {port:<11}  Dynamic"
            for number, (address, port) in enumerate(given.items(), 1)
        ]
        head = "  No.    Vlan  MacAddress         Port         Type\n"
        head += "-----  ------  -----------------  -----------  -------\n"
        (folder / name / "mac.txt").write_text(head + "\n".join(lines) + f"\nTotal number of entries {len(given)}\n")
    (found,) = judged(cli, bundle, "--neighbors", folder)
    assert found["code"] == "FG327" and f"answers at {device} {one}" in str(found["message"])


def test_what_no_entry_shows_is_said(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    rows = answers(bundle)
    device = min(rows)
    total = sum(map(len, rows.values()))
    address = next(iter(rows[device]))
    del rows[device][address]
    rows[device]["10.64.0.254"] = "Ethernet0"
    outcome = cli("validate", bundle, "--neighbors", tables(tmp_path, rows))
    assert (
        outcome.code == 0
        and f"{total - 1} of {total} ports of hosts are judged by addresses; 1 has no entry" in outcome.err
    )
    assert "FG330" in outcome.out and "1 port of a host has no entry, so the cables are not judged" in outcome.out


def test_lldp_and_addresses_are_one_list_of_cables(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    """A cable between switches by LLDP, two of hosts by addresses: the page has both orders."""
    opened = open_bundle([bundle])
    lldp: dict[str, dict[str, tuple[str, str]]] = {}
    for link in opened.switch_links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            lldp.setdefault(near[0], {})[near[1]] = far
    missing = opened.switch_links[0]
    del lldp[missing.a[0]][missing.a[1]], lldp[missing.b[0]][missing.b[1]]
    (tmp_path / "lldp").mkdir()
    for name, ports in lldp.items():
        table = {port: {"lldp_rem_sys_name": far, "lldp_rem_port_id": at} for port, (far, at) in ports.items()}
        (tmp_path / "lldp" / f"{name}.json").write_text(json.dumps({"LLDP_ENTRY_TABLE": table}))
    rows = answers(bundle)
    swapped(rows)
    both = ("--lldp", tmp_path / "lldp", "--neighbors", tables(tmp_path / "arp", rows))
    assert sorted(str(one["code"]) for one in judged(cli, bundle, *both)) == ["FG260", "FG327"]
    page = tmp_path / "page.json"
    cli("report", bundle, *both, "--format", "json", "--output", page)
    cables = json.loads(page.read_text())["report"]["cables"]
    assert [order["kind"] for order in cables["orders"]] == ["swapped", "missing"]
    assert cables["summary"] == "2 cables swapped, 1 not seen"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not an address table"),
        ("{}", "not an address table"),
        ("{", "not JSON"),
        ('{"NEIGH_TABLE": 3}', "unknown form"),
        ("Ethernet0 up\n", "not an address table"),
        ("x dev Ethernet0 lladdr 02:00:00:00:00:01 STALE\n", "unknown form"),
        ("10.99.0.1 dev Ethernet0 lladdr 02:00:00:00:00:01 STALE\n", "no table has a planned address of a host"),
    ],
)
def test_with_nothing_to_judge_it_does_not_pass(
    content: str, message: str, bundle: Path, tmp_path: Path, cli: Cli
) -> None:
    device = min(answers(bundle))
    (tmp_path / f"{device}.{'json' if content.startswith('{') else 'txt'}").write_text(content)
    outcome = cli("validate", bundle, "--neighbors", tmp_path)
    assert outcome.code == 2 and message in outcome.err + outcome.out


def test_other_inputs_are_refused(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    assert "no such file" in cli("validate", bundle, "--neighbors", tmp_path / "none").err
    assert "no address table in the folder" in cli("validate", bundle, "--neighbors", tmp_path).err
    (tmp_path / "other.txt").write_text(show_arp({"10.64.0.1": "Ethernet0"}))
    assert "no table belongs to a judged switch" in cli("validate", bundle, "--neighbors", tmp_path).err
    (tmp_path / "links.json").write_text("[]")
    both = cli("validate", bundle, "--links", tmp_path / "links.json", "--neighbors", tmp_path)
    assert both.code == 2 and "--links and --neighbors" in both.err
    folder = bundle / "sonic"
    assert "no fabric.json with addresses of hosts" in cli("validate", folder, "--neighbors", tmp_path).err
