"""A link of a bundle that fails during a run: what is lost, what it costs, and what is refused."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.report.packets import packets_lines
from fabricgen.results import FailureEffect
from fabricgen.units import counted
from fabricgen.vocabulary import BalanceMode
from tests.conftest import Cli
from tests.simulate.packets.running import edit, prepare

prepare(print)

from fabricgen.routing.fabric import read_fabric  # noqa: E402 (after the cache of its code)
from fabricgen.simulate.packets.analysis import PlaneRun, simulate_bundle  # noqa: E402
from fabricgen.simulate.packets.failed_link import FailedLink, failure_of  # noqa: E402
from fabricgen.simulate.plane.names import planes  # noqa: E402
from fabricgen.simulate.plane.reading import read_plane  # noqa: E402

LEAF, SPINE, FIRST, SECOND = "compute-su00-r0-leaf", "compute-spine-00", "Ethernet448", "Ethernet452"
LATE_NS = 1_000_000_000


def failed(
    bundle: Path,
    at_ns: int,
    converged_ns: int,
    port: str = FIRST,
    mode: BalanceMode = BalanceMode.SPRAY,
    size_bytes: int = 1 << 20,
) -> PlaneRun:
    link = FailedLink(LEAF, port, at_ns, at_ns + converged_ns)
    [one] = simulate_bundle(open_bundle([bundle]), "permutation", size_bytes, balance=mode, failed=link)
    return one


def cost(one: PlaneRun) -> FailureEffect:
    assert one.result.failure is not None
    return one.result.failure


def test_packets_are_lost_until_the_routes_change(rendered: Path) -> None:
    soon, later = failed(rendered, 5000, 1000), failed(rendered, 5000, 10_000)
    assert 0 < cost(soon).lost < cost(later).lost
    assert {loss.port for loss in later.result.lost} == {(LEAF, FIRST), (SPINE, "Ethernet0")}
    assert later.result.drops == cost(later).lost
    assert later.result.finished == len(later.result.flows)
    assert min(cost(soon).slower_flows, cost(later).slower_flows) > 0
    assert cost(later).collective_ns_before == cost(soon).collective_ns_before
    assert not any(flow.ideal_fct_ns or flow.victim for flow in later.result.flows)


def test_a_link_that_fails_as_the_run_ends_costs_nothing(rendered: Path) -> None:
    end_ns = cost(failed(rendered, 1000, 0, mode=BalanceMode.ECMP)).collective_ns_before
    assert end_ns
    one = failed(rendered, end_ns, 0, mode=BalanceMode.ECMP)
    found = cost(one)
    assert (found.lost, found.slower_flows, found.most_ns) == (0, 0, 0)
    assert one.result.collective_ns == found.collective_ns_before == end_ns
    assert one.result.reason == "paths by an ideal hash"


def test_a_link_that_fails_after_the_traffic_is_refused_and_nothing_is_written(
    rendered: Path, tmp_path: Path, cli: Cli
) -> None:
    run = ("simulate", "packets", rendered, "--pattern", "permutation", "--size", "64KiB", "--series", tmp_path / "out")
    outcome = cli(*run, "--fail", f"{LEAF}|{FIRST}@1s")
    assert outcome.code == 2
    assert f"--fail {LEAF}|{FIRST}: the traffic ends after " in outcome.err
    assert "before the link goes down at 1.00 s; give an earlier time or more bytes" in outcome.err
    assert not (tmp_path / "out").exists()


def test_of_two_parallel_links_the_given_one_fails(rendered: Path) -> None:
    for port in (FIRST, SECOND):
        scenario = failed(rendered, 1000, 0, port, size_bytes=1 << 16).made.scenario
        [failure] = scenario.failures
        assert failure.port is not None
        link = scenario.links[failure.port // 2]
        assert (LEAF, port) in ((link.a, link.a_port), (link.b, link.b_port))


def test_routes_after_the_failure_do_not_use_the_link(rendered: Path) -> None:
    scenario = failed(rendered, 1000, 0, size_bytes=1 << 16).made.scenario
    [failure] = scenario.failures
    before = {port for hops in scenario.groups.values() for port, _ in hops}
    after = {port for hops in failure.groups.values() for port, _ in hops}
    assert before - after == {failure.port, (failure.port or 0) ^ 1}


def test_a_link_that_a_flow_needs_is_refused(rendered: Path) -> None:
    bundle = open_bundle([rendered])
    [(name, switches)] = planes(bundle)
    fabric = read_fabric(bundle, switches)
    plane = read_plane(bundle, fabric, name, 3)
    failure = failure_of(bundle, fabric, plane, FailedLink(LEAF, FIRST, 0, 0))
    alone = replace(failure, after=replace(failure.after, hops=np.zeros_like(failure.after.hops)))
    [one] = simulate_bundle(bundle, "permutation", 1 << 16)
    with pytest.raises(UsageError, match=rf"--fail {LEAF}\|{FIRST}: without this link \d+ flows have no path"):
        alone.candidates(one.made.flows)


def test_the_option_of_the_command(cli: Cli, rendered: Path) -> None:
    run = ("simulate", "packets", rendered, "--pattern", "permutation", "--size", "256KiB", "--balance", "spray")
    outcome = cli(*run, "--fail", f"{LEAF}|{FIRST}@2us", "--convergence", "4us")
    assert f"{LEAF}:{FIRST} down at 2.00 us, routes without it at 6.00 us: " in outcome.out
    assert "without the failure" in outcome.out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--fail", f"{LEAF}@2us"), "is not a port and a time"),
        (("--fail", f"{LEAF}|{FIRST}@soon"), "--fail: 'soon' is not a time, for example 20us or 1.5ms"),
        (("--fail", f"{LEAF}|{FIRST}@2us", "--convergence", "2"), "--convergence: '2' is not a time"),
        (("--convergence", "2us"), "--convergence and --up are for --fail"),
        (("--fail", f"{LEAF}|Ethernet0@2us"), f"{LEAF}|Ethernet0 is not a port with a link to another switch"),
        (("--fail", f"nothing|{FIRST}@2us"), "nothing is not a switch of a RoCE plane that ring-all-reduce runs on"),
    ],
)
def test_wrong_options_are_refused(words: tuple[str, ...], problem: str, cli: Cli, rendered: Path) -> None:
    outcome = cli("simulate", "packets", rendered, *words)
    assert (outcome.code, problem in outcome.err) == (2, True), outcome.err


TRACE = {
    "flows": [{"src": f"gpu-00{one}|rail0", "dst": f"gpu-0{16 + one}|rail0", "bytes": 10_000_000} for one in range(4)]
}


def flapped(bundle: Path, folder: Path, up_ns: int | None) -> PlaneRun:
    trace = folder / "trace.json"
    trace.write_text(json.dumps(TRACE))
    down_ns, converging_ns = 100_000, 5_000
    link = FailedLink(LEAF, FIRST, down_ns, down_ns + converging_ns)
    if up_ns is not None:
        link = replace(link, up_at_ns=down_ns + up_ns, routes_back_at_ns=down_ns + up_ns + converging_ns)
    [one] = simulate_bundle(open_bundle([bundle]), f"trace:{trace}", 1, balance=BalanceMode.SPRAY, failed=link)
    return one


def test_the_bandwidth_before_during_and_after_a_flap(rendered: Path, tmp_path: Path) -> None:
    one = flapped(rendered, tmp_path, 50_000)
    phases = cost(one).phases
    assert [phase.name for phase in phases] == ["before", "without the link", "other routes", "link up", "first routes"]
    assert [phase.from_ns for phase in phases] == [0, 100_000, 105_000, 150_000, 155_000]
    assert all(phase.to_ns == after.from_ns for phase, after in pairwise(phases))
    sent = sum(phase.gbps * (phase.to_ns - phase.from_ns) / 8 for phase in phases)
    assert sent == pytest.approx(sum(flow.bytes for flow in one.result.flows), rel=0.001)
    assert phases[0].gbps > phases[1].gbps > 0
    assert (phases[0].lost, phases[0].repeated) == (0, 0)
    assert sum(phase.lost for phase in phases) == cost(one).lost > 0
    assert sum(phase.repeated for phase in phases) == one.result.retransmissions > 0
    assert sum(phase.pauses for phase in phases) == sum(frame[2] for frame in one.result.pfc_frames)


def test_pauses_of_a_flap_are_counted_by_phase(rendered: Path, tmp_path: Path) -> None:
    """An incast of senders that no mark slows down, with a small alpha."""
    bundle = tmp_path / "bundle"
    copytree(rendered, bundle)
    edit(bundle, "WRED_PROFILE", lambda _, row: row.update(ecn="ecn_none"))
    edit(bundle, "BUFFER_PROFILE", lambda key, row: key.startswith("pg_") and row.update(dynamic_th="-8"))
    [one] = simulate_bundle(
        open_bundle([bundle]), "incast", 1 << 22, balance=BalanceMode.SPRAY,
        failed=replace(FailedLink(LEAF, FIRST, 100_000, 150_000), up_at_ns=200_000, routes_back_at_ns=250_000),
    )  # fmt: skip
    paused = [phase for phase in cost(one).phases if phase.pauses]
    assert paused and all(0 < phase.paused_ports <= phase.pauses for phase in paused)
    lines = list(packets_lines(one.result))
    for phase in paused:
        [line] = [line for line in lines if line.strip().startswith(f"{phase.name}: ")]
        assert f"{counted(phase.pauses, 'pause')} at {counted(phase.paused_ports, 'port')}" in line


def test_a_link_that_comes_up_is_used_again(rendered: Path, tmp_path: Path) -> None:
    """Before the routes change, the port that is up carries packets; a link that stays down loses all of them."""
    short = replace(FailedLink(LEAF, FIRST, 5000, 60_000), up_at_ns=6000, routes_back_at_ns=61_000)
    [flap] = simulate_bundle(open_bundle([rendered]), "permutation", 1 << 20, balance=BalanceMode.SPRAY, failed=short)
    stays = failed(rendered, 5000, 55_000)
    assert 0 < cost(flap).lost < cost(stays).lost / 5
    assert [phase.name for phase in cost(flap).phases][:3] == ["before", "without the link", "link up"]
    assert flap.result.finished == len(flap.result.flows)


def test_options_of_a_flap(rendered: Path, cli: Cli) -> None:
    port = f"{LEAF}|{FIRST}"
    found = cli(
        "simulate",
        "packets",
        rendered,
        "--pattern",
        "permutation",
        "--fail",
        f"{port}@5us",
        "--convergence",
        "3us",
        "--up",
        "9us",
    )
    assert "up at 14.0 us" in found.out and "before: " in found.out and "link up: " in found.out
    wrong = [(("--up", "9us"), "--convergence and --up are for --fail"),
             (("--fail", f"{port}@5us", "--up", "0us"), "is up again at the time of its failure"),
             (("--fail", f"{port}@5us", "--up", "x"), "--up: 'x' is not a time")]  # fmt: skip
    for options, message in wrong:
        outcome = cli("simulate", "packets", rendered, *options)
        assert (outcome.code, message in outcome.err) == (2, True), outcome.err
