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
    reordering,
    switch_names,
    switch_platform,
    switch_rows,
)
from fabricgen.platforms.catalog_index import INDEX, IndexedLayout, index_text
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import HostModel, Layout, PowerDraw, SwitchPlatform
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


# The index, because each process that collects these tests would load the files of all switches.
ROWS = switch_rows()


def ethernet_names() -> list[str]:
    return [name for name in switch_names() if ROWS[name][0].technology == "ethernet"]


def infiniband_names() -> list[str]:
    return [name for name in switch_names() if ROWS[name][0].technology == "infiniband"]


@pytest.fixture
def layout(request: pytest.FixtureRequest) -> Layout:
    """The layout of a row of the index."""
    row: IndexedLayout = request.param
    (found,) = [one for one in switch(row.platform).layouts if (one.name, one.hwsku) == (row.layout, row.hwsku)]
    return found


every_layout = pytest.mark.parametrize(
    "layout",
    [row for name in ethernet_names() for row in ROWS[name]],
    ids=lambda row: row.hwsku,
    indirect=True,
)
# Entries that were made by hand follow one form; those of the other SKUs say what the SKU's files say.
BY_HAND = {
    **dict.fromkeys([*DEVICE_FOLDERS, "nvidia-sn4600c", "nvidia-sn2201"], 1),
    "arista-7060x6-64pe": 3,
    "nvidia-sn4700": 3,
    "nvidia-sn5600": 3,
    "dell-s5232f": 2,
}
every_layout_by_hand = pytest.mark.parametrize(
    "layout",
    [row for name in sorted(BY_HAND) for row in ROWS[name][: BY_HAND[name]]],
    ids=lambda row: row.hwsku,
    indirect=True,
)
every_layout_of_infiniband = pytest.mark.parametrize(
    ("name", "layout"),
    [(name, row) for name in infiniband_names() for row in ROWS[name]],
    ids=lambda value: value if isinstance(value, str) else value.layout,
    indirect=["layout"],
)


def test_models_are_there() -> None:
    assert set(DEVICE_FOLDERS) <= set(ethernet_names())
    assert len(DEVICE_FOLDERS) == 7
    assert {"nvidia-sn4600c", "nvidia-sn2201", "dell-s5232f"} <= set(ethernet_names())
    assert {f"nvidia-{model}" for model in ("qm8700", "qm8790", "qm9700", "qm9790", "q3400")} <= set(infiniband_names())
    assert {f"{kind}-{gpu}" for kind in ("dgx", "hgx") for gpu in ("h100", "h200", "b200")} <= set(host_names())
    assert {"dgx-b300", "gb200-nvl72", "mi300x", "gaudi-3"} <= set(host_names())
    assert {"ConnectX-6", "ConnectX-7", "ConnectX-8", "BlueField-3"} <= set(nic_names())
    assert nic_model("ConnectX-1") is None
    assert switch_platform("arista-7060x6-64p") is None
    assert host_model("dgx") is None


@pytest.mark.parametrize("name", switch_names())
def test_platform_names_itself_and_its_sources(name: str) -> None:
    platform = switch(name)
    assert platform.name == name == Path(platform.file).stem
    assert platform.buffer_model in (("traditional", "dynamic") if platform.technology == "ethernet" else ("",))
    assert platform.asic_vendor in ("broadcom", "nvidia", "marvell")
    assert platform.sources
    assert set(platform.capabilities) <= set(platform.sources)
    assert platform.power_watts is None or platform.sources["power_watts"]
    assert platform.rack_units is None or platform.sources["rack_units"]
    assert all(layout.sources for layout in platform.layouts)
    for layout in platform.layouts:
        assert not layout.headroom or layout.sources["headroom"]
        assert all(layout.sources[f"buffers.{role}"] for role in layout.buffers)


@every_layout
def test_lanes_and_names_are_unique(layout: Layout) -> None:
    lanes = [lane for port in layout.ports for lane in port.lanes]
    assert len(lanes) == len(set(lanes))
    for of_port in ("name", "alias"):
        values = [getattr(port, of_port) for port in layout.ports]
        assert len(values) == len(set(values))


@every_layout_by_hand
def test_lane_count_and_name_step_agree(layout: Layout) -> None:
    for speed_mbps in layout.speeds_mbps:
        ports = layout.ports_at(speed_mbps)
        counts = {len(port.lanes) for port in ports}
        assert len(counts) == 1
        step = counts.pop()
        numbers = [int(port.name.removeprefix("Ethernet")) for port in ports]
        first = numbers[0]  # Micas counts from 1
        assert numbers == list(range(first, first + step * len(numbers), step))


