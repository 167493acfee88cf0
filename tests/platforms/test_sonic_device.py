"""Import of device folders: a small folder (`device/`) with every irregularity of real folders."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.cli.main import run
from fabricgen.findings import Finding, Severity, has_errors
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.platforms.sonic_device.entry import DeviceFacts, import_device
from tests.examples import examples
from tests.platforms.tiny import tiny_inventory

DEVICE = Path(__file__).with_name("device")
BOX = "acme/x86_64-acme_box4-r0"
SKU = f"{BOX}/Acme-Box4-O8"


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A copy of the tree, to be changed."""
    return shutil.copytree(DEVICE, tmp_path / "device")


def imported(folder: Path, hwsku: str = "", **facts: object) -> tuple[SwitchPlatform, list[Finding]]:
    platform, findings = import_device(folder, hwsku, DeviceFacts(**facts))  # type: ignore[arg-type]
    assert platform and not has_errors(findings)
    return platform, findings


def layout_of(folder: Path) -> Layout:
    return imported(folder)[0].layouts[0]


def reported(findings: list[Finding], code: str, words: str) -> Finding:
    found = [finding for finding in findings if finding.code == code and words in finding.message]
    assert found, [str(finding) for finding in findings]
    return found[0]


def test_platform_folder() -> None:
    platform, findings = imported(DEVICE / BOX, source="some-tree@1234")
    assert (platform.name, platform.vendor) == ("acme-box4", "acme")
    assert platform.onie_platform == "x86_64-acme_box4-r0"
    assert (platform.asic_vendor, platform.buffer_model) == ("broadcom", "traditional")
    assert (platform.asic, platform.cell_bytes, platform.mmu_bytes) == (None, None, None)
    reported(findings, "FG126", "ASIC (--asic), cell size (--cell-bytes), memory of the chip (--mmu-bytes)")
    assert platform.capabilities["pfc_to_pg_map"] == ("no",)
    assert [layout.name for layout in platform.layouts] == ["8x400g", "4x800g"]  # the default SKU first
    sources = platform.layouts[0].sources
    assert sources["headroom"] == f"some-tree@1234:device/{SKU}/pg_profile_lookup.ini"
    assert sources["buffers.spine"] == f"some-tree@1234:device/{SKU}/buffers_defaults_t1.j2"


def test_facts_that_are_given() -> None:
    facts = {"name": "box", "asic": "Chip7", "cell_bytes": 200, "mmu_bytes": 90_000_000}
    platform, findings = imported(DEVICE / SKU, **facts)
    assert (platform.name, platform.asic, platform.cell_bytes, platform.mmu_bytes) == tuple(facts.values())
    assert platform.sources["cell_bytes"] == "given at import"
    assert not [finding for finding in findings if "--asic" in finding.message]


def test_ports() -> None:
    layout = layout_of(DEVICE / SKU)
    port = layout.port_by_name["Ethernet12"]
    assert (port.lanes, port.alias, port.index) == ((13, 14, 15, 16), "etp2b", 2)
    assert (port.subport, port.parent, port.breakout_mode) == (2, "Ethernet8", "2x400G")
    assert (port.speed_mbps, port.fec, port.kind) == (400_000, "rs", "fabric")
    service = layout.port_by_name["Ethernet32"]
    assert (service.kind, service.fec, service.subport, service.parent) == ("service", "none", 0, "Ethernet32")
    assert len(layout.fabric_ports) == 8


def test_a_service_port_beside_many_slow_ones(device: Path) -> None:
    """A rack switch: five ports of 100G are not service ports, the port of 10G is."""
    file = device / SKU / "port_config.ini"
    file.write_text(file.read_text().replace("400000", "100000", 5))
    layout = layout_of(device / SKU)
    assert layout.name == "3x400g+5x100g"
    assert [port.name for port in layout.ports if port.kind == "service"] == ["Ethernet32"]


