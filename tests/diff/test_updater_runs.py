"""Changes that were given to the real updaters of 202505, 202511 and 202605: verdict, moves and seconds of each.

Each run names a change and a switch of the examples `quickstart`, `spectrum` and `border`. The inventories of the runs
are not kept, so the changes are made again: by settings of the inventory, or by an edit of the switch. Moves of another
change would differ.
"""

import copy
import gzip
import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from fabricgen.bundle.device import GivenContent, ObservedDevice
from fabricgen.bundle.read import Bundle
from fabricgen.cli.main import run as run_command
from fabricgen.diff.changes import changes
from fabricgen.diff.lookup import profiles
from fabricgen.diff.patch import Route, route, worst
from fabricgen.diff.plan import make_plan
from fabricgen.diff.price import price
from fabricgen.diff.sorting import sorting
from fabricgen.diff.step import StepPurpose
from fabricgen.findings import Severity
from fabricgen.resources import resource
from fabricgen.rules.run import run as judge
from tests.diff import measured
from tests.shared_material import shared

Config = dict[str, Any]
Settings = tuple[str, ...]  # of `fabricgen render --set`
SLOWER_BY, FASTER_BY = 1.35, 0.75  # predicted seconds, as a share of those of the run
PLAN_STARTS_S = 20  # of one more patch, in the sum of the lowest and the highest seconds
# Without effect while the daemons run, so no patch is made, though the updater takes it.
UNFOLLOWED = {"s-default-th", "wd-action", "asn-leaf", "asn-spine", "breakout", "replaced-switch", "unnumbered"}
# A range of seconds that the prediction misses, with its share.
SECONDS_MISSED = {("spines-8", "compute-spine-00", "202605", "plan"): 1.37}
ONE_CLASS = ("profiles.one={classes: {3: {dscp: [26]}}, cnp: {dscp: 48}}", "planes.compute.lossless=one")
MOVED_CLASS = ("profiles.one={classes: {3: {dscp: [26, 34]}}, cnp: {dscp: 48}}", "planes.compute.lossless=one")
HALF = ("hosts.gpu.count=64",)  # of the example `spectrum`
WAN = "{{name: {}, asn: 64900, switch: {}, port: Ethernet384, address: {}, in: [0.0.0.0/0], out: {}, cable: 100m}}"
WANS = ", ".join((
    WAN.format("wan1", "compute-su00-r0-leaf", "192.0.2.1/31", "[10.64.0.0/10, 192.168.7.0/24]"),
    WAN.format("wan2", "compute/su0/rail4/leaf0", "192.0.2.3/31", "[10.64.0.0/10, 192.168.7.0/24]"),
    "{name: wan3, asn: 64901, switch: compute-su00-r1-leaf, port: Ethernet384, address: 192.0.2.5/31, "
    "in: [0.0.0.0/0], out: [10.64.0.0/10]}",
))  # fmt: skip
DUAL_STACK = (
    'planes.compute.addressing={loopbacks: [10.0.0.0/16, "fd00:0:0:1::/64"], '
    'links: [10.128.0.0/10, "fd00:0:0:2::/64"], hosts: [10.64.0.0/10, "fd00:0:0:3::/64"], asn: rfc7938}'
)
# change -> (example, settings before, settings after)
INVENTORIES: dict[str, tuple[str, Settings, Settings]] = {
    # The run does not name the cage: any unused one gives its moves.
    "breakout": ("quickstart", (), ("devices=[{name: compute-su00-r0-leaf, ports: {40: 1x800G}}]",)),
    "border-router": ("border", (), (f"planes.compute.external=[{WANS}]",)),
    "cable-host-leaf": ("quickstart", (), ("planes.compute.cables.host-leaf=40m",)),
    "cable-leaf-spine": ("quickstart", (), ("planes.compute.cables.leaf-spine={length: 150m, medium: smf}",)),
    "class-added": ("quickstart", ONE_CLASS, ()),
    "class-moved": ("quickstart", (), MOVED_CLASS),
    "class-removed": ("quickstart", (), ONE_CLASS),
    "cnp": ("quickstart", (), ("planes.compute.lossless.cnp.dscp=46",)),
    "dns-gnmi": ("quickstart", (), ("management.dns=[10.255.15.4]", "management.gnmi={port: 8080}")),
    "dscp": ("quickstart", (), ("planes.compute.lossless.classes.3.dscp=[24, 26]",)),
    "dual-stack": ("quickstart", (), (DUAL_STACK,)),
    "ecn": ("quickstart", (), ("planes.compute.lossless.ecn={min: 192KiB, max: 384KiB, probability: 10}",)),
    "grow-unit": ("quickstart", (), ("hosts.gpu.count=48",)),
    "host-added": ("quickstart", ("hosts.gpu.count=31",), ()),
    "host-removed": ("quickstart", (), ("hosts.gpu.count=31",)),
    "lossless-none": ("quickstart", (), ("planes.compute.lossless=none",)),
    "mgmt-acl": ("quickstart", (), ("management.allow=[10.255.0.0/20]",)),
    "ntp-syslog": (
        "quickstart", (), ("management.ntp=[10.255.15.1, 10.255.15.9]", "management.syslog=[10.255.15.3, 10.255.15.8]"),
    ),
    "replaced-switch": ("quickstart", (), ("devices=[{name: compute-su00-r0-leaf, mac: '00:11:22:33:44:55'}]",)),
    "snmp": (
        "quickstart", (), ("management.snmp={community: !secret snmp/read, location: hall 2, contact: noc}",),
    ),
    "spines-8": ("quickstart", (), ("planes.compute.spine.count=8",)),
    "tacacs": ("quickstart", (), ("management.tacacs={servers: [10.255.15.6], key: !secret tacacs/key}",)),
    "unnumbered": ("quickstart", (), ("planes.compute.bgp=unnumbered",)),
    "wcmp": ("quickstart", (), ("planes.compute.load_balancing={wcmp: true}",)),
    "s-class": (
        "spectrum", HALF, (*HALF, "planes.compute.lossless.classes={3: {dscp: [24, 26]}, 4: {dscp: [34]}}"),
    ),
    "s-ecn": ("spectrum", HALF, (*HALF, "planes.compute.lossless.ecn={min: 300KiB, max: 1500KiB, probability: 20}")),
    "s-grow": ("spectrum", HALF, ()),
    "s-mtu": ("spectrum", HALF, (*HALF, "planes.compute.mtu=9216")),
    "s-shared-headroom": ("spectrum", HALF, (*HALF, "planes.compute.lossless.shared_headroom=2")),
    "s-wd-action": ("spectrum", HALF, (*HALF, "planes.compute.lossless.watchdog={action: forward}")),
}  # fmt: skip


