"""Plans: their patches lead to the new configuration, in an order that keeps the fabric in service."""

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonpatch
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.diff.batches import batches, kept_share, up_ports
from fabricgen.diff.lookup import profiles
from fabricgen.diff.patch import Route
from fabricgen.diff.plan import Plan, make_plan
from fabricgen.diff.sorting import MOST_CHANGES
from fabricgen.diff.step import PatchStep, StepPurpose
from fabricgen.sonic.updater.verdicts import PORT_FLAP_TABLES
from tests.conftest import Cli
from tests.diff import measured
from tests.diff.live_changes import LIVE, MEASURED
from tests.examples import examples
from tests.inventories import ARISTA, NVIDIA
from tests.shared_material import shared

Config = dict[str, Any]
GROUPED, SINGLE = 202605, 202505
ONE_CLASS = {"lossless": {"classes": {3: {"dscp": [26, 34]}}, "cnp": {"dscp": 48}}}


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Config]:
    """A leaf of both buffer models, with two classes and with one."""
    found = {}
    for name, platform in (("traditional", ARISTA), ("dynamic", NVIDIA)):
        found[name] = measured.render_leaf(tmp_path_factory.mktemp(name), platform, 16)
        found[f"{name} one class"] = measured.render_leaf(
            tmp_path_factory.mktemp(f"{name}1"), platform, 16, **ONE_CLASS
        )
    return found


def planned(old: Config, new: Config, release: int = GROUPED) -> Plan:
    return make_plan(old, new, release, lookup=profiles(old))


def replayed(plan: Plan, old: Config) -> Config:
    """The configuration after all patches, as jsonpatch applies them and buffermgrd follows."""
    now = copy.deepcopy(old)
    for step in plan.steps:
        assert now == step.old
        now = jsonpatch.apply_patch(now, json.loads(orjson.dumps([each.json for each in step.patch()])))
        for change in step.made:
            row = now[change.table].setdefault(change.key, {})
            row |= change.new if change.field is None else {change.field: change.new}
    return now


def pfc_off(config: Config) -> None:
    port = measured.host_ports(config)[0]
    for field in ("pfc_enable", "pfcwd_sw_enable"):
        del config["PORT_QOS_MAP"][port][field]
    del config["BUFFER_PG"][f"{port}|3-4"]
    del config["PFC_WD"][port]


def watched_priorities(config: Config) -> None:
    config["PORT_QOS_MAP"][measured.host_ports(config)[0]]["pfcwd_sw_enable"] = "3"


def split_group(config: Config) -> None:
    for port in measured.up_ports(config):
        row = config["BUFFER_QUEUE"].pop(f"{port}|5-7")
        config["BUFFER_QUEUE"] |= {f"{port}|5": row, f"{port}|6-7": dict(row)}


def rename_map(config: Config) -> None:
    config["DSCP_TO_TC_MAP"]["OTHER"] = config["DSCP_TO_TC_MAP"].pop("AZURE")
    for row in config["PORT_QOS_MAP"].values():
        row["dscp_to_tc_map"] = "OTHER"


def rename_profile(config: Config) -> None:
    config["BUFFER_PROFILE"]["other"] = config["BUFFER_PROFILE"].pop("egress_lossless_profile")
    for row in config["BUFFER_QUEUE"].values():
        if row["profile"] == "egress_lossless_profile":
            row["profile"] = "other"
    for row in config.get("BUFFER_PORT_EGRESS_PROFILE_LIST", {}).values():
        row["profile_list"] = row["profile_list"].replace("egress_lossless_profile", "other")


def wred_off(config: Config) -> None:
    for key, row in config["QUEUE"].items():
        if key.endswith("|3"):
            row.pop("wred_profile", None)


def watchdog_off(config: Config) -> None:
    del config["PFC_WD"][measured.host_ports(config)[0]]


def alpha(config: Config) -> None:
    config["BUFFER_PROFILE"]["egress_lossy_profile"]["dynamic_th"] = "5"


