"""Manifests for NVIDIA's operators by release: their own definitions accept them, and the values are the fabric's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.kubernetes import kubernetes_files
from fabricgen.handoff.manifests import OPERATORS
from tests.conftest import Cli
from tests.handoff.crd import Definitions, definitions, problems
from tests.handoff.operators import refused
from tests.render.hosts.rendered import STORAGE, inventory, write_bundle
from tests.shared_material import shared

OWN = Path(__file__).with_name("definitions")
CORE = {"ConfigMap", "Pod"}  # kinds of Kubernetes itself
ROCE = inventory(more=STORAGE.format(name="storage")).replace(
    "count: 2}}", "count: 2, nic_settings: roce-optimized}}", 1
)
_PLANES = """\
fabricgen: 1
fabric: small
hosts: {{tray: {{model: {model}, count: 2, nic_settings: spectrum-x}}}}
planes:
  compute:
    design: rail-optimized
    hosts: [tray]
    subplanes: {planes}
    scalable_unit: {{hosts: 2}}
    leaf: {{platform: nvidia-sn5600}}
    spine: {{platform: nvidia-sn5600, count: 2}}
    speed: {speed}
    lossless: {{classes: {{3: {{dscp: [24]}}}}}}
    addressing: {{loopbacks: 10.0.0.0/16, links: 10.128.0.0/10, hosts: 10.64.0.0/10}}
"""
GB300 = _PLANES.format(model="gb300-nvl72-ethernet", planes=2, speed="400G")
B300 = _PLANES.format(model="dgx-b300-4-planes", planes=4, speed="200G")
WITH_PCI = """\
host_models:
  my-b300:
    gpus: 2
    vendor: nvidia
    nics:
      - {name: "rail{rail}", model: ConnectX-8, speed: 400G, plane: compute, rails: 2, ports: 2,
         pci: ["0000:18:00.0", "0000:40:00.0", "0000:18:00.1", "0000:40:00.1"]}
