"""Plans and their application, against a NetBox in memory."""

import random
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api.rendering import render
from fabricgen.dcim.applying import apply
from fabricgen.dcim.changes import DcimPlan, ObjectOp, compare
from fabricgen.dcim.objects import KINDS, ObjectKind
from fabricgen.dcim.planned import PlannedObjects
from fabricgen.errors import UsageError
from tests.dcim.fabrics import bundle, planned
from tests.dcim.netbox_double import Server, netbox_of
from tests.rules.access import BONDED, FIRST, LEAF0, PAIRED, SECOND

TRUNKED = PAIRED.replace("kind: bond, vlan: 110", "kind: bond, bond: bond0, vlan: 110, tagged: [120]")
IN_VLAN = BONDED.replace("kind: bond", "kind: vlan")
ROUTED = "".join(line for line in PAIRED.splitlines(True) if "access" not in line)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PlannedObjects:
    return planned(bundle(tmp_path_factory.mktemp("small")))


@pytest.fixture
def server(small: PlannedObjects) -> Server:
    """A NetBox with the fabric."""
    made = Server()
    applied(made, small)
    return made


def applied(server: Server, wanted: PlannedObjects, **options: Any) -> DcimPlan:
    """The plan that is applied."""
    plan = compare(netbox_of(server), wanted, **options)
    apply(netbox_of(server), plan)
    return plan


def left(server: Server, wanted: PlannedObjects) -> list[tuple[str, str, str]]:
    """What differs: operation, kind and name."""
    plan = compare(netbox_of(server), wanted)
    assert not plan.obstacles
    return [(str(change.op), str(change.kind), change.name) for change in plan.changes]


def test_every_object_is_created_and_a_second_run_changes_nothing(small: PlannedObjects) -> None:
    server = Server()
    plan = applied(server, small)
    assert {change.op for change in plan.changes} == {ObjectOp.CREATE}
    assert {kind: len(plan.of(ObjectOp.CREATE, kind)) for kind in KINDS} == plan.counts
    assert plan.counts[ObjectKind.DEVICE] == 5 and plan.counts[ObjectKind.CABLE] == 6
    writes = server.writes
    again = applied(server, small)
    assert again.changes == again.obstacles == [] and server.writes == writes


def test_a_run_that_breaks_is_completed_by_the_next(small: PlannedObjects) -> None:
    whole = Server()
    applied(whole, small)
    for number in range(whole.writes):
        server = Server()
        server.breaks_at = number
        with pytest.raises(UsageError, match=r"NetBox, .*the connection broke"):
            applied(server, small)
        server.breaks_at = -1
        applied(server, small)
        assert left(server, small) == []
        assert contents(server) == contents(whole)


def contents(server: Server) -> dict[str, int]:
    """The number of objects of each endpoint."""
    return {name: len(endpoint.stored) for name, endpoint in server.endpoints.items()}


FIELDS = {
    "devices": {"serial": "other", "status": "failed", "name": "renamed", "position": 7},
    "interfaces": {"enabled": False, "mtu": 1500, "label": "x", "speed": 1},
    "cables": {"label": "x", "length": 77, "type": "cat6", "status": "planned"},
    "ip_addresses": {"assigned_object_id": None},
}


@pytest.mark.parametrize("seed", range(5))
def test_edits_are_found_one_by_one_and_corrected(server: Server, small: PlannedObjects, seed: int) -> None:
    rng = random.Random(seed)
    edited = set()
    while len(edited) < 20:
        endpoint = rng.choice(sorted(FIELDS))
        number = rng.choice(sorted(server[endpoint].stored))
        stored = server[endpoint].stored[number]
        known = [field for field in FIELDS[endpoint] if stored.get(field) is not None]
        if (endpoint, number) in edited or not known:
            continue
        edited.add((endpoint, number))
        stored[rng.choice(known)] = FIELDS[endpoint][known[0]] if len(known) == 1 else None
    plan = compare(netbox_of(server), small)
    found = {change.found.id for change in plan.changes if change.found and change.op is ObjectOp.CHANGE}
    assert found == {number for _, number in edited} and len(plan.changes) == 20
    apply(netbox_of(server), plan)
    assert left(server, small) == []