def test_two_files_that_disagree(device: Path) -> None:
    """Ports of four lanes whose cage is said to have two ports of one lane each."""
    file = device / SKU / "hwsku.json"
    content = json.loads(file.read_text())
    platform = json.loads(next(device.rglob("platform.json")).read_text())["interfaces"]
    parent = next(name for name in content["interfaces"] if name in platform)
    content["interfaces"][parent]["default_brkout_mode"] = "8x100G"
    file.write_text(json.dumps(content, indent=1))
    entry, findings = import_device(device / SKU)
    (found,) = [one for one in findings if one.code == "FG145"]
    assert entry is None and found.severity == "error" and f"{parent} has" in found.message
    assert found.location and found.location.file.endswith("port_config.ini") and found.location.line
    (there,) = found.related
    assert there.location.file == str(file) and f'"{parent}"' in file.read_text().splitlines()[there.location.line - 1]


def test_ports_from_breakout_modes_alone() -> None:
    """Without port_config.ini, as SONiC does it; hwsku.json's mode does not have the other speeds."""
    layout = layout_of(DEVICE / BOX / "Acme-Box4-P4")
    assert [port.name for port in layout.fabric_ports] == ["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24"]
    port = layout.port_by_name["Ethernet8"]
    assert (port.alias, port.index, port.speed_mbps, port.fec) == ("etp2", 2, 800_000, "rs")
    assert layout.port_by_name["Ethernet32"].fec == ""


def test_headroom() -> None:
    first = layout_of(DEVICE / SKU).headroom[0]
    assert (first.speed_mbps, first.cable_m, first.size_bytes, first.xon_bytes) == (400_000, 5, 2048, 0)
    assert (first.xoff_bytes, first.dynamic_th, first.xon_offset_bytes) == (300_032, -1, 4096)


def test_buffers_of_each_role() -> None:
    platform, findings = imported(DEVICE / SKU)
    buffers = platform.layouts[0].buffers
    assert buffers["leaf"].pools["ingress_lossless_pool"]["xoff"] == "5000000"
    assert buffers["leaf"].profiles["egress_lossy_profile"]["pool"] == "egress_lossless_pool"
    reported(findings, "FG125", "[BUFFER_POOL|")
    assert buffers["leaf"].lossy_queue_profile == "egress_lossy_profile"  # buffers_config.j2's own
    assert buffers["spine"].lossy_queue_profile == "queue_lossy_profile"  # of the macro
    assert buffers["core"] == buffers["spine"]
    reported(findings, "FG127", "buffers_defaults_t2.j2 is missing: a core uses buffers_defaults_t1.j2")


def test_pools_without_the_one_for_headroom(device: Path) -> None:
    for file in (T0, T1, "buffers_defaults_objects.j2"):
        replaced(file, "ingress_lossless_pool", "ingress_pool")(device)
    platform, findings = imported(device / SKU)
    assert platform.layouts[0].buffers == {}
    reported(findings, "FG124", "no ingress_lossless_pool")


def test_fec_of_fast_lanes_is_known(device: Path) -> None:
    replaced(PORTS, r" fec ", " mtu ")(device)
    ports = layout_of(device / SKU).port_by_name
    assert (ports["Ethernet0"].fec, ports["Ethernet32"].fec) == ("rs", "")


def test_a_template_of_its_own_for_the_core(device: Path) -> None:
    text = (device / SKU / "buffers_defaults_t1.j2").read_text()
    (device / SKU / "buffers_defaults_t2.j2").write_text(text.replace("50000000, 15", "40000000, 25"))
    buffers = layout_of(device / SKU).buffers
    assert buffers["core"].pools["ingress_lossless_pool"]["size"] == "40000000"


def test_dynamic_model_of_nvidia(device: Path) -> None:
    (device / BOX / "platform_asic").write_text("mellanox\n")
    (device / SKU / "buffers_dynamic.json.j2").write_text("")
    objects = device / SKU / "buffers_defaults_objects.j2"
    sized = '"size": "{{ size }}", '
    only_static = f" {{% if dynamic_mode is not defined %}}{sized}{{% endif %}}"
    objects.write_text(objects.read_text().replace(sized, only_static))
    platform, findings = imported(device / BOX)
    assert (platform.buffer_model, platform.asic_vendor) == ("dynamic", "nvidia")
    assert "size" not in platform.layouts[0].buffers["leaf"].pools["ingress_lossless_pool"]
    assert platform.capabilities["pfc_to_pg_map"] == ("yes",)
    built_in = switch_platform("nvidia-sn5600")
    assert built_in and platform.capabilities == built_in.capabilities
    reported(findings, "FG121", "Acme-Box4-P4 has no buffers_dynamic.json.j2")


