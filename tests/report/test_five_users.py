"""What to fix first, for five users with four broken reports each: the first line of `validate` or `check`, and the
first card of the page, name what was broken."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fabricgen.cli.main import run
from tests.conftest import Cli
from tests.diff.test_cables import Seen, as_planned, dump
from tests.hostile.payloads import edit
from tests.inventories import ADDRESSING, Tree, rail_optimized, write

Config = dict[str, Any]
LEAF, OTHER_LEAF, THIRD_LEAF = (f"compute-su00-r{rail}-leaf" for rail in (1, 2, 3))
SPINE = "compute-spine-00"


@dataclass(frozen=True)
class Report:
    """A broken report: the code of its cause, and what is broken: rows of a switch, a file of hosts, the cables that
    LLDP shows, or the inventory."""

    code: str
    at: str = ""
    rows: Callable[[Config], object] | None = None
    words: tuple[str, str] = ("", "")
    cables: Callable[[Seen], object] | None = None
    inventory: Callable[[Tree], object] | None = None


def _of(table: str, key: str = "", **fields: str) -> Callable[[Config], object]:
    """Sets fields of a row: the one that starts with `key`."""

    def change(config: Config) -> None:
        config[table][next(one for one in config[table] if one.startswith(key))].update(fields)

    return change


def _uplink(config: Config) -> str:
    """The first port to a spine."""
    return next(str(port) for port, row in config["DEVICE_NEIGHBOR"].items() if "spine" in row["name"])


def _renamed_subnet(config: Config) -> None:
    port = _uplink(config)
    old = next(key for key in config["INTERFACE"] if key.startswith(f"{port}|"))
    config["INTERFACE"][f"{port}|10.99.0.1/31"] = config["INTERFACE"].pop(old)


def _swap(seen: Seen) -> None:
    """Exchanges the cables of the first uplinks of two leaves, at both ends."""
    port = next(port for port, (far, _) in seen[LEAF].items() if far == SPINE)
    other = next(port for port, (far, _) in seen[OTHER_LEAF].items() if far == SPINE)
    seen[LEAF][port], seen[OTHER_LEAF][other] = seen[OTHER_LEAF][other], seen[LEAF][port]
    one = next(near for near, (far, _) in seen[SPINE].items() if far == LEAF)
    two = next(near for near, (far, _) in seen[SPINE].items() if far == OTHER_LEAF)
    seen[SPINE][one], seen[SPINE][two] = seen[SPINE][two], seen[SPINE][one]


def _unplug(seen: Seen) -> None:
    port = next(port for port, (far, _) in seen[THIRD_LEAF].items() if far == SPINE)
    del seen[THIRD_LEAF][port], seen[SPINE][next(near for near, (far, _) in seen[SPINE].items() if far == THIRD_LEAF)]


def _plane(**values: Any) -> Callable[[Tree], object]:
    return lambda tree: tree["planes"]["compute"].update(values)


_SMALL_LEAF = {"platform": "generic-64x400g"}
_SMALL_POOL = {**ADDRESSING, "links": "10.128.0.0/29"}

USERS: dict[str, dict[str, Report]] = {
    "reviewer of a merge": {
        "the ASN of a spine": Report("FG331", SPINE, _of("DEVICE_METADATA", bgp_asn="4200000500")),
        "a session that is gone": Report("FG332", LEAF, lambda config: config["BGP_NEIGHBOR"].popitem()),
        "PFC on one priority": Report("FG513", LEAF, _of("PORT_QOS_MAP", "Ethernet", pfc_enable="3")),
        "too little headroom": Report("FG524", OTHER_LEAF, _of("BUFFER_PROFILE", "pg_lossless", xoff="1000")),
    },
    "technician of cables": {
        "swapped cables": Report("FG261", cables=_swap),
        "an unplugged cable": Report("FG260", cables=_unplug),
        "a breakout mode": Report("FG236", SPINE, _of("BREAKOUT_CFG", "Ethernet0", brkout_mode="1x800G[400G]")),
        "FEC at one end": Report("FG235", LEAF, lambda config: config["PORT"][_uplink(config)].update(fec="none")),
    },
    "operator of BGP": {
        "the ASN of a peer": Report("FG333", LEAF, _of("BGP_NEIGHBOR", asn="65999")),
        "two subnets on a link": Report("FG312", OTHER_LEAF, _renamed_subnet),
        "no loopback": Report("FG314", THIRD_LEAF, lambda config: config["LOOPBACK_INTERFACE"].clear()),
        "another local address": Report("FG335", SPINE, _of("BGP_NEIGHBOR", local_addr="10.99.9.9")),
    },
    "planner of capacity": {
        "more hosts than ports": Report("FG201", inventory=_plane(scalable_unit={"hosts": 200}, leaf=_SMALL_LEAF)),
        "an unknown speed": Report("FG105", inventory=_plane(speed="fast")),
        "a cable that is too long": Report("FG581", inventory=_plane(cables={"leaf-spine": "3km"})),
        "a pool that is too small": Report("FG381", inventory=_plane(addressing=_SMALL_POOL)),
    },
    "administrator of hosts": {
        "the traffic class of NCCL": Report("FG904", "nccl.conf", words=("NCCL_IB_TC=106", "NCCL_IB_TC=96")),
        "no PFC on the NICs": Report("FG903", "roce/compute.conf", words=("PFC=0,0,0,1,1,", "PFC=0,0,0,0,0,")),
        "a small MTU": Report("FG906", "netplan/gpu-001.yaml", words=("mtu: 9100", "mtu: 1500")),
        "another address": Report("FG908", "netplan/gpu-001.yaml", words=("10.64.0.3/31", "10.99.0.3/31")),
    },
}
ALONE = [(user, name) for user, reports in USERS.items() for name in reports]
PAIRS = [
    (user, *names)
    for user, reports in USERS.items()
    for names in zip(list(reports)[::2], list(reports)[1::2], strict=True)
]


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight leaves, a spine and four hosts. Do not change it."""
    folder = tmp_path_factory.mktemp("fabric")
    with pytest.raises(SystemExit):
        run(["-q", "render", str(write(folder / "inventory", _tree())), "--output", str(folder / "bundle")])
    return folder / "bundle"