@every_layout_by_hand
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


@pytest.mark.parametrize("name", ethernet_names())
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


@pytest.mark.parametrize("name", switch_names())
def test_layout_names_show_the_radix(name: str) -> None:
    for layout in switch(name).layouts:
        counts = [f"{len(layout.ports_at(speed))}x{speed // 1000}g" for speed in layout.speeds_mbps]
        assert layout.name in ("+".join(counts), layout.hwsku)


def test_radix_counts_no_service_ports() -> None:
    assert switch("arista-7060x6-64pe").layout_for([400_000]) is switch("arista-7060x6-64pe").layouts[0]
    assert switch("arista-7060x6-64pe").layout_for([10_000]) is None


def test_a_layout_of_two_speeds_serves_planes_of_either() -> None:
    """The copper ports of an out-of-band switch take the hosts, its fast ones lead up."""
    out_of_band = switch("nvidia-sn2201")
    (layout,) = out_of_band.layouts
    assert layout.speeds_mbps == (100_000, 1_000)
    assert out_of_band.layout_for([1_000]) is out_of_band.layout_for([1_000, 100_000]) is layout
    assert out_of_band.layout_for([10_000]) is None
    assert [port.name for port in layout.ports_at(1_000)] == [f"Ethernet{n}" for n in range(48)]
    assert [port.name for port in layout.ports_at(100_000)] == ["Ethernet48", "Ethernet52", "Ethernet56", "Ethernet60"]
    assert layout.ports_at(10_000) == ()


def test_a_layout_that_is_as_fast_as_the_plane_comes_first() -> None:
    rack = switch("dell-s5232f")
    assert [rack.layout_for([speed]).name for speed in (100_000, 25_000)] == ["32x100g", "8x100g+96x25g"]  # type: ignore[union-attr]


@every_layout_of_infiniband
def test_infiniband_ports_count_as_the_subnet_manager_counts(name: str, layout: Layout) -> None:
    assert [port.name for port in layout.ports] == [str(number) for number in range(1, len(layout.ports) + 1)]
    assert all(port.kind == "fabric" and not port.lanes for port in layout.ports)
    labels = [port.alias for port in layout.ports if port.alias]
    assert len(labels) == len(set(labels))


@every_layout_of_infiniband
def test_cages_and_connectors_of_infiniband(name: str, layout: Layout) -> None:
    """A twin-port cage has two connectors, each with a separate parent; the halves of a split port share a parent."""
    split = int(layout.ports[0].breakout_mode.partition("x")[0])
    twin = 1 if "qm87" in name else 2
    for port in layout.ports:
        number, parent = int(port.name), int(port.parent)
        assert parent == number - (number - 1) % split
        assert port.index == (number - 1) // (twin * split) + 1
        assert port.subport == (0 if twin * split == 1 else (number - 1) % (twin * split) + 1)
    assert len({port.parent for port in layout.ports}) * split == len(layout.ports)