KINDS: dict[str, measured.Edit] = {
    "ECN": measured.ecn,
    "scheduler weight": measured.weight,
    "DSCP map": measured.dscp,
    "map renamed": rename_map,
    "profile renamed": rename_profile,
    "alpha": alpha,
    "queue range split": split_group,
    "PFC off a port": pfc_off,
    "watched priorities": watched_priorities,
    "watchdog times": measured.watchdog,
    "watchdog off a port": watchdog_off,
    "WRED off a queue": wred_off,
    "cable": measured.cable(4),
    "cable of all hosts": measured.cable(16),
    "speed": measured.speed(4),
    "MTU": measured.every("PORT", mtu="9000"),
    "FEC": measured.every("PORT", fec="none"),
    "host removed": measured.remove_host,
    "sessions renamed": measured.rename_sessions,
    "ASN": measured.asn,
    "neighbor out": measured.neighbor_out,
    "NTP and syslog": measured.ntp_and_syslog,
    **LIVE,
}


def pairs(leaves: dict[str, Config], model: str) -> list[tuple[str, Config, Config]]:
    """Each kind of change in both directions, and the classes."""
    base = leaves[model]
    found = []
    for kind, edit in KINDS.items():
        new = measured.edited(base, edit)
        if new != base:  # some kinds are of one buffer model
            found += [(kind, base, new), (f"{kind}, back", new, base)]
    one = leaves[f"{model} one class"]
    return [*found, ("class dropped", base, one), ("class added", one, base)]


def test_every_measured_change_has_a_plan(leaves: dict[str, Config]) -> None:
    known = {kind for model in ("traditional", "dynamic") for kind, _, _ in pairs(leaves, model)}
    assert set(MEASURED.values()) <= known
    names = re.findall(r"^## L[RT] [AD]_(\w+)", shared("data/sonic/daemon_live_changes.txt").read_text(), re.MULTILINE)
    assert len(names) > 60 and set(names) == MEASURED.keys()


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
@pytest.mark.parametrize("release", [GROUPED, SINGLE])
def test_plans_lead_to_the_new_configuration(model: str, release: int, leaves: dict[str, Config]) -> None:
    reloads = set()
    for kind, old, new in pairs(leaves, model):
        plan = planned(old, new, release)
        if plan.route is Route.RELOAD:
            assert plan.reasons and not plan.steps
            reloads.add(kind)
            continue
        assert plan.route is (Route.APPLY_PATCH if len(plan.steps) == 1 else Route.PLAN), kind
        assert replayed(plan, old) == new, kind
        for before, step in zip([None, *plan.steps], plan.steps, strict=False):
            assert_in_service(step, before, old, new)
        assert plan.kept_share >= 0.5
    pools = {"class dropped", "class added"} if model == "dynamic" else set()  # pools without lossless headroom differ
    assert reloads - pools == expected_reloads(model, release)


def expected_reloads(model: str, release: int) -> set[str]:
    """Kinds that the updater of the release refuses, or that no daemon applies while it runs."""
    refused = {"profile renamed", "alpha", "ECN", "WRED renamed", "trimming"} if release == SINGLE else set()
    no_daemon = {"watchdog action"} if model == "traditional" else {"trimming"}
    written_back = {"PFC off a port"} if release == SINGLE and model == "traditional" else set()
    both = {f"{kind}{back}" for kind in refused | no_daemon for back in ("", ", back")}
    return both | written_back | {"trimming, back"}  # no release accepts the removal of the field