def _tree() -> Tree:
    return rail_optimized(hosts=4, planned=1)


def broken(fabric: Path, reports: list[Report], folder: Path) -> list[object]:
    """The arguments of the verbs that judge what is broken so."""
    if any(one.inventory for one in reports):
        tree = _tree()
        for one in reports:
            assert one.inventory
            one.inventory(tree)
        return [write(folder / "inventory", tree)]
    bundle = Path(shutil.copytree(fabric, folder / "bundle"))
    seen = as_planned(bundle)
    for one in reports:
        if one.rows:
            edit(bundle / "sonic" / one.at / "config_db.json", _in_place(one.rows))
        elif one.cables:
            one.cables(seen)
        else:
            file = bundle / "hosts" / "gpu" / one.at
            text = file.read_text()
            assert one.words[0] in text, text
            file.write_text(text.replace(*one.words))
    cables = ["--lldp", dump(seen)] if any(one.cables for one in reports) else []
    return [bundle, *cables]


def _in_place(change: Callable[[Config], object]) -> Callable[[Config], None]:
    def edited(config: Config) -> None:
        change(config)

    return edited


def first_named(text: str) -> str:
    """The first line about a finding."""
    lines = [line for line in text.splitlines() if line.startswith("cause 1: ") or ("  error FG" in line)]
    assert lines, text
    return lines[0]


@pytest.mark.parametrize(("user", "name"), ALONE)
def test_the_first_line_and_the_first_card_name_the_cause(
    user: str, name: str, fabric: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = USERS[user][name]
    arguments = broken(fabric, [one], tmp_path)
    outcome = cli("check" if one.inventory else "validate", *arguments)
    assert outcome.code == 1 and outcome.out.startswith("failed: "), outcome.out
    assert one.code in first_named(outcome.out), outcome.out
    page = tmp_path / "page.json"
    assert cli("report", *arguments, "--failures", "0", "--format", "json", "-o", page).code == 1
    content = json.loads(page.read_text())["report"]
    card = content["findings"][content["causes"]["rows"][0]["finding"]]
    assert card["code"] == one.code, content["causes"]
    assert any(card["code"] in reason for reason in content["verdict"]["reasons"])


@pytest.mark.parametrize(("user", "one", "other"), PAIRS)
def test_of_two_the_first_line_names_one_and_both_are_named(
    user: str, one: str, other: str, fabric: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reports = [USERS[user][name] for name in (one, other)]
    verb = "check" if reports[0].inventory else "validate"
    text = cli(verb, *broken(fabric, reports, tmp_path)).out
    assert any(each.code in first_named(text) for each in reports), text
    named = [line for line in text.splitlines() if line.startswith("cause ") or "  error FG" in line]
    if "an unknown speed" not in (one, other):  # nothing is designed before it is corrected
        assert all(any(each.code in line for line in named) for each in reports), text
