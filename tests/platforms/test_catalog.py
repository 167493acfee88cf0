"""Every entry of the catalog is well formed, and equal to what the SKU's own files say."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import has_errors
from fabricgen.platforms.catalog import (
    host_model,
    host_names,
    layout_by_hwsku,
    load_switch_platform,
    nic_model,
    nic_names,
    switch_names,
    switch_platform,
)
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import HostModel, Layout, SwitchPlatform
from fabricgen.platforms.sonic_device.entry import import_device
from tests.shared_material import shared

DEVICE_FOLDERS = {
    "arista-7060x6-64pe": "arista_7060x6_64pe",
    "dell-z9664f": "dell_z9664f",
    "dell-z9864f": "dell_z9864f",
    "micas-w6940-64oc": "micas_w6940_64oc",
    "nokia-ixr7220-h5-64d": "nokia_ixr7220_h5_64d",
    "nvidia-sn4700": "nvidia_msn4700",
    "nvidia-sn5600": "nvidia_sn5600",
}


def switch(name: str) -> SwitchPlatform:
    platform = switch_platform(name)
    assert platform is not None
    return platform


def host(name: str) -> HostModel:
    model = host_model(name)
    assert model is not None
    return model


def layouts() -> list[Layout]:
    return [layout for name in switch_names() for layout in switch(name).layouts]


every_layout = pytest.mark.parametrize("layout", layouts(), ids=lambda layout: layout.hwsku)


def test_models_are_there() -> None:
    assert {*DEVICE_FOLDERS, "generic-64x400g"} <= set(switch_names())
    assert len(DEVICE_FOLDERS) == 7
    assert {f"{kind}-{gpu}" for kind in ("dgx", "hgx") for gpu in ("h100", "h200", "b200")} <= set(host_names())
    assert {"dgx-b300", "gb200-nvl72", "mi300x", "gaudi-3"} <= set(host_names())
    assert {"ConnectX-7", "ConnectX-8", "BlueField-3"} <= set(nic_names())
    assert nic_model("ConnectX-1") is None
    assert switch_platform("arista-7060x6-64p") is None
    assert host_model("dgx") is None


@pytest.mark.parametrize("name", switch_names())
def test_platform_names_itself_and_its_sources(name: str) -> None:
    platform = switch(name)
    assert platform.name == name == Path(platform.file).stem
    assert platform.buffer_model in ("traditional", "dynamic")
    assert platform.asic_vendor in ("broadcom", "nvidia", "marvell", "generic")
    assert platform.sources
    assert all(layout.sources for layout in platform.layouts)
    for layout in platform.layouts:
        assert not layout.headroom or layout.sources["headroom"]
        assert all(layout.sources[f"buffers.{role}"] for role in layout.buffers)


def test_the_documentation_lists_the_catalog() -> None:
    page = (Path(__file__).parents[2] / "docs" / "platforms.md").read_text(encoding="utf-8")
    for name in switch_names():
        for layout in switch(name).layouts:
            row = f"| `{name}` | `{layout.name}` | `{layout.hwsku}` | {switch(name).buffer_model} | "
            assert row + ("yes" if layout.headroom else "no: ") in page
    for name in host_names():
        assert f"| `{name}` | {host(name).gpus} | {host(name).nvlink_domain} | " in page


@every_layout
def test_lanes_and_names_are_unique(layout: Layout) -> None:
    lanes = [lane for port in layout.ports for lane in port.lanes]
    assert len(lanes) == len(set(lanes))
    for of_port in ("name", "alias"):
        values = [getattr(port, of_port) for port in layout.ports]
        assert len(values) == len(set(values))


@every_layout
def test_lane_count_and_name_step_agree(layout: Layout) -> None:
    counts = {len(port.lanes) for port in layout.fabric_ports}
    assert len(counts) == 1
    step = counts.pop()
    numbers = [int(port.name.removeprefix("Ethernet")) for port in layout.fabric_ports]
    first = numbers[0]  # Micas counts from 1
    assert numbers == list(range(first, first + step * len(numbers), step))


@every_layout
def test_breakout_siblings_share_cage_and_parent(layout: Layout) -> None:
    cages: dict[int, list[int]] = {}
    for port in layout.ports:
        parent = layout.port_by_name[port.parent]
        assert (parent.index, parent.breakout_mode) == (port.index, port.breakout_mode)
        cages.setdefault(port.index, []).append(port.subport)
    for index, subports in cages.items():
        mode = next(port.breakout_mode for port in layout.ports if port.index == index)
        count = int(mode.partition("x")[0])
        assert subports == ([0] if count == 1 else list(range(1, count + 1)))


@every_layout
def test_buffer_rows_refer_to_each_other(layout: Layout) -> None:
    for defaults in layout.buffers.values():
        assert all(profile["pool"] in defaults.pools for profile in defaults.profiles.values())
        named = {defaults.lossless_queue_profile, defaults.lossy_queue_profile, defaults.lossy_pg_profile}
        for names in defaults.port_profile_lists.values():
            named.update(names.split(","))
        assert named <= set(defaults.profiles)
        assert "ingress_lossless_pool" in defaults.pools


@every_layout
def test_headroom_rows_are_unique(layout: Layout) -> None:
    assert len(layout.headroom_by_key) == len(layout.headroom)


@pytest.mark.parametrize("name", switch_names())
def test_pools_fit_the_chip(name: str) -> None:
    """Pools and their headroom are part of the chip's memory, and one port's headroom is part of the pool's."""
    mmu_bytes = switch(name).mmu_bytes
    assert mmu_bytes is not None or "mmu_bytes" in switch(name).sources or "all" in switch(name).sources
    for layout in switch(name).layouts:
        for defaults in layout.buffers.values():
            for kind in ("ingress", "egress"):
                pools = [pool for pool in defaults.pools.values() if pool["type"] == kind]
                total = sum(int(pool.get("size", 0)) + int(pool.get("xoff", 0)) for pool in pools)
                assert mmu_bytes is None or total <= mmu_bytes
            shared_headroom = int(defaults.pools["ingress_lossless_pool"].get("xoff", 0))
            at_speed = [row for row in layout.headroom if row.speed_mbps == layout.speed_mbps]
            assert not shared_headroom or all(row.xoff_bytes < shared_headroom for row in at_speed)