def assert_in_service(step: PatchStep, before: PatchStep | None, old: Config, new: Config) -> None:
    """The invariants of each step."""
    up, down = up_ports(step.old), set(step.down)
    assert step.sorting.problem == "" and step.sorting.changes < MOST_CHANGES
    assert down == (up_ports(old) & up_ports(new)) - up_ports(step.new)
    flaps = {change.key.partition("|")[0] for change in step.changes if change.table in PORT_FLAP_TABLES}
    assert not (flaps - {"global"}) & up  # the updater takes no port down by itself
    ranges = {(change.op, change.table) for change in step.changes if change.table in ("BUFFER_PG", "BUFFER_QUEUE")}
    assert {op for op, _ in ranges} != {"add", "remove"}  # removals first, in another patch
    for port in up_ports(step.new):
        watched, qos = step.new.get("PFC_WD", {}), step.new.get("PORT_QOS_MAP", {}).get(port, {})
        if qos.get("pfc_enable") and port in old.get("PFC_WD", {}) and port in new.get("PFC_WD", {}):
            assert port in watched  # no lossless queue without watchdog
    if step.purpose is StepPurpose.SESSION:
        assert len({change.key for change in step.changes}) == 1
    if step.purpose is StepPurpose.PROFILES:
        assert {change.table for change in step.changes} == {"BUFFER_PROFILE"}
    if step.purpose is StepPurpose.CABLES:
        assert {change.table for change in step.changes} == {"CABLE_LENGTH"} and before is None
    if step.purpose is StepPurpose.GROUPS:
        assert {(change.table, change.op) for change in step.changes} == {("BUFFER_PG", "remove")}


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_changed_priorities_watch_the_port_again(model: str, leaves: dict[str, Config]) -> None:
    old = leaves[model]
    plan = planned(old, measured.edited(old, watched_priorities))
    port = measured.host_ports(old)[0]
    found = [(step.purpose, change.op, change.table) for step in plan.steps for change in step.changes]
    assert found == [
        (StepPurpose.DOWN, "replace", "PORT"),
        (StepPurpose.OUT, "remove", "PFC_WD"),
        (StepPurpose.OUT, "remove", "PORT_QOS_MAP"),
        (StepPurpose.IN, "add", "PORT_QOS_MAP"),
        (StepPurpose.UP, "add", "PFC_WD"),
        (StepPurpose.UP, "replace", "PORT"),
    ]
    assert {change.key for step in plan.steps for change in step.changes} == {port}


def test_traffic_is_mapped_to_a_class_only_while_all_ports_have_it(leaves: dict[str, Config]) -> None:
    two, one = leaves["traditional"], leaves["traditional one class"]

    def places(old: Config, new: Config) -> tuple[list[int], list[int]]:
        steps = list(enumerate(planned(old, new).steps))
        maps = [number for number, step in steps if any(change.table == "DSCP_TO_TC_MAP" for change in step.changes)]
        return maps, [number for number, step in steps if step.purpose is StepPurpose.IN]

    maps, rows = places(one, two)
    assert min(maps) > max(rows)
    maps, rows = places(two, one)
    assert max(maps) == min(rows)  # in the same patch as the first rows


def test_cables_go_alone_where_buffermgrd_writes_the_rest(leaves: dict[str, Config]) -> None:
    old = leaves["traditional"]
    for release in (202511, GROUPED):
        (step,) = planned(old, measured.edited(old, measured.cable(4)), release).steps
        assert step.purpose is StepPurpose.CABLES and {change.table for change in step.made} == {"BUFFER_PG"}
    steps = planned(old, measured.edited(old, measured.cable(4)), SINGLE).steps  # with the change of the port only
    assert [step.purpose for step in steps] == 2 * [StepPurpose.DOWN, StepPurpose.UP]
    assert [len(step.made) for step in steps] == [2, 0, 2, 0]
    assert {change.table for change in steps[0].changes} == {"CABLE_LENGTH", "PORT"}
    all_hosts = measured.edited(old, measured.cable(16, old_leaves=True))
    cables, last = planned(old, all_hosts).steps
    assert (cables.price.changes, last.price.changes) == (1, 1) and last.purpose is StepPurpose.PROFILES
    refused = planned(old, all_hosts, SINGLE)
    assert refused.route is Route.RELOAD and "pg_lossless_400000_5m_profile" in refused.reasons[0]
    back = planned(all_hosts, old)  # buffermgrd creates the profile, too
    assert [change.key for change in back.steps[0].made if change.table == "BUFFER_PROFILE"] == [
        "pg_lossless_400000_5m_profile"
    ]

    def unusual(config: Config) -> None:
        measured.cable(4)(config)
        for port in measured.host_ports(config)[:4]:
            config["CABLE_LENGTH"]["AZURE"][port] = "41m"

    plan = planned(old, measured.edited(old, unusual))  # not in the SKU's table: the patch writes the rows
    assert [step.purpose for step in plan.steps[:4]] == [
        StepPurpose.DOWN,
        StepPurpose.OUT,
        StepPurpose.IN,
        StepPurpose.UP,
    ]


