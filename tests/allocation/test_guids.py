"""Placeholder GUIDs, numbers of subnets, and the GUIDs of the hardware."""

from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from fabricgen.opensm.guids import guid_text, parse_guid
from fabricgen.render.plans import Plans, make_plans
from tests.inventories import Tree, write
from tests.render.infiniband.test_files import subnet_tree

SWITCH = "compute/su0/rail0/leaf0"
GUID = "0xe8ebd30300000001"


def plans_of(folder: Path, tree: Tree) -> Plans:
    plans = make_plans(write(folder, tree))
    assert [one.message for one in plans.findings if one.severity == "error"] == []
    return plans


@given(st.integers(1, 2**64 - 1))
def test_all_forms_of_a_guid_are_equal(number: int) -> None:
    digits = f"{number:016x}"
    forms = [digits, f"0x{digits}", digits.upper(), ":".join(digits[i : i + 4] for i in range(0, 16, 4)),
             ":".join(digits[i : i + 2] for i in range(0, 16, 2))]  # fmt: skip
    assert {parse_guid(form) for form in forms} == {guid_text(number)} == {f"0x{digits}"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0x",
        "0" * 16,
        "0x123",
        "gpu-000",
        "0123456789abcdef0",
        "10.0.0.1",
        "1:2:3:4:5:6:7:8",
        "01-23-45-67-89-ab-cd-ef",
    ],
)
def test_a_text_that_is_not_a_guid(text: str) -> None:
    with pytest.raises(ValueError, match="is not a GUID"):
        parse_guid(text)


def test_hosts_have_runs_of_64_placeholders_and_switches_one_each(tmp_path: Path) -> None:
    plans = plans_of(tmp_path, subnet_tree())
    numbers = [plans.lock.guids[f"gpu/{number}"] for number in range(4)]
    assert numbers == [0, 64, 128, 192]
    switches = sorted(plans.lock.guids[switch.key] for switch in plans.fabric.switches)
    assert switches == list(range(len(switches)))
    nics = [plans.allocation.guids.adapters["gpu/1", f"rail{rail}"] for rail in range(8)]
    assert [one.node for one in nics] == [guid_text(0x02FAB002_00000000 + 2 * (64 + rail)) for rail in range(8)]
    assert all(int(one.port, 16) == int(one.node, 16) + 1 for one in nics)


def test_subnets_are_numbered_from_1(tmp_path: Path) -> None:
    assert plans_of(tmp_path, subnet_tree()).allocation.subnets == {"compute": 1}


def test_an_adapter_may_use_one_guid_for_node_and_port(tmp_path: Path) -> None:
    guids = [{"host": "gpu/0", "nic": "rail0", "node_guid": GUID, "port_guid": GUID}]
    adapter = plans_of(tmp_path, {**subnet_tree(), "guids": guids}).allocation.guids.adapters["gpu/0", "rail0"]
    assert (adapter.node, adapter.port) == (GUID, GUID)


def test_a_reading_identifies_a_switch_by_its_guid(tmp_path: Path) -> None:
    """A switch with another name in the reading still gives the far end of its cables."""
    tree = subnet_tree()
    name = make_plans(write(tmp_path / "plain", tree)).allocation.names[SWITCH]
    tree["devices"] = [{"name": name, "guid": GUID}]
    tree["planes"]["compute"]["infiniband"] = {"discovered": ["fabric.ibnetdiscover"]}
    folder = write(tmp_path / "read", tree)
    plans = make_plans(write(tmp_path / "plain2", {**tree, "planes": subnet_tree()["planes"]}))
    link = next(one for one in plans.fabric.links if one.a.key == "gpu/0" and one.b.key == SWITCH)
    port = link.b.layout.port_numbers[link.b_port]
    (folder / "fabric.ibnetdiscover").write_text(
        f"switchguid={GUID}\n"
        f'Switch 64 "S-{GUID[2:]}" # "another name"\n'
        f'[{port}] "H-e8ebd30400000010"[1]\n'
        "caguid=0xe8ebd30400000010\n"
        'Ca 1 "H-e8ebd30400000010" # "gpu-000 HCA-1"\n'
        f'[1](e8ebd30400000011) "S-{GUID[2:]}"[{port}]\n'
    )
    found = make_plans(folder)
    assert "FG893" not in {one.code for one in found.findings}
    assert found.allocation.guids.adapters["gpu/0", link.a_port] == ("0xe8ebd30400000010", "0xe8ebd30400000011")