def test_what_people_delete_is_created_again(server: Server, small: PlannedObjects) -> None:
    server.remove("devices", server.named("devices", "leaf1")["id"])
    kinds = {kind for op, kind, _ in left(server, small) if op == "create"}
    assert kinds == {"device", "interface", "address", "primary address"}
    applied(server, small)
    assert left(server, small) == []


def test_objects_of_others_are_neither_changed_nor_deleted(server: Server, small: PlannedObjects) -> None:
    site = server.named("sites", "hall1")["id"]
    router = {
        "name": "router",
        "site": site,
        "custom_fields": {"fabricgen_identity": "other-fabric:compute/leaf9", "fabricgen_made": True},
    }
    server.devices.create([router, {"name": "pdu", "site": site}])
    device = server.named("devices", "leaf1")["id"]
    server.interfaces.create([{"device": device, "name": "Ethernet508", "mtu": 1500}])
    server.prefixes.create([{"prefix": "10.0.0.0/8"}])
    assert left(server, small) == []


def test_a_switch_that_leaves_is_deleted_with_its_parts(server: Server, tmp_path: Path) -> None:
    smaller = planned(bundle(tmp_path, _without_spine2))
    plan = applied(server, smaller)
    assert [change.name for change in plan.of(ObjectOp.DELETE, ObjectKind.DEVICE)] == ["spine2"]
    assert len(plan.of(ObjectOp.DELETE, ObjectKind.CABLE)) == 2
    assert left(server, smaller) == []


def _without_spine2(tree: dict[str, Any]) -> None:
    plane = tree["planes"]["compute"]
    plane["spines"] = plane["spines"][:1]
    plane["links"] = [link for link in plane["links"] if not link[1].startswith("spine2")]
    tree["devices"] = [device for device in tree["devices"] if device["name"] != "spine2"]


@pytest.mark.parametrize(
    ("addition", "reason"),
    [
        ("interface", "interface console was not created by fabricgen"),
        ("address", "has an address that fabricgen did not create"),
    ],
)
def test_a_switch_with_parts_of_others_stays(server: Server, tmp_path: Path, addition: str, reason: str) -> None:
    spine = server.named("devices", "spine2")["id"]
    if addition == "interface":
        server.interfaces.create([{"device": spine, "name": "console"}])
    else:
        port = next(each["id"] for each in server.interfaces.stored.values() if each["device"] == spine)
        server.ip_addresses.create(
            [{"address": "192.0.2.1/24", "assigned_object_type": "dcim.interface", "assigned_object_id": port}]
        )
    smaller = planned(bundle(tmp_path, _without_spine2))
    plan = applied(server, smaller)
    assert not plan.of(ObjectOp.DELETE, ObjectKind.DEVICE) and server.named("devices", "spine2")
    assert any(reason in one.reason for one in plan.obstacles) and not plan.blocked


def test_a_renamed_switch_keeps_its_objects(server: Server, tmp_path: Path) -> None:
    """The identity of the lock file is the key, not the name: two switches even exchange names and places."""
    before = contents(server)

    def exchange(tree: dict[str, Any]) -> None:
        one, two = tree["devices"][0], tree["devices"][1]
        one["name"], two["name"] = two["name"], one["name"]
        one["unit"], two["unit"] = two["unit"], one["unit"]
        one |= {"rack": "R0", "unit": "40"}
        two |= {"rack": "R0", "unit": "39"}

    moved = planned(bundle(tmp_path, exchange))
    applied(server, moved)
    assert left(server, moved) == [] and contents(server) == before


def test_an_object_in_the_way_blocks_everything(small: PlannedObjects) -> None:
    server = Server()
    server.sites.create([{"name": "hall1", "slug": "hall1"}])
    server.devices.create([{"name": "leaf1", "site": 1}])
    server.ip_addresses.create([{"address": "10.0.0.1/24"}])
    plan = compare(netbox_of(server), small)
    assert [(str(one.kind), one.name) for one in plan.obstacles] == [("device", "leaf1"), ("address", "10.0.0.1")]
    assert plan.blocked and "--adopt-objects" in plan.obstacles[0].reason
    with pytest.raises(ValueError, match="obstacles"):
        apply(netbox_of(server), plan)