def test_a_sku_without_headroom_is_listed_with_the_reason() -> None:
    platform, findings = imported(DEVICE / BOX, "Acme-Box4-P4")
    assert not platform.layouts[0].headroom
    assert reported(findings, "FG123", "refused for lossless planes").severity is Severity.WARNING
    reported(findings, "FG124", "no buffers_defaults_*.j2")


def replaced(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(device: Path) -> None:
        text = (device / SKU / file).read_text()
        assert re.search(old, text)
        (device / SKU / file).write_text(re.sub(old, new, text))

    return change


def written(file: str, text: str) -> Callable[[Path], None]:
    return lambda device: (device / file).write_text(text) and None


def _rename_pool(device: Path) -> None:
    for file in (T0, "buffers_defaults_objects.j2"):
        replaced(file, "egress_lossless_pool", "egress_lossy_pool")(device)


PORTS, ROWS = "port_config.ini", "pg_profile_lookup.ini"
T0, T1 = "buffers_defaults_t0.j2", "buffers_defaults_t1.j2"
UNUSUAL = {
    "no lanes": (replaced(PORTS, "13,14,15,16 ", "N/A "), "FG121", "Ethernet12, which has no lanes (N/A)"),
    "one port twice": (replaced(PORTS, "Ethernet12 ", "Ethernet8 "), "FG121", "the name or a lane of a port before"),
    "backplane": (replaced(PORTS, "Ethernet12 ", "Ethernet-BP12 "), "FG121", "Ethernet-BP12, which is not the name of"),
    "inner role": (replaced(PORTS, "autoneg((.|\n)*?)off", r"role\1Int"), "FG121", "leads to a chip inside the switch"),
    "no number": (replaced(PORTS, "400000  rs", "400G  rs"), "FG121", "Ethernet0 and 7 more ports, which has a speed"),
    "too many values": (replaced(PORTS, "off\nE", "off on\nE"), "FG121", "Ethernet0 has 8 values for 7 columns"),
    "unknown column": (replaced(PORTS, "autoneg", "colour "), "FG122", "not imported: colour"),
    "no index": (replaced(PORTS, "index", "shelf"), "FG122", "shelf"),
    "bad row": (replaced(ROWS, "300032", "many"), "FG121", "is not speed, cable, size"),
    "row twice": (replaced(ROWS, "40m ", "5m "), "FG121", "a second row for 400000 and 5m"),
    "not JSON": (written(f"{SKU}/hwsku.json", "{"), "FG121", "hwsku.json is not JSON"),
    "no object": (written(f"{BOX}/platform.json", "[]"), "FG121", "platform.json is not an object"),
    "bad lanes": (
        written(f"{BOX}/platform.json", '{"interfaces": {"Ethernet0": {"lanes": "a,b"}}}'),
        "FG121",
        "lanes that are not numbers",
    ),
    "syntax error": (replaced(T0, "endmacro", "endmakro"), "FG124", "gives no buffers for a leaf: "),
    "missing include": (replaced(T0, "objects.j2", "things.j2"), "FG124", "it needs buffers_defaults_things.j2"),
    "unknown name": (replaced(T0, "60000000, 5000000", "1 / 0"), "FG124", "division by zero"),
    "no JSON made": (replaced(T0, '"0", ', '"0" '), "FG124", "gives no buffers for a leaf"),
    "nothing made": (replaced(T0, "macro gen", "macro degen"), "FG124", "it defines no pools and profiles"),
    "dangling pool": (replaced(T1, "egress_lossless_pool", "egress_pool"), "FG124", "refers to pool egress_pool"),
    "all lossy": (_rename_pool, "FG124", "of egress_lossy_pool: nothing is lossless"),
    "one profile for all": (replaced(T1, "queue_lossy", "egress_lossless"), "FG124", "nothing is lossless"),
    "sandbox": (replaced(T0, "60000000, 5000000", "''.__class__.__mro__, 1"), "FG124", "unsafe"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_content_is_a_finding(name: str, device: Path) -> None:
    change, code, words = UNUSUAL[name]
    change(device)
    platform, findings = import_device(device / SKU)
    reported(findings, code, words)
    if platform:
        assert switch_entry_text(platform)


def test_no_index_counts_cages(device: Path) -> None:
    replaced(PORTS, "index", "shelf")(device)
    assert [port.index for port in layout_of(device / SKU).ports] == [1, 1, 2, 2, 3, 3, 4, 4, 5]  # of platform.json
    (device / BOX / "platform.json").unlink()
    platform, findings = imported(device / SKU)
    assert [port.index for port in platform.layouts[0].ports] == list(range(1, 10))
    reported(findings, "FG127", "9 ports have no index")


def test_breakout_mode_is_inferred_only_where_it_is_the_only_one(device: Path) -> None:
    (device / SKU / "hwsku.json").unlink()
    assert {port.breakout_mode for port in layout_of(device / SKU).fabric_ports} == {"2x400G"}
    content = json.loads((device / BOX / "platform.json").read_text())
    modes = content["interfaces"]["Ethernet8"]["breakout_modes"]
    modes["2x400G[200G]"] = modes["2x400G"]
    (device / BOX / "platform.json").write_text(json.dumps(content))
    platform, findings = imported(device / SKU)
    assert platform.layouts[0].port_by_name["Ethernet8"].breakout_mode == ""
    reported(findings, "FG126", "the breakout mode of 2 ports is not stated")


def test_links_inside_the_tree(device: Path) -> None:
    shared = device / "common" / "profiles"
    shared.mkdir(parents=True)
    for name in (ROWS, T0):
        (device / SKU / name).rename(shared / name)
        (device / SKU / name).symlink_to(Path("../../../common/profiles") / name)
    (device / BOX / "Acme-Box4-Twin").symlink_to("Acme-Box4-O8")
    platform, _ = imported(device / BOX)
    assert [layout.hwsku for layout in platform.layouts] == ["Acme-Box4-O8", "Acme-Box4-P4", "Acme-Box4-Twin"]
    first, _, twin = platform.layouts
    assert (first.headroom, first.buffers, first.ports) == (twin.headroom, twin.buffers, twin.ports)
    assert first.headroom == layout_of(DEVICE / SKU).headroom
    assert first.sources["headroom"] == f"device/common/profiles/{ROWS}"
    assert (first.name, twin.name) == ("8x400g", "Acme-Box4-Twin")  # names are unique


def test_links_that_leave_the_tree_are_not_followed(device: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("  400000  5m  1  1  1  1\n")
    (device / SKU / ROWS).unlink()
    (device / SKU / ROWS).symlink_to(secret)
    (device / SKU / T0).unlink()
    (device / SKU / T0).symlink_to("../nowhere.j2")
    platform, findings = imported(device / SKU)
    assert not platform.layouts[0].headroom
    reported(findings, "FG121", "leaves device/")
    (device / SKU / PORTS).unlink()
    (device / SKU / PORTS).symlink_to("gone.ini")
    reported(import_device(device / SKU)[1], "FG121", "is a link to gone.ini, which is missing")


def test_flat_folder(tmp_path: Path) -> None:
    """The files of platform and SKU in one folder, without a device tree."""
    flat = shutil.copytree(DEVICE / SKU, tmp_path / "flat")
    shutil.copy(DEVICE / BOX / "platform.json", flat)
    platform, findings = imported(flat, "Acme-Box4-O8", onie_platform="x86_64-acme_box4-r0", asic_vendor="broadcom")
    assert platform.layouts[0].hwsku == "Acme-Box4-O8"
    assert platform.layouts[0].ports == layout_of(DEVICE / SKU).ports
    assert not [finding for finding in findings if "ONIE" in finding.message]
    _, findings = imported(flat)
    reported(findings, "FG126", "vendor of the ASIC (--asic-vendor)")
    assert "--onie-platform" in reported(findings, "FG126", "not an ONIE platform").hint


@pytest.mark.parametrize("folder", [BOX, SKU, f"{BOX}/Acme-Box4-P4"])
def test_entry_text_gives_the_platform_back(folder: str, tmp_path: Path) -> None:
    platform, _ = imported(DEVICE / folder)
    file = tmp_path / "entry.yaml"
    file.write_text(switch_entry_text(platform))
    assert load_switch_platform(file) == platform
    assert str(tmp_path) not in file.read_text() and str(DEVICE) not in file.read_text()


CHAOS = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            [*'{}[]:,#|%"', "Ethernet0", "Ethernet4", "name", "lanes", "speed", "index", "1,2,3,4", "400000"]
        ),
        st.sampled_from(
            ["5m", "\n", " ", "\t", "2x400G", "interfaces", "breakout_modes", "{%- endmacro %}", "{{ x }}", "²"]
        ),
    ),
    max_size=25,
).map("".join)
FILES = (f"{BOX}/platform.json", f"{BOX}/platform_asic", f"{BOX}/default_sku", f"{SKU}/hwsku.json", f"{SKU}/{PORTS}",
         f"{SKU}/{ROWS}", f"{SKU}/{T0}", f"{SKU}/{T1}")  # fmt: skip


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, of which one file at a time is broken."""
    return shutil.copytree(DEVICE, tmp_path_factory.mktemp("broken") / "device")


@settings(max_examples=examples(150), deadline=None)
@given(file=st.sampled_from(FILES), junk=CHAOS, cut=st.floats(0, 1), keep=st.booleans())
def test_no_file_content_stops_an_import(broken: Path, file: str, junk: str, cut: float, keep: bool) -> None:
    """Whatever a file holds, there is an entry that can be written and read, or there are findings that say why not."""
    text = (DEVICE / file).read_text()
    at = int(cut * len(text))
    (broken / file).write_text(text[:at] + junk + (text[at:] if keep else ""), encoding="utf-8")
    try:
        platform, findings = import_device(broken / BOX)
    finally:
        (broken / file).write_text(text, encoding="utf-8")
    if platform is None:
        assert has_errors(findings)
        return
    entry = broken / "entry.yaml"
    entry.write_text(switch_entry_text(platform), encoding="utf-8")
    assert load_switch_platform(entry) == platform


def exit_code(*arguments: str) -> object:
    with pytest.raises(SystemExit) as stop:
        run(list(arguments))
    return stop.value.code


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("import", "sonic-device", str(DEVICE / SKU)) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("name: acme-box4\n")
    assert "note FG127" in printed.err
    file = tmp_path / "box.yaml"
    assert exit_code("import", "sonic-device", str(DEVICE / SKU), "--output", str(file)) == 0
    assert file.read_text() == printed.out
    assert exit_code("import", "sonic-device", str(DEVICE / BOX), "--hwsku", "Acme-Box4-X") == 1
    assert (
        "error FG120 nothing to import: this SKU does not exist; known: Acme-Box4-O8, Acme-Box4-P4"
        in capsys.readouterr().err
    )
    assert exit_code("import", "sonic-device", str(DEVICE)) == 1
    assert exit_code("import", "sonic-device", str(DEVICE / "nowhere")) == 2


def test_an_imported_sku_renders_like_a_built_in_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inventory = tmp_path / "fabric.yaml"
    assert exit_code("import", "sonic-device", str(DEVICE / SKU), "-o", str(tmp_path / "box.yaml")) == 0
    inventory.write_text(tiny_inventory("acme-box4", layout_of(DEVICE / SKU), "box.yaml"))
    capsys.readouterr()
    assert exit_code("check", str(inventory), "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    warned = {one["code"] for one in found["findings"] if one["severity"] == "warning"}
    # Without hosts every switch must reach every other one: FG606.
    assert (found["summary"]["errors"], warned, found["summary"]["devices"]) == (0, {"FG606"}, 6)
    assert exit_code("render", str(inventory), "--output", str(tmp_path / "build")) == 0
    leaf, spine = (
        json.loads((tmp_path / "build" / "sonic" / name / "config_db.json").read_text()) for name in ("leaf1", "spine1")
    )
    assert leaf["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"] == {
        "pool": "ingress_lossless_pool", "size": "2048", "xon": "0", "xoff": "300032", "dynamic_th": "-1",
        "xon_offset": "4096",
    }  # fmt: skip
    assert leaf["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] == "5000000"
    assert spine["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] == "15000000"
    assert leaf["PORT"]["Ethernet12"]["lanes"] == "13,14,15,16"
    assert leaf["DEVICE_METADATA"]["localhost"]["platform"] == "x86_64-acme_box4-r0"


def test_an_imported_sku_is_judged_by_its_own_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inventory, build, own = tmp_path / "fabric.yaml", tmp_path / "build", tmp_path / "box.yaml"
    assert exit_code("import", "sonic-device", str(DEVICE / SKU), "-o", str(own)) == 0
    text = tiny_inventory("acme-box4", layout_of(DEVICE / SKU), "box.yaml")
    inventory.write_text(text)
    assert exit_code("render", str(inventory), "--output", str(build)) == 0
    file = build / "sonic" / "leaf1" / "config_db.json"
    file.write_text(file.read_text().replace('"lanes": "13,14,15,16"', '"lanes": "17,18,19,20"'))
    capsys.readouterr()

    def found(*arguments: str) -> set[tuple[str, str, str]]:
        exit_code(*arguments, "--expand", "--format", "json")
        findings = json.loads(capsys.readouterr().out)["findings"]
        return {(one["code"], one.get("device", ""), one["severity"]) for one in findings}

    wrong_lanes, unknown = ("FG232", "leaf1", "error"), ("FG226", "leaf1", "note")
    assert wrong_lanes in found("validate", str(build), "--platform", str(own))
    assert wrong_lanes in found("validate", str(build)), "the bundle carries the entry"
    without = found("validate", str(build / "sonic"))
    assert unknown in without and wrong_lanes not in without
    inventory.write_text(
        f"{text}overrides:\n  - match: {{name: leaf1}}\n    config_db: {{PORT: {{Ethernet12: {{index: '9'}}}}}}\n"
    )
    assert wrong_lanes in found("check", str(inventory))


def test_an_imported_sku_without_headroom_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sku = DEVICE / BOX / "Acme-Box4-P4"
    assert exit_code("import", "sonic-device", str(sku), "-o", str(tmp_path / "box.yaml")) == 0
    inventory = tmp_path / "fabric.yaml"
    inventory.write_text(tiny_inventory("acme-box4", layout_of(sku), "box.yaml"))
    assert exit_code("check", str(inventory)) == 1
    assert "so it cannot be lossless" in capsys.readouterr().out


def test_a_platform_file_that_does_not_fit_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inventory = tmp_path / "fabric.yaml"
    inventory.write_text(tiny_inventory("acme-box4", layout_of(DEVICE / SKU), "box.yaml"))
    for text, words in (
        (None, "No such file"),
        ("name: [", "box.yaml cannot be used"),
        ("name: box", "layouts must be"),
    ):
        if text:
            (tmp_path / "box.yaml").write_text(text)
        assert exit_code("check", str(inventory), "--format", "json") == 1
        findings = json.loads(capsys.readouterr().out)["findings"]
        assert [words in finding["message"] for finding in findings if finding["code"] == "FG211"] == [True]


def test_a_pool_shows_its_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inventory, build = tmp_path / "fabric.yaml", str(tmp_path / "build")
    assert exit_code("import", "sonic-device", str(DEVICE / SKU), "-o", str(tmp_path / "box.yaml")) == 0
    inventory.write_text(tiny_inventory("acme-box4", layout_of(DEVICE / SKU), "box.yaml"))
    assert exit_code("render", str(inventory), "--output", build) == 0
    for device, file in (("leaf1", "buffers_defaults_t0.j2"), ("spine1", "buffers_defaults_t1.j2")):
        capsys.readouterr()
        assert exit_code("explain", build, f"{device}:BUFFER_POOL|ingress_lossless_pool|xoff") == 0
        assert f"device/{SKU}/{file}" in capsys.readouterr().out