def test_other_values_than_those_of_the_sku_are_written_by_the_patch(leaves: dict[str, Config]) -> None:
    old = measured.edited(leaves["traditional"], measured.cable(16, old_leaves=True))

    def own(config: Config) -> None:
        config.clear()
        config.update(copy.deepcopy(leaves["traditional"]))
        config["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"]["xoff"] = "1"

    plan = planned(old, measured.edited(old, own))
    assert StepPurpose.CABLES not in {step.purpose for step in plan.steps} and not any(step.made for step in plan.steps)


def test_a_live_watchdog_action_is_a_reload_with_traditional_buffers(leaves: dict[str, Config]) -> None:
    for model, route in (("traditional", Route.RELOAD), ("dynamic", Route.APPLY_PATCH)):
        new = measured.edited(leaves[model], measured.every("PFC_WD", action="forward"))
        assert planned(leaves[model], new).route is route


def test_a_profile_under_another_name_is_added_apart_from_the_removal(leaves: dict[str, Config]) -> None:
    """In one patch both are a move, which the validators refuse."""
    old = leaves["traditional"]
    plan = planned(old, measured.edited(old, rename_profile))
    assert plan.route is Route.PLAN and plan.steps[-1].purpose is StepPurpose.PROFILES


def test_long_patches_of_older_releases_are_split(leaves: dict[str, Config]) -> None:
    old = leaves["traditional"]
    new = old | {"LOGGER": {f"component{number}": {"LOGLEVEL": "INFO"} for number in range(2500)}}
    plan = planned(old, new, SINGLE)
    assert replayed(plan, old) == new and len(plan.steps) >= 3
    assert all(step.price.changes < MOST_CHANGES and step.price.seconds[1] <= 1500 for step in plan.steps)
    assert len(planned(old, new, GROUPED).steps) == 1


PORTS = st.integers(1, 12)


@settings(max_examples=examples(60))
@given(hosts=PORTS, width=st.integers(1, 4), spines=st.integers(0, 6), links=st.integers(1, 4))
def test_batches(hosts: int, width: int, spines: int, links: int) -> None:
    """Every host with several ports, every rail with several hosts, and half of the uplinks stay in service."""
    ends = [(f"gpu{host}", f"rail{rail}", "Server") for host in range(hosts) for rail in range(width)]
    ends += [(f"spine{spine}", "", "LeafRouter") for spine in range(spines) for _ in range(links)]
    ports = {f"Ethernet{4 * number}": end for number, end in enumerate(ends)}
    config: Config = {
        "PORT": {port: {"admin_status": "up"} for port in ports} | {"Ethernet400": {}},
        "DEVICE_NEIGHBOR": {port: {"name": name, "port": rail} for port, (name, rail, _) in ports.items()},
        "DEVICE_NEIGHBOR_METADATA": {name: {"type": kind} for name, _, kind in ends},
    }
    found = batches(config["PORT"], config)
    assert sorted(port for batch in found for port in batch) == sorted(config["PORT"])
    for batch in found:
        up = [ports[port] for port in ports if port not in batch]
        if width > 1:
            assert {name for name, _, kind in up if kind == "Server"} == {f"gpu{host}" for host in range(hosts)}
        if hosts > 1:
            assert {rail for _, rail, kind in up if kind == "Server"} == {f"rail{rail}" for rail in range(width)}
        if spines * links > 1:
            assert kept_share(batch, config) >= 0.5


