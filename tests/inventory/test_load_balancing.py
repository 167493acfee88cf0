"""`load_balancing` of a plane: what is rendered, what is refused, and what fabric.json says."""

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.inventories import explicit, write


def rendered(cli: Cli, folder: Path, balance: object) -> tuple[Path, dict[str, object]]:
    """The bundle, and the plane of its fabric.json."""
    inventory = write(folder / "i", explicit(load_balancing=balance))
    outcome = cli("render", inventory, "--output", folder / "b")
    assert outcome.code == 0, outcome.out
    plane = json.loads((folder / "b" / "fabric.json").read_text())["planes"][0]
    return folder / "b", plane


@pytest.mark.parametrize(
    ("balance", "expected"),
    [
        ("ecmp", None),
        ({"wcmp": True}, None),
        (
            {"mode": "adaptive", "configured_by": "platform"},
            {"mode": "adaptive", "per": "packet", "flowlet_gap_ns": None},
        ),
        (
            {"mode": "adaptive", "per": "flowlet", "configured_by": "platform"},
            {"mode": "adaptive", "per": "flowlet", "flowlet_gap_ns": 256_000},
        ),
        (
            {"mode": "flowlet", "flowlet_gap_us": 100, "configured_by": "platform"},
            {"mode": "flowlet", "per": "flowlet", "flowlet_gap_ns": 100_000},
        ),
        ({"mode": "spray", "configured_by": "platform"}, {"mode": "spray", "per": "packet", "flowlet_gap_ns": None}),
    ],
)
def test_fabric_json_says_what_is_not_in_the_files(balance: object, expected: object, cli: Cli, tmp_path: Path) -> None:
    """Only weights are rendered; any other mode leaves config_db.json as it is."""
    bundle, plane = rendered(cli, tmp_path, balance)
    assert plane.get("load_balancing") == expected
    weighted = balance == {"wcmp": True}
    for file in bundle.glob("sonic/*/config_db.json"):
        assert ("wcmp_enabled" in json.dumps(json.loads(file.read_text()).get("BGP_DEVICE_GLOBAL", {}))) is weighted
    plain, _ = rendered(cli, tmp_path / "plain", "ecmp")
    same = all(
        (plain / file.relative_to(bundle)).read_bytes() == file.read_bytes()
        for file in bundle.glob("sonic/*/config_db.json")
    )
    assert same is not weighted
    assert cli("validate", bundle, "--select", "FG3,FG4").code == 0


def test_nccl_expects_packets_out_of_order_where_they_overtake_each_other(cli: Cli, tmp_path: Path) -> None:
    for mode, expected in (("spray", 1), ("flowlet", 0)):
        bundle, _ = rendered(cli, tmp_path / mode, {"mode": mode, "configured_by": "platform"})
        assert (bundle / "hosts/gpu/nccl.conf").read_text().count("NCCL_IB_ADAPTIVE_ROUTING=1") == expected


@pytest.mark.parametrize(
    ("plane", "release", "code", "at", "words"),
    [
        ({"load_balancing": "adaptive"}, 202505, "FG265", "load_balancing", "pull request 3597 is not merged"),
        ({"load_balancing": {"mode": "spray"}}, 202605, "FG265", "load_balancing.mode", "CONFIG_DB of no release"),
        ({"load_balancing": {"wcmp": True}}, 202405, "FG266", "load_balancing.wcmp", "since release 202411"),
        (
            {"load_balancing": {"wcmp": True}, "bgp": "unnumbered"},
            202505,
            "FG266",
            "load_balancing.wcmp",
            "nothing reads wcmp_enabled",
        ),
        ({"load_balancing": {"configured_by": "platform"}}, 202505, "FG105", "load_balancing.configured_by", "ECMP"),
        (
            {"load_balancing": {"mode": "spray", "per": "flowlet", "configured_by": "platform"}},
            202505,
            "FG105",
            "load_balancing.per",
            "spray has no such `per`",
        ),
        (
            {"load_balancing": {"mode": "adaptive", "flowlet_gap_us": 9, "configured_by": "platform"}},
            202505,
            "FG105",
            "load_balancing.flowlet_gap_us",
            "no flowlets",
        ),
        ({"load_balancing": "dlb"}, 202505, "FG105", "load_balancing", '"dlb"'),
        ({"load_balancing": "ecmp", "technology": "infiniband"}, 202505, "FG105", "load_balancing", "InfiniBand"),
    ],
)
def test_what_cannot_be_rendered_is_refused(
    plane: dict[str, object], release: int, code: str, at: str, words: str, cli: Cli, tmp_path: Path
) -> None:
    tree = explicit(**plane)
    tree["sonic"] = {"release": release}
    outcome = cli("check", write(tmp_path / "i", tree), "--format", "json")
    found = [one for one in json.loads(outcome.out)["findings"] if one["code"] == code]
    assert outcome.code == 1
    assert [one["path"] for one in found if words in one["message"]] == [f"planes.compute.{at}"], outcome.out
    assert all(one["hint"] for one in found)


def test_a_word_that_no_simulator_knows_is_no_way_to_spread(cli: Cli, tmp_path: Path) -> None:
    bundle, _ = rendered(cli, tmp_path, {"mode": "spray", "configured_by": "platform"})
    text = (bundle / "fabric.json").read_text()
    (bundle / "fabric.json").write_text(text.replace('"mode":"spray"', '"mode":"spry"'))
    outcome = cli("validate", bundle)
    assert outcome.code == 2 and "spry" in outcome.err