@every_layout
def test_name_tells_the_radix(layout: Layout) -> None:
    assert layout.name == f"{len(layout.fabric_ports)}x{layout.speed_mbps // 1000}g"


def test_radix_counts_no_service_ports() -> None:
    assert switch("arista-7060x6-64pe").layout_for([400_000]) is switch("arista-7060x6-64pe").layouts[0]
    assert switch("arista-7060x6-64pe").layout_for([10_000]) is None


def test_layout_by_hwsku() -> None:
    for name in switch_names():
        for layout in switch(name).layouts:
            assert layout_by_hwsku(layout.hwsku) == (switch(name), layout)
    assert layout_by_hwsku("Force10-S6000") is None
    assert layout_by_hwsku("broadcom") is None


@pytest.mark.parametrize("name", host_names())
def test_hosts(name: str) -> None:
    model = host(name)
    assert model.name == name
    for plane in {nic.plane for nic in model.nics if nic.plane.startswith("compute")}:
        fabric = [nic for nic in model.nics if nic.plane == plane]
        assert [nic.rail for nic in fabric] == list(range(len(fabric)))
        each, rest = divmod(len(fabric), model.gpus)
        assert rest == 0 and [nic.gpu for nic in fabric] == [gpu for gpu in range(model.gpus) for _ in range(each)]
        assert model.sources[plane]
    assert all(nic.rail is None and nic.gpu is None for nic in model.nics if not nic.plane.startswith("compute"))
    assert model.nvlink_domain % model.gpus == 0
    for value in ("name", "pci", "rdma"):
        values = [getattr(nic, value) for nic in model.nics if getattr(nic, value)]
        assert len(values) == len(set(values))
    for nic in model.nics:
        card = nic_model(nic.model)
        assert card and card.name == nic.model
        assert nic.speed_mbps in card.ethernet_speeds_mbps


def test_a_rack_of_trays_is_one_nvlink_domain() -> None:
    assert host("gb200-nvl72").nvlink_domain == 18 * host("gb200-nvl72").gpus


@pytest.mark.parametrize("name", nic_names())
def test_nics(name: str) -> None:
    model = nic_model(name)
    assert model and model.name == name
    assert {"ethernet_speeds_mbps", "ports", "lossless_priorities"} == set(model.sources)
    assert list(model.ethernet_speeds_mbps) == sorted(set(model.ethernet_speeds_mbps))
    assert model.lossless_priorities is None or 1 <= model.lossless_priorities <= 8