@pytest.mark.parametrize(
    ("name", "radix"), {"qm8700": {200: 40, 100: 80}, "qm9790": {400: 64, 200: 128}, "q3400": {800: 144}}.items()
)
def test_infiniband_radix(name: str, radix: dict[int, int]) -> None:
    platform = switch(f"nvidia-{name}")
    assert {layout.speed_mbps // 1000: len(layout.fabric_ports) for layout in platform.layouts} == radix


def test_managed_switches_bring_a_subnet_manager() -> None:
    for managed, bare in (("qm8700", "qm8790"), ("qm9700", "qm9790")):
        assert switch(f"nvidia-{managed}").capabilities["subnet_manager"] == ("embedded",)
        assert switch(f"nvidia-{bare}").capabilities["subnet_manager"] == ("none",)
        assert (
            switch(f"nvidia-{managed}").layouts[0].fabric_ports[0].speed_mbps
            == switch(f"nvidia-{bare}").layouts[0].speed_mbps
        )


@pytest.mark.parametrize("name", ["generic-64x400g", "generic-576x400g", "generic-128x800g", "generic-48x1g"])
def test_bare_switches_are_made_on_demand(name: str) -> None:
    platform = switch(name)
    (layout,) = platform.layouts
    assert switch(name.upper().replace("GENERIC", "generic")) == platform
    assert (
        name == platform.name == f"generic-{layout.name}" == f"generic-{len(layout.ports)}x{layout.speed_mbps // 1000}g"
    )
    assert platform.serves("ethernet") and platform.serves("infiniband")
    assert not layout.headroom and not layout.buffers
    assert layout_by_hwsku(layout.hwsku) == (platform, layout)
    last = layout.ports[-1]
    assert (last.name, last.lanes[-1], last.index, last.parent) == (
        f"Ethernet{8 * len(layout.ports) - 8}",
        8 * len(layout.ports),
        len(layout.ports),
        last.name,
    )


@pytest.mark.parametrize("name", ["generic-0x400g", "generic-64", "generic-64x400", "generic-64x0g", "generic-64xg"])
def test_what_is_no_bare_switch(name: str) -> None:
    assert switch_platform(name) is None


def test_layout_by_hwsku() -> None:
    assert layout_by_hwsku("") is None  # InfiniBand switches have none
    for name in ethernet_names():
        for layout in switch(name).layouts:
            assert layout_by_hwsku(layout.hwsku) == (switch(name), layout)
    assert layout_by_hwsku("Force10-S6000") is None
    assert layout_by_hwsku("broadcom") is None


@pytest.mark.parametrize("name", host_names())
def test_hosts(name: str) -> None:
    model = host(name)
    assert model.name == name
    assert 0 in {nic.port for nic in model.nics}
    for port in {nic.port for nic in model.nics if nic.plane == "compute"}:
        fabric = [nic for nic in model.nics if nic.plane == "compute" and nic.port == port]
        assert [nic.rail for nic in fabric] == list(range(len(fabric)))
        each, rest = divmod(len(fabric), model.gpus)
        assert rest == 0 and [nic.gpu for nic in fabric] == [gpu for gpu in range(model.gpus) for _ in range(each)]
    assert all(nic.rail is None and nic.gpu is None for nic in model.nics if nic.plane != "compute")
    assert all(model.sources[nic.plane] for nic in model.nics)
    assert model.nvlink_domain % model.gpus == 0
    for value in ("name", "pci", "rdma"):
        values = [getattr(nic, value) for nic in model.nics if getattr(nic, value)]
        assert len(values) == len(set(values))
    for nic in model.nics:
        card = nic_model(nic.model)
        assert card and card.name == nic.model
        assert nic.speed_mbps in card.speeds_mbps
        assert card.ports is None or nic.port < card.ports


def test_a_rack_of_trays_is_one_nvlink_domain() -> None:
    tray = host("gb200-nvl72")
    assert (tray.gpus, tray.nvlink_domain, tray.hosts_per_domain) == (4, 72, 18)
    assert len({nic.rail for nic in tray.nics if nic.plane == "compute"}) == 4
    assert host("dgx-h100").hosts_per_domain == 1


def test_both_ports_of_a_twin_plane_nic_are_of_one_plane() -> None:
    """NIC of GPU i: rail i on either port of its cage."""
    nics = [nic for nic in host("dgx-b300").nics if nic.plane == "compute"]
    assert [(nic.name, nic.rail, nic.port) for nic in nics] == [
        (f"rail{rail}{letter}", rail, port) for port, letter in enumerate("ab") for rail in range(8)
    ]


@pytest.mark.parametrize("name", nic_names())
def test_nics(name: str) -> None:
    model = nic_model(name)
    assert model and model.name == name
    known = {"ethernet_speeds_mbps", "ports", "lossless_priorities"}
    known |= {"infiniband_speeds_mbps"} if model.infiniband_speeds_mbps else set()
    known |= {"ports_per_cage"} if model.ports_per_cage > 1 else set()
    known |= {key for key in ("driver", "pci_id", "lanes", "lane_mbps") if getattr(model, key)}
    assert known == set(model.sources)
    for speeds in (model.ethernet_speeds_mbps, model.infiniband_speeds_mbps):
        assert list(speeds) == sorted(set(speeds))
    assert set(model.speeds_mbps) == {*model.ethernet_speeds_mbps, *model.infiniband_speeds_mbps}
    assert model.lossless_priorities is None or 1 <= model.lossless_priorities <= 8
    assert name == "BMC" if model.reordering is None else model.reordering.source


def test_reordering_of_nics() -> None:
    """NVIDIA documents it; of the others nothing was found, which their files say."""
    assert {name: (found.recovery.value, found.is_assumed) for name in nic_names() if (found := reordering(name))} == {
        "BCM57608": ("go-back-n", True),
        "BMC": ("go-back-n", True),
        "BlueField-3": ("in-order-placement", False),
        "ConnectX-6": ("in-order-placement", False),
        "ConnectX-7": ("in-order-placement", False),
        "ConnectX-8": ("in-order-placement", False),
        "ConnectX-9": ("in-order-placement", True),
        "E830": ("go-back-n", True),
        "Gaudi-3": ("go-back-n", True),
        "Pollara-400": ("go-back-n", True),
    }
    assert reordering("of a site").is_assumed


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


def test_headroom_is_that_of_the_survey_of_all_skus() -> None:
    """The survey was made by another program."""
    surveyed: dict[str, set[tuple[str, ...]]] = {}
    with shared("data", "sonic", "pg_profiles.csv").open() as file:
        for row in csv.DictReader(file):
            cells = [row[key] for key in ("speed_mbps", "cable", "size_bytes", "xon_bytes", "xoff_bytes", "threshold")]
            surveyed.setdefault(row["hwsku"], set()).add(tuple(cells))
    compared = 0
    for name in ethernet_names():
        for layout in switch(name).layouts:
            rows = {
                (str(r.speed_mbps), f"{r.cable_m}m", *map(str, (r.size_bytes, r.xon_bytes, r.xoff_bytes, r.dynamic_th)))
                for r in layout.headroom
            }
            if layout.hwsku in surveyed:
                assert rows <= surveyed[layout.hwsku], layout.hwsku
                compared += bool(rows)
    assert compared >= 60


def test_the_index_is_that_of_the_entries(update: bool) -> None:
    if update:
        INDEX.write_text(index_text(INDEX.parent / "switches"), encoding="utf-8")
    assert index_text(INDEX.parent / "switches") == INDEX.read_text(encoding="utf-8")
    assert sum(bool(row.lossless) for rows in switch_rows().values() for row in rows) >= 60


@pytest.mark.parametrize("name", DEVICE_FOLDERS)
def test_pools_fit_the_survey_of_all_skus(name: str) -> None:
    platform = switch(name)
    topologies = {"leaf": ("t0",), "spine": ("t1",), "core": ("t2", "t1")}
    with shared("data", "sonic", "pools.csv").open() as file:
        surveyed = [row for row in csv.DictReader(file) if row["buffer_model"] == platform.buffer_model]
    for layout in platform.layouts[: BY_HAND[name]]:
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
    assert "onie_platform must be text" in refusal(tmp_path, re.sub("onie_platform.*\n", "", original))
    assert "asics is not known here" in refusal(tmp_path, original + "asics: [a, b]\n")
    cut = re.sub(r"(tenGigE1/65 +65 +0) +Ethernet256", r"\1", original)
    assert "layouts[0].ports[1].rows line 2 must be: name lanes" in refusal(tmp_path, cut)
    assert "rows line 2: lanes must be numbers" in refusal(tmp_path, re.sub(r"258( +tenGigE1/65)", r"x\1", original))
    assert "headroom line 2 must be numbers" in refusal(tmp_path, re.sub(r"10000( +5 )", r"10G\1", original))
    assert "the file must be a mapping" in refusal(tmp_path, "[1]")
    assert ":1:" in refusal(tmp_path, "a: [")
    with pytest.raises(UnreadableInputError, match="No such file"):
        load_switch_platform(tmp_path / "absent.yaml")


def test_own_infiniband_switch(tmp_path: Path) -> None:
    original = Path(switch("nvidia-q3400").file).read_text()
    own = tmp_path / "own.yaml"
    own.write_text(original)
    assert load_switch_platform(own) == switch("nvidia-q3400")
    as_ethernet = original.replace("technology: infiniband\n", "")
    assert "lanes must be numbers" in refusal(tmp_path, as_ethernet)
    assert "technology must be ethernet or infiniband or any" in refusal(
        tmp_path, original.replace("technology: infiniband", "technology: token-ring")
    )
    assert "has no port of the kind fabric" in refusal(tmp_path, original.replace("kind: fabric", "kind: service"))


def test_power_of_an_own_switch(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(Path(switch("nvidia-q3400").file).read_text() + "power_watts: {typical: 900, maximum: null}\n")
    loaded = load_switch_platform(own)
    assert loaded.power_watts == PowerDraw(900, None)
    own.write_text(switch_entry_text(loaded))
    assert load_switch_platform(own) == loaded


def test_one_platform_costs_one_file() -> None:
    """A whole fabric has a few platforms, so only their files are opened, not those of the other models."""
    script = (
        "import pathlib, sys; from fabricgen.platforms.catalog import switch_platform as s; opened = [];"
        "sys.addaudithook(lambda event, of: event == 'open' and opened.append(pathlib.Path(str(of[0])).name));"
        "s('nvidia-sn5600'); print(*[name for name in opened if name.endswith(('.yaml', '.json'))])"
    )
    opened = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    assert set(opened) == {"nvidia-sn5600.yaml"}