def test_ports_that_an_interrupted_change_left_down_come_up_first(leaves: dict[str, Config]) -> None:
    """With or without other changes of these ports."""
    old = leaves["traditional"]
    down = measured.host_ports(old)[:2]
    new = measured.edited(old, split_group)

    def interrupted(config: Config) -> None:
        for port in down:
            config["PORT"][port]["admin_status"] = "down"
        row = config["BUFFER_QUEUE"].pop(f"{down[0]}|5-7")
        config["BUFFER_QUEUE"] |= {f"{down[0]}|5": row, f"{down[0]}|6-7": dict(row)}

    plan = planned(measured.edited(old, interrupted), new)
    first = next(step for step in plan.steps if step.purpose is StepPurpose.UP)
    assert set(down) <= up_ports(first.new) and not any(step.down for step in plan.steps[: plan.steps.index(first)])
    assert plan.kept_share >= 0.5
    alone = planned(measured.edited(new, lambda config: config["PORT"][down[0]].update(admin_status="down")), new)
    assert [(step.purpose, [change.key for change in step.changes]) for step in alone.steps] == [
        (StepPurpose.UP, [down[0]])
    ]


def test_ports_that_are_down_and_switches_without_links() -> None:
    config: Config = {"PORT": {"Ethernet0": {"admin_status": "up"}, "Ethernet4": {}}}
    assert batches(["Ethernet4", "Ethernet0"], config) == [["Ethernet0", "Ethernet4"]]
    assert kept_share(["Ethernet0"], config) == 1
    assert batches([], config) == []


def test_the_command(bundle: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new = Path(shutil.copytree(bundle, tmp_path / "new"))
    file = new / "sonic/compute-su00-r0-leaf/config_db.json"
    config = orjson.loads(file.read_bytes())
    watched_priorities(config)
    measured.asn(config)
    file.write_bytes(orjson.dumps(config))
    pools = new / "sonic/compute-spine-00/config_db.json"
    config = orjson.loads(pools.read_bytes())
    config["BUFFER_POOL"]["egress_lossless_pool"]["size"] = "1"
    pools.write_bytes(orjson.dumps(config))
    outcome = cli("diff", bundle, new, "--format", "plan", "--exit-code")
    assert outcome.code == 4
    found = json.loads(outcome.out)
    assert found["summary"]["devices"] == {
        "apply-patch": 0,
        "plan": 1,
        "reload": 1,
        "reboot": 0,
        "added": 0,
        "removed": 0,
    }
    leaf = found["devices"]["compute-su00-r0-leaf"]
    assert [step["purpose"] for step in leaf["steps"]] == ["ports down", "rows out", "rows in", "ports up"] + 16 * [
        "session"
    ]
    assert leaf["steps"][0]["ports_down"] == ["Ethernet0"] and leaf["steps"][3]["ports_down"] == []
    assert all(step["restore_after_s"] == 900 + step["seconds"][1] for step in leaf["steps"])
    assert found["devices"]["compute-spine-00"]["reasons"] == [
        "BUFFER_POOL: the pools of a switch add up only together"
    ]
    assert "compute-su00-r0-leaf, release 202505: 20 patches" in outcome.err
    assert "`config reload`: traffic stops" in outcome.err
    assert cli("diff", bundle, new, "--format", "plan", "--output", tmp_path / "plan").out == outcome.err
    files = sorted((tmp_path / "plan/compute-su00-r0-leaf").iterdir())
    assert [json.loads(file.read_text()) for file in files] == [step["patch"] for step in leaf["steps"]]
    assert json.loads((tmp_path / "plan/plan.json").read_text()) == found
    again = cli("diff", bundle, new, "--format", "plan")
    assert again.out == outcome.out
    same = cli("diff", bundle, bundle, "--format", "plan")
    assert json.loads(same.out)["devices"] == {} and "No differences." in same.err
