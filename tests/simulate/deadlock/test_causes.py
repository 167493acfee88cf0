"""Causes of deadlock other than converged routes: a fabric with each cause and one without it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from fabricgen.findings import Confidence, Finding, Severity
from fabricgen.simulate.deadlock import analyse_deadlock, deadlock_findings
from tests.bgp_fabric import PORT_QOS, ConfigDbs, Fabric, open_configs
from tests.simulate.deadlock.test_fabrics import clos, pods, ring

Edit = Callable[[ConfigDbs], None]


def own_asn(spine: int) -> int:
    return 65000 + spine


def judged(configs: ConfigDbs, folder: Path) -> tuple[str, dict[str, Finding]]:
    """The verdict, and the findings FG62x by code, one of each at most."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle = open_configs(configs, folder)
    results = analyse_deadlock(bundle)
    found: dict[str, Finding] = {}
    for finding in deadlock_findings(bundle, results):
        if finding.code >= "FG620":
            assert finding.location is not None
            assert finding.hint
            found.setdefault(finding.code, finding)
    return results[0].verdict, found


def edited(configs: ConfigDbs, edit: Edit) -> ConfigDbs:
    edit(configs)
    return configs


def test_loop_while_a_failure_is_not_known(tmp_path: Path) -> None:
    configs = clos(4, 2, own_asn).configs()
    for config in configs.values():
        config["PORT"] = {port: {"speed": "400000"} for port in config["DEVICE_NEIGHBOR"]}
    verdict, found = judged(configs, tmp_path / "bad")
    loop, rate = found["FG620"], found["FG624"]
    assert verdict == "free"
    assert loop.confidence is Confidence.POSSIBLE
    assert loop.count == 8, "every failure of the eight links may cause one"
    assert "s0 Ethernet4 -> l1 Ethernet0 -> s0 Ethernet4" in loop.message
    assert loop.related[0].message == "s0 Ethernet0 to l0 fails"
    assert "12.5 Gb/s" in rate.message, "2 x 400 / 64"
    verdict, found = judged(clos(4, 2).configs(), tmp_path / "good")
    assert (verdict, found) == ("free", {})


@pytest.mark.parametrize(
    ("fabric", "failures"),
    [
        (clos(8, 4, own_asn), 32),
        (pods(2, 2, 2, 2), 0),
        # FRR on this fabric: valleys after 8 of 16 failures, those of links to leaves
        (Fabric(**{**vars(pods(2, 2, 2, 2)), "asn": {
            name: 65000 + number for number, name in enumerate(pods(2, 2, 2, 2).asn)
        }}), 8),
    ],
)  # fmt: skip
def test_failures_that_may_loop(fabric: Fabric, failures: int, tmp_path: Path) -> None:
    _, found = judged(fabric.configs(), tmp_path)
    assert (found["FG620"].count if failures else found) == (failures or {})


def test_parallel_links_cause_no_loop(tmp_path: Path) -> None:
    fabric = clos(4, 2, own_asn)
    doubled = Fabric(fabric.asn, [*fabric.links, *fabric.links], fabric.prefixes)
    assert judged(doubled.configs(), tmp_path)[1] == {}


@pytest.mark.parametrize("kind", ["ToRRouter", "LeafRouter"])
def test_lenient_loop_check_above_the_leaves(tmp_path: Path, kind: str) -> None:
    fabric = clos(4, 2)
    lenient = Fabric(fabric.asn, fabric.links, fabric.prefixes, {"s1": kind}, bbr=["s1"])
    verdict, found = judged(lenient.configs(), tmp_path / "bad")
    assert verdict == "free"
    assert found["FG621"].device == "s1"
    assert found["FG621"].location is not None
    line = Path(found["FG621"].location.file).read_text().splitlines()[found["FG621"].location.line - 1]
    assert ('"status": "enabled"' if kind == "LeafRouter" else '"type": "ToRRouter"') in line
    leaves = {name: kind for name in fabric.asn if name.startswith("l")}
    below = Fabric(fabric.asn, fabric.links, fabric.prefixes, leaves, bbr=list(leaves))
    assert judged(below.configs(), tmp_path / "good")[1] == {}


def switched(configs: ConfigDbs, pairs: list[tuple[str, str]], pfc: str = "3,4") -> None:
    """A link in VLAN 10 between the switches of each pair."""
    used = dict.fromkeys(configs, 200)
    for ends in pairs:
        ports = [f"Ethernet{used[name]}" for name in ends]
        for side, name in enumerate(ends):
            used[name] += 4
            config = configs[name]
            config.setdefault("VLAN_MEMBER", {})[f"Vlan10|{ports[side]}"] = {"tagging_mode": "untagged"}
            config["DEVICE_NEIGHBOR"][ports[side]] = {"name": ends[1 - side], "port": ports[1 - side]}
            config["PORT_QOS_MAP"][ports[side]] = {**PORT_QOS, "pfc_enable": pfc}