def test_adopted_objects_are_kept_equal_and_never_deleted(small: PlannedObjects, tmp_path: Path) -> None:
    server = Server()
    server.sites.create([{"name": "hall1", "slug": "hall1"}])
    server.devices.create([{"name": "spine2", "site": 1, "serial": "old", "device_type": None}])
    server.interfaces.create([{"device": 2, "name": "Ethernet0", "mtu": 1500}])
    applied(server, small, adopt=True)
    assert left(server, small) == []
    assert server.named("devices", "spine2")["id"] == 2 and server.named("devices", "spine2")["serial"] == "SN3"
    smaller = planned(bundle(tmp_path, _without_spine2))
    plan = applied(server, smaller)
    assert server.named("devices", "spine2")
    assert "fabricgen did not create it" in str([one.reason for one in plan.obstacles])


def test_a_cable_of_others_at_a_port_is_in_the_way(server: Server, small: PlannedObjects) -> None:
    cable = next(iter(server.cables.stored))
    first, second = server.cables.stored[cable]["a_terminations"], server.cables.stored[cable]["b_terminations"]
    del server.cables.stored[cable]
    server.interfaces.create([{"device": server.named("devices", "leaf1")["id"], "name": "Ethernet508"}])
    other = [{"object_type": "dcim.interface", "object_id": max(server.interfaces.stored)}]
    server.cables.create([{"a_terminations": first, "b_terminations": other, "label": "patched"}])
    plan = compare(netbox_of(server), small)
    assert plan.blocked and "another cable is at" in plan.obstacles[0].reason
    server.cables.stored.clear()
    server.cables.create([{"a_terminations": second, "b_terminations": first, "label": "the same two ports"}])
    assert "--adopt-objects" in compare(netbox_of(server), small).obstacles[0].reason


def test_a_cable_moves_to_its_ports(server: Server, small: PlannedObjects) -> None:
    one, two = list(server.cables.stored.values())[-2:]
    one["a_terminations"], two["a_terminations"] = two["a_terminations"], one["a_terminations"]
    assert {(op, kind) for op, kind, _ in left(server, small)} == {("change", "cable")}
    applied(server, small)
    assert left(server, small) == []


def test_an_address_that_is_primary_moves(server: Server, small: PlannedObjects) -> None:
    device = server.named("devices", "leaf1")
    other = server.named("devices", "leaf2")
    device["primary_ip4"], other["primary_ip4"] = other["primary_ip4"], device["primary_ip4"]
    one, two = (server.ip_addresses.stored[each["primary_ip4"]] for each in (device, other))
    one["assigned_object_id"], two["assigned_object_id"] = two["assigned_object_id"], one["assigned_object_id"]
    applied(server, small)
    assert left(server, small) == []