def wd_times(config: Config) -> None:
    measured.every("PFC_WD", detection_time="400", restoration_time="400")(config)
    config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = "100"


def training(config: Config) -> None:
    for port in measured.host_ports(config):
        config["PORT"][port]["link_training"] = "on"


def host_cables(config: Config) -> None:
    for row in config["CABLE_LENGTH"].values():
        row.update({port: "10m" for port, length in row.items() if length == "3m"})


def other_links(config: Config) -> None:
    sessions, interfaces = config["BGP_NEIGHBOR"], config["INTERFACE"]
    for key in [key for key in sessions if key.startswith("10.128.")]:
        row = sessions.pop(key)
        row["local_addr"] = row["local_addr"].replace("10.128.", "172.16.")
        sessions[key.replace("10.128.", "172.16.")] = row
    for key in [key for key in interfaces if "|10.128." in key]:
        interfaces[key.replace("|10.128.", "|172.16.")] = interfaces.pop(key)


def one_link_down(config: Config) -> None:
    config["PORT"][next(port for port in config["PORT"] if is_fabric(config, port))]["admin_status"] = "down"


def is_fabric(config: Config, port: str) -> bool:
    return port in config["DEVICE_NEIGHBOR"] and port not in measured.host_ports(config)


def other_leaf_asn(config: Config) -> None:
    own = config["DEVICE_METADATA"]["localhost"]
    if own["hostname"] == LEAF:
        own["bgp_asn"] = "4200000099"
    for row in config["BGP_NEIGHBOR"].values():
        row["asn"] = "4200000099" if row["name"] == LEAF else row["asn"]