def test_ring_of_switched_links(tmp_path: Path) -> None:
    configs = clos(3, 2).configs()
    switched(configs, [("l0", "l1"), ("l1", "l2"), ("l2", "l0")])
    _, found = judged(configs, tmp_path / "bad")
    assert "ring on priority 3" in found["FG623"].message
    assert found["FG623"].message.count("l0 ") == 2, "it ends where it begins"
    configs = clos(3, 2).configs()
    switched(configs, [("l0", "l1"), ("l1", "l2"), ("l2", "l0")], pfc="")
    assert judged(configs, tmp_path / "lossy")[1] == {}
    configs = clos(3, 2).configs()
    switched(configs, [("l0", "l1"), ("l1", "l2")])
    assert "FG623" not in judged(configs, tmp_path / "tree")[1]


def test_floods_close_a_cycle(tmp_path: Path) -> None:
    """An access switch below two leaves floods from one to the other; the gateways route up again."""
    fabric = clos(4, 2)
    asn = {**fabric.asn, "access": 65999}
    configs = Fabric(asn, fabric.links, fabric.prefixes).configs()
    switched(configs, [("l0", "access"), ("access", "l1")])
    _, found = judged(configs, tmp_path / "bad")
    assert "flooded frames close a cycle" in found["FG622"].message
    assert "access " in found["FG622"].message
    configs = Fabric(asn, fabric.links, fabric.prefixes).configs()
    switched(configs, [("l0", "access")])
    assert judged(configs, tmp_path / "good")[1] == {}


def with_host(configs: ConfigDbs, leaves: list[str], *, session: bool = True) -> None:
    """A server with a cable to each of the leaves, and a BGP session over it."""
    for number, name in enumerate(leaves):
        config, port, near, far = configs[name], "Ethernet300", f"192.0.2.{2 * number}", f"192.0.2.{2 * number + 1}"
        config["INTERFACE"].update({port: {}, f"{port}|{near}/31": {}})
        config["DEVICE_NEIGHBOR"][port] = {"name": "gpu7", "port": f"nic{number}"}
        config["DEVICE_NEIGHBOR_METADATA"] = {"gpu7": {"type": "Server"}}
        if session:
            config["BGP_NEIGHBOR"][far] = {"asn": "64800", "name": "server", "local_addr": near}


def test_host_that_may_forward(tmp_path: Path) -> None:
    configs = clos(4, 2).configs()
    with_host(configs, ["l0", "l1"])
    _, found = judged(configs, tmp_path / "bad")
    assert "host gpu7 has sessions with l0, l1" in found["FG625"].message
    for number, (leaves, session) in enumerate(((["l0"], True), (["l0", "l1"], False))):
        configs = clos(4, 2).configs()
        with_host(configs, leaves, session=session)
        assert "FG625" not in judged(configs, tmp_path / str(number))[1]


def test_lossy_hop_is_reported(tmp_path: Path) -> None:
    """One end without PFC on a priority: the link is not a channel there, and what comes in before it can be lost."""
    configs = clos(3, 2).configs()
    configs["s0"]["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3"
    _, found = judged(configs, tmp_path / "bad")
    assert "priority 4 leave through Ethernet0 to l0" in found["FG627"].message
    assert found["FG627"].device == "s0"
    assert found["FG627"].severity is Severity.WARNING


def test_tag_beyond_the_last_lossless_one(tmp_path: Path) -> None:
    """Spines raise 3 to 4 and 4 to 5, which is lossy: packets that bounced twice are reported as lost."""
    configs = clos(3, 2).configs()
    for name in ("s0", "s1"):
        configs[name]["TC_TO_QUEUE_MAP"] = {"AZURE": {**{str(tc): str(tc) for tc in range(8)}, "3": "4", "4": "5"}}
    _, found = judged(configs, tmp_path / "bad")
    assert "priority 4" in found["FG627"].message


def test_watchdog_is_a_mitigation(tmp_path: Path) -> None:
    def armed(action: str, poll: Mapping[str, str] = MappingProxyType({"POLL_INTERVAL": "200"})) -> Edit:
        def edit(configs: ConfigDbs) -> None:
            for config in configs.values():
                config["PFC_WD"] = {"GLOBAL": dict(poll)} | {
                    port: {"action": action, "detection_time": "400", "restoration_time": "400"}
                    for port in config["DEVICE_NEIGHBOR"]
                }

        return edit

    verdict, found = judged(edited(ring(5, 1).configs(), armed("drop")), tmp_path / "drop")
    assert verdict == "cyclic", "a watchdog cuts no edge"
    assert "400 to 600 ms after it freezes" in found["FG628"].message
    assert found["FG628"].severity is Severity.NOTE
    _, found = judged(edited(ring(5, 1).configs(), armed("forward", {})), tmp_path / "forward")
    assert "400 to 500 ms after it freezes" in found["FG628"].message, "SONiC polls every 100 ms by default"
    _, found = judged(edited(ring(5, 1).configs(), armed("alert")), tmp_path / "alert")
    assert "no port of the cycle has a watchdog that drops" in found["FG628"].message
    _, found = judged(edited(clos(3, 2).configs(), armed("drop")), tmp_path / "free")
    assert found == {}
