"""Host models that a person describes: which NICs a row makes, and what is found wrong in it."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.findings import Severity
from fabricgen.inventory.host_models import OwnHostModel
from fabricgen.inventory.load import load_inventory
from fabricgen.render.plans import design_only
from tests.inventories import DELL, Tree, rail_optimized, write

NIC = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute"}


def tree_of(*nics: dict[str, Any], gpus: int = 8, **model: Any) -> Tree:
    tree = rail_optimized(2, 4, 3, DELL, "own")
    tree["host_models"] = {"own": {"gpus": gpus, "nics": list(nics), **model}}
    return tree


def own(folder: Path, *nics: dict[str, Any], gpus: int = 8, **model: Any) -> OwnHostModel:
    inventory, findings = load_inventory(write(folder, tree_of(*nics, gpus=gpus, **model)))
    assert findings == []
    return inventory.host_models["own"]


def codes(folder: Path, *nics: dict[str, Any], **model: Any) -> list[tuple[str, str]]:
    return [
        (finding.code, finding.message) for finding in design_only(write(folder, tree_of(*nics, gpus=8, **model)))[1]
    ]


def test_a_row_with_rails_is_a_nic_for_each(tmp_path: Path) -> None:
    model = own(tmp_path, {**NIC, "rails": 8, "ports": 1, "rdma": [f"mlx5_{n}" for n in range(8)]})
    assert (model.gpus, model.nvlink_domain, model.vendor) == (8, 8, "")
    (row,) = model.nics
    assert (row.model, row.speed_mbps, row.plane) == ("ConnectX-7", 400_000, "compute")
    assert [tuple(nic) for nic in row.made] == [(f"rail{n}", n, 0, n, "", f"mlx5_{n}") for n in range(8)]


def test_letters_distinguish_twin_ports(tmp_path: Path) -> None:
    """The same NICs as the catalog's twin-plane host, in its order."""
    (row,) = own(tmp_path, {**NIC, "rails": 4, "ports": 2}, gpus=4).nics
    assert [(nic.name, nic.rail, nic.port) for nic in row.made] == [
        ("rail0a", 0, 0), ("rail1a", 1, 0), ("rail2a", 2, 0), ("rail3a", 3, 0),
        ("rail0b", 0, 1), ("rail1b", 1, 1), ("rail2b", 2, 1), ("rail3b", 3, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gpus", "rails", "expected"),
    [
        (8, 24, [gpu for gpu in range(8) for _ in range(3)]),
        (8, 4, [0, 2, 4, 6]),
        (8, 3, [None] * 3),
        (0, 2, [None, None]),
    ],
)
def test_rails_share_the_gpus_evenly(gpus: int, rails: int, expected: list[int | None], tmp_path: Path) -> None:
    (row,) = own(tmp_path, {**NIC, "rails": rails}, gpus=gpus).nics
    assert [nic.gpu for nic in row.made] == expected


def test_single_nics(tmp_path: Path) -> None:
    rows = own(
        tmp_path,
        {**NIC, "name": "left", "rail": 0, "gpu": 3, "pci": "0000:01:00.0"},
        {**NIC, "name": "right", "rail": 0, "port": 1},
        {"name": "store", "model": "BlueField-3", "speed": "200G", "plane": "storage"},
        vendor="acme",
        nvlink_domain=72,
    ).nics
    assert [tuple(nic) for row in rows for nic in row.made] == [
        ("left", 0, 0, 3, "0000:01:00.0", ""),
        ("right", 0, 1, None, "", ""),
        ("store", None, 0, None, "", ""),
    ]


def test_an_own_model_comes_before_the_catalog_and_lays_out(tmp_path: Path) -> None:
    tree = tree_of({**NIC, "name": "port{rail}", "rails": 8}, nvlink_domain=16)
    tree["host_models"]["dgx-h100"] = tree["host_models"].pop("own")
    tree["hosts"]["gpu"]["model"] = "dgx-h100"
    fabric, findings = design_only(write(tmp_path, tree))
    assert findings == []
    assert {link.a_port for link in fabric.links if link.kind == "host-leaf"} == {f"port{n}" for n in range(8)}
    model = fabric.hosts[0].model
    assert (model.name, model.hosts_per_domain, model.sources) == ("dgx-h100", 2, {"all": "host_models.dgx-h100"})


def test_an_unknown_nic_is_a_note_and_a_speed_that_a_nic_lacks_is_an_error(tmp_path: Path) -> None:
    tree = tree_of({**NIC, "model": "FastCard 9", "rails": 8})
    findings = design_only(write(tmp_path / "note", tree))[1]
    assert [(finding.code, finding.severity) for finding in findings] == [("FG114", Severity.NOTE)]
    assert codes(tmp_path / "error", {**NIC, "rails": 8, "model": "connectx-8", "speed": "25G"})[0] == (
        "FG115",
        "ConnectX-8 has no port of 25G",
    )
    assert (
        codes(
            tmp_path / "ib",
            {**NIC, "rails": 8},
            {**NIC, "name": "x", "model": "ConnectX-8", "speed": "800G", "plane": "ib"},
        )
        == []
    )


@pytest.mark.parametrize(
    ("row", "code", "words"),
    [
        ({**NIC, "name": "rail"}, "FG102", "two NICs have the name 'rail'"),
        ({**NIC, "name": "r-{rank}"}, "FG105", "'r-{rank}' is not allowed as the name of a NIC"),
        ({**NIC, "rail": 0}, "FG105", "'rail' and 'rails' are in one row"),
        ({**NIC, "port": 0, "ports": 2}, "FG105", "'port' and 'ports' are in one row"),
        ({**NIC, "gpu": 1}, "FG105", "'gpu' and 'rails' are in one row"),
        ({**NIC, "rdma": ["a", "b"]}, "FG105", "2 rdma texts for 8 NICs"),
        ({**NIC, "pci": "0000:01:00.0"}, "FG105", "1 pci text for 8 NICs"),
        ({**NIC, "rails": 1, "pci": "18:00.0"}, "FG105", "'18:00.0' is not a PCI address in the form of sysfs"),
        (
            {**NIC, "rails": 1, "pci": "0000:AF:00.0"},
            "FG105",
            "'0000:AF:00.0' is not a PCI address in the form of sysfs",
        ),
        ({**NIC, "speed": "400"}, "FG105", "host_models.own.nics[0].speed"),
        ({**NIC, "plane": "com pute"}, "FG105", "host_models.own.nics[0].plane"),
    ],
)
def test_mistakes_of_a_row(row: dict[str, Any], code: str, words: str, tmp_path: Path) -> None:
    found = codes(tmp_path, {**row, "rails": 8})
    assert [message for each, message in found if each == code and words in message], found


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"rail": 1}, {"rail": 2}], "port 0 of plane compute has the rails 1, 2"),
        ([{"rail": 0}, {"rail": 0}], "port 0 of plane compute has the rails 0, 0"),
        ([{"rail": 0}, {"rail": 1}, {"rail": 3, "port": 1}], "port 1 of plane compute has the rails 3"),
        ([{"rail": 0, "gpu": 8}], "GPU 8 does not exist in a host with 8 GPUs"),
    ],
)
def test_mistakes_between_rows(rows: list[dict[str, int]], words: str, tmp_path: Path) -> None:
    found = codes(tmp_path, *({**NIC, "name": f"nic{n}", **row} for n, row in enumerate(rows)))
    assert ("FG105", words) in found


def test_a_mistake_in_a_model_is_reported_once(tmp_path: Path) -> None:
    tree = tree_of({**NIC, "rails": 8})
    del tree["host_models"]["own"]["gpus"]
    findings = design_only(write(tmp_path, tree))[1]
    assert [(finding.code, finding.message) for finding in findings] == [
        ("FG106", "'gpus' is missing in host_models.own")
    ]


def test_an_nvlink_domain_is_whole_hosts(tmp_path: Path) -> None:
    assert codes(tmp_path, {**NIC, "rails": 8}, nvlink_domain=12) == [
        ("FG105", "an NVLink domain of 12 GPUs is not a whole number of hosts with 8 GPUs")
    ]