"""
OWN_MODEL = _PLANES.format(model="my-b300", planes=2, speed="400G").replace(
    "hosts: {tray", WITH_PCI + "hosts: {tray", 1
)
RELEASES = list(OPERATORS)


def known(release: str) -> Definitions:
    """The definitions of a release, beside those that all releases share."""
    return definitions(shared("data", "schemas")) | definitions(OWN) | definitions(OWN / release)


def documents(folder: Path, text: str, release: str = "26.7") -> list[dict[str, Any]]:
    bundle = open_bundle([write_bundle(folder / "bundle", text)])
    files = dict(kubernetes_files(bundle, operator=release))
    return [one for name, text in files.items() if name.endswith(".yaml") for one in yaml.safe_load_all(text)]


def only(found: list[dict[str, Any]], kind: str, name: str = "") -> dict[str, Any]:
    (one,) = [one for one in found if one["kind"] == kind and name in one["metadata"]["name"]]
    return one


CASES = [(name, text, release) for release in RELEASES for name, text in (
    ("script", inventory()), ("roce", ROCE), ("gb300", GB300), ("b300", B300), ("own", OWN_MODEL))
    if release != "26.1" or name in ("script", "roce")]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "release"), CASES, ids=[f"{name}-{release}" for name, _, release in CASES])
def test_every_object_passes_the_definitions_of_its_release(tmp_path: Path, name: str, text: str, release: str) -> None:
    found, schemas = documents(tmp_path, text, release), known(release)
    undefined = {one["kind"] for one in found if (one["apiVersion"], one["kind"]) not in schemas}
    assert undefined <= CORE
    wrong = {one["metadata"]["name"]: texts for one in found if (texts := problems(one, schemas))}
    assert wrong == {} and refused(found, release) == []
    tags = {part["version"] for part in only(found, "NicClusterPolicy")["spec"].values() if "version" in part}
    assert tags == {OPERATORS[release].tag}


def test_the_values_of_roce_optimized_are_those_of_the_settings(tmp_path: Path) -> None:
    found = documents(tmp_path, ROCE)
    settings = open_bundle([tmp_path / "bundle"]).hosts["gpu"].settings("roce/compute.conf")
    one = only(found, "NicConfigurationTemplate", "compute")["spec"]
    qos = one["template"]["roceOptimized"]["qos"]
    assert (qos["pfc"], qos["trust"], qos["tos"], qos["cableLen"]) == (
        settings["PFC"], settings["TRUST"], int(settings["TOS"]), int(settings["CABLE_M"])
    )  # fmt: skip
    assert qos["ecn"] == {"enabled": True, "priority": 3} and qos["pauseFrames"] == {"enabled": False}
    raw = {row["name"]: row["value"] for row in one["template"]["rawNvConfig"]}
    assert (raw["CNP_DSCP_P1"], raw["CNP_802P_PRIO_P1"]) == (settings["CNP_DSCP"], settings["CNP_PRIORITY"])
    assert one["nicSelector"]["nicType"] == "1021" and len(one["nicSelector"]["pciAddresses"]) == 8
    assert not (tmp_path / "bundle/hosts/gpu/fabricgen-roce").exists(), "the operator and the script would both write"
    old = only(documents(tmp_path / "old", ROCE, "26.4"), "NicConfigurationTemplate", "compute")["spec"]["template"]
    assert sorted(old["roceOptimized"]["qos"]) == ["pfc", "tos", "trust"]


def test_vxlan_of_evpn_is_said_to_the_nics(tmp_path: Path) -> None:
    """`overlay: l3`, and an MTU with room for VXLAN, where leaves are VTEPs; the definitions know no other word."""
    text = GB300.replace("subplanes: 2", "subplanes: 2\n    isolation: evpn\n    bgp: unnumbered")
    text += "tenants:\n  blue: {hosts: [tray/0], vni: 5001}\n  red: {hosts: [tray/1], vni: 5002}\n"
    for release in ("26.4", "26.10"):
        found, plain = (documents(tmp_path / f"{release}-{len(one)}", one, release) for one in (text, GB300))
        for objects, word in ((found, "l3"), (plain, "none")):
            template = only(objects, "NicConfigurationTemplate")
            assert template["spec"]["template"]["spectrumXOptimized"]["overlay"] == word
            assert problems(template, known(release)) == []
            template["spec"]["template"]["spectrumXOptimized"]["overlay"] = "l2"
            assert problems(template, known(release)) != []
        mtus = [
            only(objects, "SpectrumXRailPoolConfig")["spec"]["railTopology"][0]["mtu"] for objects in (found, plain)
        ]
        assert mtus[0] == mtus[1] - 50
        assert only(found, "Pod")["spec"]["nodeSelector"]["fabricgen.io/tenant"] == "blue"
        assert "fabricgen.io/tenant" not in only(plain, "Pod")["spec"]["nodeSelector"]


def test_two_planes_of_gb300(tmp_path: Path) -> None:
    found = documents(tmp_path, GB300, "26.10")
    optimized = only(found, "NicConfigurationTemplate")["spec"]["template"]["spectrumXOptimized"]
    assert optimized == {
        "enabled": True, "version": "RA2.4", "overlay": "none", "multiplaneMode": "swplb", "numberOfPlanes": 2,
        "platformType": "gb300",
    }  # fmt: skip
    rails = only(found, "SpectrumXRailPoolConfig")["spec"]["railTopology"]
    assert [rail["name"] for rail in rails][:3] == ["rail0p0", "rail0p1", "rail1p0"]
    assert rails[1]["nicSelector"] == {"pfNames": ["eth_p1_r0"]} and rails[1]["cidrPoolRef"] == "rail-0-plane-1"
    bundle = open_bundle([tmp_path / "bundle"])
    assert bundle.wiring
    link = bundle.link_at["tray-001", "rail0b"]
    allocation = only(found, "CIDRPool", "rail-0-plane-1")["spec"]["staticAllocations"][1]
    port = f"{link.b[1]}|{allocation['gateway']}/31"
    assert allocation["nodeName"] == "tray-001" and port in bundle.devices[link.b[0]].table("INTERFACE")
    assert {rail["mtu"] for rail in rails} == {int(bundle.devices[link.b[0]].table("PORT")[link.b[1]]["mtu"])}
    claim = only(found, "ResourceClaimTemplate", "gpu0")["spec"]["spec"]["devices"]
    assert [one["name"] for one in claim["requests"]] == ["gpu", "rail0p0", "rail0p1"]
    assert "constraints" not in claim, "GPUs and NICs of a rack are below different PCIe roots"
    spec = only(found, "Pod")["spec"]
    assert [one["name"] for one in spec["resourceClaims"]] == ["gpu0", "gpu1", "gpu2", "gpu3", "imex-channel"]
    assert "nvidia.com/gpu" not in spec["containers"][0]["resources"].get("requests", {})


def test_names_of_interfaces_need_pci_addresses(tmp_path: Path, cli: Cli) -> None:
    one = only(documents(tmp_path, OWN_MODEL), "NicInterfaceNameTemplate")["spec"]
    assert one["railPciAddresses"] == [["0000:18:00.0"], ["0000:40:00.0"]] and one["pfsPerNic"] == 2
    assert one["netDevicePrefix"] == "eth_p%plane_id%_r%rail_id%"
    claim = only(documents(tmp_path / "b", OWN_MODEL), "ResourceClaimTemplate", "gpu1")["spec"]["spec"]["devices"]
    assert claim["constraints"] == [
        {"requests": ["gpu", "rail1p0", "rail1p1"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}
    ]
    bundle = write_bundle(tmp_path / "gb300", GB300)
    done = cli("handoff", "kubernetes", str(bundle), "-o", str(tmp_path / "out"))
    assert done.code == 0 and "interface-names.yaml is missing" in done.err


def _on(kind: str, change: Callable[[dict[str, Any]], object]) -> Callable[[list[dict[str, Any]]], object]:
    return lambda found: change(only(found, kind)["spec"])


MISTAKES: list[tuple[Callable[[list[dict[str, Any]]], object], str]] = [
    (_on("NicConfigurationTemplate", lambda one: one["template"].update(roceOptimized={"enabled": True})), "beside"),
    (
        _on("NicConfigurationTemplate", lambda one: one["template"]["spectrumXOptimized"].pop("platformType")),
        "platform",
    ),
    (_on("NicConfigurationTemplate", lambda one: one["nicSelector"].update(nicType="1021")), "not a NIC"),
    (_on("NicConfigurationTemplate", lambda one: one["template"].update(numVfs=2)), "one function"),
    (_on("NicConfigurationTemplate", lambda one: one["template"].update(linkType="ETH")), "linkType"),
    (_on("NicConfigurationTemplate", lambda one: one["template"]["spectrumXOptimized"].update(numberOfPlanes=3)), "3"),
    (_on("SpectrumXRailPoolConfig", lambda one: one.update(withBCM=False)), "withBCM"),
    (_on("SpectrumXRailPoolConfig", lambda one: one["railTopology"][0].update(ipam="{}")), "and ipam"),
    (_on("SpectrumXRailPoolConfig", lambda one: one["railTopology"][0].update(cidrPoolRef="rail-9")), "no pool"),
    (_on("SpectrumXRailPoolConfig", lambda one: one["railTopology"][0].update(mtu="9216")), "mtu"),
]


@pytest.mark.parametrize(("spoil", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_refused(tmp_path: Path, spoil: Callable[[list[dict[str, Any]]], object], message: str) -> None:
    found = documents(tmp_path, GB300, "26.10")
    spoil(found)
    texts = [text for one in found for text in problems(one, known("26.10"))] + refused(found, "26.10")
    assert any(message in text for text in texts), texts


def test_what_a_release_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="v1alpha2"):
        documents(tmp_path, GB300, "26.1")
    renamed = OWN_MODEL.replace("my-b300", "mine")
    with pytest.raises(UsageError, match="needs its platform"):
        documents(tmp_path / "b", renamed, "26.10")
    two = GB300.replace(
        "hosts: {tray:", "hosts: {other: {model: gb300-nvl72-ethernet, count: 2, nic_settings: spectrum-x}, tray:"
    )
    two = two.replace("hosts: [tray]", "hosts: [tray, other]").replace("{hosts: 2}", "{hosts: 4}")
    with pytest.raises(UsageError, match="networks by rail"):
        documents(tmp_path / "c", two)


POLLARA, H100 = inventory("mi355x", classes="3: {dscp: [26]}"), inventory(classes="3: {dscp: [24]}")
REFUSED = [
    (ROCE.replace("dscp: [26]", "dscp: [10]"), "no DSCP map"),
    (POLLARA.replace("count: 2}", "count: 2, nic_settings: roce-optimized}"), "Pollara-400"),
    (H100.replace("count: 2}", "count: 2, nic_settings: spectrum-x}"), "does not run on"),
    (GB300.replace("[24]", "[26]"), "DSCP 24 on priority 3"),
    (GB300.replace("{dscp: [24]}}}", "{dscp: [24]}}, cnp: {dscp: 46}}"), "CNPs with DSCP 48"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_the_operator_cannot_set(tmp_path: Path, cli: Cli, text: str, message: str) -> None:
    (tmp_path / "fabric.yaml").write_text(text)
    done = cli("render", str(tmp_path / "fabric.yaml"), "-o", str(tmp_path / "build"))
    assert done.code == 1 and "FG920" in done.out + done.err and message in (done.out + done.err).replace("\n", " ")
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("text", [ROCE, GB300, B300, OWN_MODEL], ids=["roce", "gb300", "b300", "own"])
def test_the_bundle_passes_its_check(tmp_path: Path, cli: Cli, text: str) -> None:
    bundle = write_bundle(tmp_path / "bundle", text)
    done = cli("validate", str(bundle))
    assert done.code == 0 and "0 errors, 0 warnings" in done.out, done.out