@pytest.mark.parametrize(("name", "folder"), DEVICE_FOLDERS.items())
def test_ports_and_headroom_equal_the_skus_own_files(name: str, folder: str) -> None:
    def rows(file: str) -> list[list[str]]:
        lines = shared("data", "sonic", "device", folder, file).read_text().splitlines()
        return [line.split() for line in lines if line.strip() and not line.startswith("#")]

    layout = switch(name).layouts[0]
    ports = [
        [port.name, ",".join(map(str, port.lanes)), port.alias, str(port.index), str(port.speed_mbps), port.fec]
        for port in layout.ports
    ]
    written = rows("port_config.ini")
    assert [port[: len(row)] for port, row in zip(ports, written, strict=True)] == written
    headroom = [
        [row.speed_mbps, f"{row.cable_m}m", row.size_bytes, row.xon_bytes, row.xoff_bytes, row.dynamic_th]
        + ([] if row.xon_offset_bytes is None else [row.xon_offset_bytes])
        for row in layout.headroom
    ]
    assert [[str(value) for value in row] for row in headroom] == rows("pg_profile_lookup.ini")


@pytest.mark.parametrize("name", DEVICE_FOLDERS)
def test_pools_fit_the_survey_of_all_skus(name: str) -> None:
    platform = switch(name)
    topologies = {"leaf": ("t0",), "spine": ("t1",), "core": ("t2", "t1")}
    with shared("data", "sonic", "pools.csv").open() as file:
        surveyed = [row for row in csv.DictReader(file) if row["buffer_model"] == platform.buffer_model]
    for layout in platform.layouts:
        of_sku = [row for row in surveyed if row["hwsku"] == layout.hwsku]
        for role, defaults in layout.buffers.items():
            topology = next(each for each in topologies[role] if any(row["topo"] == each for row in of_sku))
            rows = {
                row["pool"]: {
                    "type": row["type"],
                    "mode": row["mode"],
                    "size": row["size_bytes"],
                    "xoff": row["xoff_bytes"],
                }
                for row in of_sku
                if row["topo"] == topology
            }
            assert {
                pool: {key: fields.get(key, "") for key in ("type", "mode", "size", "xoff")}
                for pool, fields in defaults.pools.items()
            } == rows


@pytest.mark.parametrize("name", switch_names())
def test_files_are_written_in_one_form(name: str) -> None:
    """A shipped file is what the importer would write for it, to the byte."""
    assert switch_entry_text(switch(name)) == Path(switch(name).file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "folder"), DEVICE_FOLDERS.items())
def test_an_import_gives_the_shipped_ports_and_headroom(name: str, folder: str) -> None:
    shipped = switch(name).layouts[0]
    imported, findings = import_device(shared("data", "sonic", "device", folder), shipped.hwsku)
    assert imported and not has_errors(findings)
    (layout,) = imported.layouts
    assert (layout.name, layout.hwsku, layout.headroom) == (shipped.name, shipped.hwsku, shipped.headroom)
    assert layout.ports == shipped.ports


def refusal(tmp_path: Path, text: str) -> str:
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(UnreadableInputError) as caught:
        load_switch_platform(file)
    return str(caught.value)


def test_own_platform_file(tmp_path: Path) -> None:
    original = Path(switch("dell-z9664f").file).read_text()
    own = tmp_path / "own.yaml"
    own.write_text(original)
    assert load_switch_platform(own) == switch("dell-z9664f")
    assert "cell_bytes must be a whole number" in refusal(
        tmp_path, original.replace("cell_bytes: 254", "cell_bytes: 254B")
    )
    assert "asics is not known here" in refusal(tmp_path, original + "asics: [a, b]\n")
    cut = re.sub(r"(tenGigE1/65 +65 +0) +Ethernet256", r"\1", original)
    assert "layouts[0].ports[1].rows line 2 must be: name lanes" in refusal(tmp_path, cut)
    assert "rows line 2: lanes must be numbers" in refusal(tmp_path, re.sub(r"258( +tenGigE1/65)", r"x\1", original))
    assert "headroom line 2 must be numbers" in refusal(tmp_path, re.sub(r"10000( +5 )", r"10G\1", original))
    assert "the file must be a mapping" in refusal(tmp_path, "[1]")
    assert ":1:" in refusal(tmp_path, "a: [")
    with pytest.raises(UnreadableInputError, match="No such file"):
        load_switch_platform(tmp_path / "absent.yaml")


def test_one_platform_is_read_in_time() -> None:
    """A whole fabric has a few platforms; each costs parsing once. The bar is 15 ms, the test leaves room for noise."""
    script = (
        "import time, yaml; from fabricgen.platforms.catalog import switch_platform as s; t = time.process_time();"
        "s('nvidia-sn5600'); print(time.process_time() - t)"
    )
    runs = [float(subprocess.check_output([sys.executable, "-c", script])) for _ in range(3)]
    assert min(runs) < 0.030