def test_interfaces_from_templates_become_those_of_the_fabric(small: PlannedObjects) -> None:
    server = Server()
    create = server.devices.create

    def with_ports(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made = create(bodies)
        server.interfaces.create([{"device": each["id"], "name": "Ethernet0", "mtu": 1500} for each in made])
        return made

    server.devices.create = with_ports  # type: ignore[method-assign]
    applied(server, small)
    assert left(server, small) == []


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> PlannedObjects:
    """Hosts in bonds at two leaves, with a native and a tagged VLAN."""
    return planned(rendered(tmp_path_factory.mktemp("paired"), TRUNKED))


def rendered(folder: Path, text: str) -> Path:
    (folder / "fabric.yaml").write_text(text, encoding="utf-8")
    assert not render(folder / "fabric.yaml", folder / "bundle").has_errors
    return folder / "bundle"


def members(server: Server, device: str) -> dict[str, str]:
    """Interface of a device -> the port channel or bond that it is in."""
    stored, number = server.interfaces.stored, server.named("devices", device)["id"]
    return {each["name"]: stored[each["lag"]]["name"] for each in stored.values()
            if each["device"] == number and each.get("lag")}  # fmt: skip


def addresses(server: Server, device: str) -> dict[str, list[str]]:
    """Interface of a device -> its addresses."""
    found: dict[str, list[str]] = {}
    number = server.named("devices", device)["id"]
    for each in server.ip_addresses.stored.values():
        interface = server.interfaces.stored[each["assigned_object_id"]]
        if interface["device"] == number:
            found.setdefault(interface["name"], []).append(each["address"])
    return found


def test_port_channels_and_bonds_have_their_members_and_addresses(paired: PlannedObjects) -> None:
    server = Server()
    applied(server, paired)
    for leaf in (FIRST, SECOND):
        assert members(server, leaf) == {
            "Ethernet0": "PortChannel0", "Ethernet4": "PortChannel4",
            "Ethernet496": "PortChannel496", "Ethernet500": "PortChannel496",
        }  # fmt: skip
    assert members(server, "gpu-000") == {"inband0": "bond0", "inband1": "bond0"}
    own = addresses(server, FIRST)
    assert own["Vlan110"] == ["10.224.0.1/29"] and own["Vlan120"] == ["10.224.0.9/29"]
    assert addresses(server, "gpu-000") == {"bond0": ["10.224.0.2/29"], "bond0.120": ["10.224.0.10/29"]}
    assert not {"Vlan110", "Vlan120"} & addresses(server, SECOND).keys()  # an address has one interface
    types = {each["name"]: each["type"] for each in server.interfaces.stored.values()}
    assert (types["PortChannel0"], types["bond0"], types["Vlan110"], types["bond0.120"], types["inband0"]) == (
        "lag", "lag", "virtual", "virtual", "other"
    )  # fmt: skip
    assert left(server, paired) == []


def modes(server: Server, device: str) -> dict[str, tuple[str, int | None, list[int]]]:
    """Interface of a device -> its mode, untagged and tagged VLANs, by number."""
    number, vlans = server.named("devices", device)["id"], server.vlans.stored
    return {
        each["name"]: (
            each["mode"],
            vlans[each["untagged_vlan"]]["vid"] if each.get("untagged_vlan") else None,
            [vlans[one]["vid"] for one in each.get("tagged_vlans") or []],
        )
        for each in server.interfaces.stored.values()
        if each["device"] == number and each.get("mode")
    }  # fmt: skip


def test_vlans_are_those_of_a_plane(paired: PlannedObjects) -> None:
    server = Server()
    applied(server, paired)
    (group,) = server.vlan_groups.stored.values()
    assert (group["name"], group["slug"]) == ("small-in-band", "small-in-band")
    assert [(each["vid"], each["name"], each["group"], each["status"]) for each in server.vlans.stored.values()] == [
        (110, "Vlan110", group["id"], "active"), (120, "Vlan120", group["id"], "active")
    ]  # fmt: skip
    for leaf in (FIRST, SECOND):
        assert modes(server, leaf) == {
            "PortChannel0": ("tagged", 110, [120]), "PortChannel4": ("tagged", 110, [120]),
            "PortChannel496": ("tagged", None, [110, 120]),
        }  # fmt: skip
    assert modes(server, "gpu-000") == {"bond0": ("tagged", 110, [120])}


def test_ports_in_a_vlan_are_in_mode_access(tmp_path: Path) -> None:
    server, plain = Server(), planned(rendered(tmp_path, IN_VLAN))
    applied(server, plain)
    assert modes(server, LEAF0) == {"Ethernet0": ("access", 110, []), "Ethernet4": ("access", 110, [])}
    assert modes(server, "gpu-000") == {"inband0": ("access", 110, []), "inband1": ("access", 110, [])}
    assert left(server, plain) == []


def test_vlans_that_people_change_are_found_and_corrected(paired: PlannedObjects) -> None:
    server = Server()
    applied(server, paired)
    number = server.named("devices", FIRST)["id"]
    ports = {each["name"]: each for each in server.interfaces.stored.values() if each["device"] == number}
    native, tagged = sorted(server.vlans.stored)
    ports["PortChannel0"] |= {"mode": "access", "tagged_vlans": []}
    ports["PortChannel4"] |= {"untagged_vlan": tagged, "tagged_vlans": [native]}
    server.vlans.stored[tagged]["name"] = "storage"  # people name VLANs
    changes = {change.name: dict(change.fields) for change in compare(netbox_of(server), paired).changes}
    assert changes == {
        f"{FIRST}:PortChannel0": {"mode": ("access", "tagged"), "tagged_vlans": ("", "in-band:vlan120")},
        f"{FIRST}:PortChannel4": {
            "untagged_vlan": ("storage", "in-band:vlan110"), "tagged_vlans": ("Vlan110", "in-band:vlan120"),
        },
    }  # fmt: skip
    applied(server, paired)
    assert left(server, paired) == [] and len(server.vlans.stored) == 2
    assert modes(server, FIRST)["PortChannel4"] == ("tagged", 110, [120])


def test_routed_ports_leave_their_vlans(tmp_path: Path) -> None:
    server, routed = Server(), planned(rendered(tmp_path, ROUTED))
    (tmp_path / "vlan").mkdir()
    plain = PAIRED.replace("kind: bond, vlan: 110, mclag: {}", "kind: vlan")
    applied(server, planned(rendered(tmp_path / "vlan", plain)))
    assert modes(server, FIRST) and not modes(server, FIRST).keys() - {"Ethernet0", "Ethernet4", "Ethernet8"}
    applied(server, routed)
    assert not modes(server, FIRST) and left(server, routed) == []
    assert server.vlans.stored  # of the site: people delete them


def test_a_run_that_breaks_within_port_channels_is_completed(paired: PlannedObjects) -> None:
    whole = Server()
    applied(whole, paired)
    for number in range(whole.writes):
        server = Server()
        server.breaks_at = number
        with pytest.raises(UsageError, match=r"the connection broke"):
            applied(server, paired)
        server.breaks_at = -1
        applied(server, paired)
        assert left(server, paired) == [] and contents(server) == contents(whole)


def test_a_member_of_another_port_channel_is_found_and_moved(paired: PlannedObjects) -> None:
    server = Server()
    applied(server, paired)
    device = server.named("devices", FIRST)["id"]
    ports = {each["name"]: each for each in server.interfaces.stored.values() if each["device"] == device}
    ports["Ethernet0"]["lag"] = ports["PortChannel4"]["id"]
    ports["Ethernet496"]["lag"] = None
    changes = compare(netbox_of(server), paired).changes
    assert {change.name: dict(change.fields) for change in changes} == {
        f"{FIRST}:Ethernet0": {"lag": ("PortChannel4", "in-band/su0/leaf0:PortChannel0")},
        f"{FIRST}:Ethernet496": {"lag": (None, "in-band/su0/leaf0:PortChannel496")},
    }
    applied(server, paired)
    assert left(server, paired) == [] and members(server, FIRST)["Ethernet0"] == "PortChannel0"


def test_routed_ports_become_a_bond(paired: PlannedObjects, tmp_path: Path) -> None:
    server = Server()
    routed = planned(rendered(tmp_path, ROUTED))
    applied(server, routed)
    assert not members(server, "gpu-000")
    applied(server, paired)
    assert left(server, paired) == [] and len(members(server, "gpu-000")) == 2
    applied(server, routed)
    assert left(server, routed) == [] and not members(server, "gpu-000")


def test_a_list_that_the_server_cuts_is_refused(server: Server, small: PlannedObjects) -> None:
    server.longest = 3
    with pytest.raises(UsageError, match=r"NetBox counts \d+ objects of \w+ and returned 3"):
        compare(netbox_of(server), small)


def test_only_some_devices(server: Server, tmp_path: Path) -> None:
    plan = compare(netbox_of(server), planned(bundle(tmp_path), only="leaf"), delete=False)
    assert plan.changes == [] and plan.counts[ObjectKind.DEVICE] == 2 and plan.counts[ObjectKind.CABLE] == 0