def other_spine_asn(config: Config) -> None:
    own = config["DEVICE_METADATA"]["localhost"]
    if own["hostname"] == SPINE:
        own["bgp_asn"] = "4200000099"
    for row in config["BGP_NEIGHBOR"].values():
        row["asn"] = "4200000099" if "spine" in row["name"] else row["asn"]


def other_leaf_name(config: Config) -> None:
    for row in config["BGP_NEIGHBOR"].values():
        row["name"] += "-new" if row["name"] == LEAF else ""
    for port, row in config["DEVICE_NEIGHBOR"].items():
        if row["name"] == LEAF:
            row["name"] += "-new"
            config["PORT"][port]["description"] = config["PORT"][port]["description"].replace(LEAF, f"{LEAF}-new")
    config["DEVICE_NEIGHBOR_METADATA"][f"{LEAF}-new"] = config["DEVICE_NEIGHBOR_METADATA"].pop(LEAF)


def vlan(config: Config) -> None:
    free = next(port for port in config["PORT"] if port not in config["DEVICE_NEIGHBOR"])
    config["VLAN"] = {"Vlan100": {"vlanid": "100"}}
    config["VLAN_MEMBER"] = {f"Vlan100|{free}": {"tagging_mode": "untagged"}}
    config["VLAN_INTERFACE"] = {"Vlan100": {}, "Vlan100|192.168.0.1/24": {}}


def vlan_without_port(config: Config) -> None:
    config["VLAN"] = {"Vlan100": {"vlanid": "100"}}
    config["VLAN_MEMBER"] = {"Vlan100|Ethernet250": {"tagging_mode": "untagged"}}


LEAF, SPINE = "compute-su00-r0-leaf", "compute-spine-00"
EDITS: dict[str, measured.Edit] = {
    "mtu": measured.every("PORT", mtu="9216"),
    "wd-times": wd_times,
    "wd-action": measured.every("PFC_WD", action="forward"),
    "neighbor-shut": measured.every("BGP_NEIGHBOR", admin_status="down"),
    "training": training,
    "asn-leaf": other_leaf_asn,
    "asn-spine": other_spine_asn,
    "cordon": one_link_down,
    "rename": other_leaf_name,
    "vlan": vlan,
    "vlan-noport": vlan_without_port,
    "s-cable": host_cables,
    "links-pool": other_links,
}


@cache
def runs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared("data", "sonic", "updater_runs_2026_11.json").read_text())
    return found


def rendered_with(example: str, settings: Settings, folder: Path) -> dict[str, Config]:
    """The switches of an example with other settings."""
    inventory = shutil.copytree(resource("inventories", example), folder / "inventory")
    words = [word for setting in settings for word in ("--set", setting)]
    with pytest.raises(SystemExit) as ended:
        run_command(["-q", "render", str(inventory), *words, "--output", str(folder / "bundle")])
    assert not ended.value.code
    return switches_of(folder / "bundle")


def switches_of(bundle: Path) -> dict[str, Config]:
    return {file.parent.name: orjson.loads(file.read_bytes()) for file in bundle.glob("sonic/*/config_db.json")}


