"""Load balancing of the planes of a bundle: what fabric.json says, what the adapters do, and what the verdict names."""

import json
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import open_bundle
from fabricgen.vocabulary import BalanceMode
from tests.conftest import Cli
from tests.simulate.packets.running import prepare, star
from tests.simulate.packets.test_scenario_file import written

prepare(print)

from fabricgen.simulate.packets.analysis import PlaneRun, simulate_bundle  # noqa: E402 (after the cache of its code)


def permuted(bundle: Path, balance: BalanceMode | None = None, size_bytes: int = 1 << 20) -> PlaneRun:
    [one] = simulate_bundle(open_bundle([bundle]), "permutation", size_bytes, balance=balance)
    return one


def stated(bundle: Path, nic: str = "", **balance: Any) -> Path:
    """The bundle with the load balancing of its plane, and another model of its NICs."""
    file = bundle / "fabric.json"
    tree = json.loads(file.read_text())
    tree["planes"][0]["load_balancing"] = balance
    for model in tree["host_models"] if nic else ():
        for one in model["nics"]:
            one["model"] = nic
    file.write_text(json.dumps(tree))
    return bundle


def test_packets_that_spread_do_not_collide(rendered: Path) -> None:
    """A permutation of hosts over tiers without oversubscription: line rate, where hashed flows collide."""
    hashed, sprayed = permuted(rendered), permuted(rendered, BalanceMode.SPRAY)
    assert hashed.result.reason == ""
    assert sprayed.result.finished == len(hashed.result.flows)
    assert sprayed.result.reason == (
        "load balancing spray, per packet; recovery: ConnectX-7 in-order-placement, if set at each boot"
    )
    assert 5 * (sprayed.result.percentiles[1] or 0) < (hashed.result.percentiles[1] or 0)
    assert not any(flow.ideal_fct_ns for flow in sprayed.result.flows)


def test_the_plane_says_how_it_spreads(bundle: Path) -> None:
    """And an option replaces it."""
    stated(bundle, mode="adaptive", per="flowlet", flowlet_gap_ns=2000)
    one = permuted(bundle, size_bytes=1 << 16)
    made = one.made.scenario
    assert (made.balance.mode, made.balance.by_flowlet, made.balance.flowlet_gap_ns) == ("adaptive", True, 2000)
    assert "load balancing adaptive, per flowlet, gap 2 us" in one.result.reason
    assert permuted(bundle, BalanceMode.ECMP, size_bytes=1 << 16).made.scenario.is_spread is False


def test_unknown_adapters_go_back_and_the_verdict_says_so(bundle: Path) -> None:
    stated(bundle, nic="unlisted", mode="spray", per="packet")
    one = permuted(bundle)
    assert "recovery: unlisted go-back-n, assumed" in one.result.reason
    assert one.result.drops == 0 < one.result.retransmissions
    known = permuted(stated(bundle, nic="ConnectX-7", mode="spray", per="packet"))
    assert known.result.retransmissions == 0
    assert (one.result.percentiles[1] or 0) > 5 * (known.result.percentiles[1] or 0)


def test_the_option_of_the_command(cli: Cli, rendered: Path, tmp_path: Path) -> None:
    run = ("simulate", "packets", str(rendered), "--pattern", "permutation", "--balance", "adaptive")
    assert "load balancing adaptive, per packet; recovery: ConnectX-7 in-order-placement" in cli(*run).out
    file = str(written(tmp_path, star(2)))
    outcome = cli("simulate", "packets", "--scenario", file, "--balance", "spray", "--format", "json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["packets"]["balance"] == "spray"
    outcome = cli("simulate", "packets", "--scenario", file, "--balance", "spray", "--compat", "hpcc")
    assert outcome.code == 2
    assert "one path for each flow" in outcome.err