@pytest.fixture(scope="module")
def rendering(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The switches of an example with settings, each rendered once."""

    @cache
    def switches(example: str, settings: Settings) -> dict[str, Config]:
        if (example, settings) == ("quickstart", ()):
            return switches_of(rendered)
        return rendered_with(example, settings, tmp_path_factory.mktemp(example))

    return switches


def both(change: str, device: str, rendering: Any) -> tuple[Config, Config]:
    """The switch before and after a change."""
    if change in INVENTORIES:
        example, before, after = INVENTORIES[change]
        return rendering(example, before)[device], rendering(example, after)[device]
    old = rendering("spectrum", HALF)[device] if change.startswith("s-") else rendering("quickstart", ())[device]
    if change in EDITS:
        new = copy.deepcopy(old)
        EDITS[change](new)
        return old, new
    return old, merged(old, change, device)


def merged(config: Config, change: str, device: str) -> Config:
    """The switch with the differences of a smaller one, whose change ran on daemons."""
    new = copy.deepcopy(config)
    file = shared("data", "sonic", "live_inputs", f"{change}__{device}.json.gz")
    small = json.loads(gzip.decompress(file.read_bytes()))
    before, after = small["old"], small["new"]
    for table in sorted(before.keys() | after.keys()):
        rows, others = before.get(table, {}), after.get(table, {})
        for key in sorted(rows.keys() | others.keys()):
            if key not in others:
                new[table].pop(key, None)
            elif key not in rows:
                new.setdefault(table, {})[key] = others[key]
            else:
                row = new[table].setdefault(key, {})
                for field in rows[key].keys() | others[key].keys():
                    if rows[key].get(field) != others[key].get(field):
                        row.pop(field, None)
                        row |= {field: others[key][field]} if field in others[key] else {}
    return {table: rows for table, rows in new.items() if rows}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "change" in metafunc.fixturenames:
        metafunc.parametrize("change", sorted({run["change"] for run in runs()}))


def test_verdict_moves_and_seconds(change: str, rendering: Any) -> None:
    wrong = [
        (run["rel"], run["dev"], run["kind"], reason)
        for run in runs()
        if run["change"] == change
        for reason in (of_plan if run["kind"] == "plan" else of_patch)(run, *both(change, run["dev"], rendering))
    ]
    assert not wrong


def of_patch(run: dict[str, Any], old: Config, new: Config) -> Iterator[str]:
    """What differs from the run of one patch with all changes."""
    release = int(run["rel"])
    found = changes(old, new, release)
    way = route(worst({change.verdict.cost for change in found}))
    cost = sorting(found, old, new, release)
    if run["real"] == "timeout":
        if not cost.problem and way is not Route.RELOAD:
            yield "the updater does not end, and the patch has no problem"
    elif run["real"] == "refused":
        if way is not Route.RELOAD and not invalid(new, release):
            yield "the updater refuses the patch"
    else:
        is_reload = run["change"] in UNFOLLOWED and run["predicted"] == "reload"
        if cost.problem or way is not (Route.RELOAD if is_reload else Route.APPLY_PATCH):
            yield f"the updater takes the patch: {way} {cost.problem}"
        if [cost.changes] != run["real_changes"]:
            yield f"moves {cost.changes}, real {run['real_changes']}"
        yield from seconds(run, sum(price(cost).seconds))


def of_plan(run: dict[str, Any], old: Config, new: Config) -> Iterator[str]:
    """What differs from the run of a plan. Before 202605 the priority groups of a host that leaves go last, in another
    patch; before 202511 a cable length goes with its port."""
    release = int(run["rel"])
    plan = make_plan(old, new, release, lookup=profiles(old))
    if run["real"] == "refused":
        if plan.route is not Route.RELOAD and not invalid(new, release):
            yield "the updater refuses the plan"
        return
    if release < 202511 and run["change"] == "cable-one":
        return
    moves = [step.price.changes for step in plan.steps]
    late = [step.price.changes for step in plan.steps if step.purpose is StepPurpose.GROUPS]
    if sum(moves) != sum(run["real_changes"]) or len(moves) != len(run["real_changes"]) + len(late):
        yield f"moves {moves}, real {run['real_changes']}"
    yield from seconds(run, sum(plan.price.seconds) - PLAN_STARTS_S * len(late))


def seconds(run: dict[str, Any], predicted: float) -> Iterator[str]:
    share = predicted / sum(run["est_s"])
    missed = SECONDS_MISSED.get((run["change"], run["dev"], run["rel"], run["kind"]))
    if missed:
        assert abs(share - missed) < 0.01, share
    elif not FASTER_BY <= share <= SLOWER_BY:
        yield f"seconds {predicted}, real {run['est_s']}: {share:.2f}"


def invalid(config: Config, release: int) -> bool:
    """Whether `validate`, and so `diff`, reports an error of the schema in the target."""
    content = GivenContent(orjson.dumps(config), config)
    device = ObservedDevice("leaf", Path("config_db.json"), None, content, release)
    return any(one.severity is Severity.ERROR for one in judge(Bundle({"leaf": device}, ())))


def test_each_run_is_a_test() -> None:
    assert len(runs()) == 241
    assert {run["real"] for run in runs()} == {"ok", "refused", "timeout"}
