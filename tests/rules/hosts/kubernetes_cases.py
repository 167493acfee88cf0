"""Bad cases of the rules on objects of Kubernetes in a bundle."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.read import open_bundle
from fabricgen.handoff.kubernetes import kubernetes_files
from tests.handoff.test_kubernetes_operators import GB300, ROCE
from tests.rules.case import ERROR, Case, HostFiles
from tests.rules.hosts.inventories import DGX

AGAIN = "run `fabricgen handoff kubernetes` again"
RAIL0 = "gpu/rail0.yaml"


_OBJECTS: dict[bytes, dict[str, bytes]] = {}  # fabric.json -> the objects


def with_objects(bundle: Path) -> Path:
    """Writes the objects into the bundle, and returns their folder."""
    key = (bundle / "fabric.json").read_bytes()
    if key not in _OBJECTS:
        objects = kubernetes_files(open_bundle([bundle]))
        _OBJECTS[key] = {name: one if isinstance(one, bytes) else b"".join(one) for name, one in objects}
    for name, content in _OBJECTS[key].items():
        file = bundle / "kubernetes" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return bundle / "kubernetes"


@dataclass(frozen=True)
class Objects:
    """Replaces a text in one of the objects, after they are written."""

    file: str
    old: str
    new: str

    def __call__(self, group: Path) -> None:
        file = with_objects(group.parents[1]) / self.file
        text = file.read_text()
        assert self.old in text, text
        file.write_text(text.replace(self.old, self.new, 1))

    def __str__(self) -> str:
        return f"in kubernetes/{self.file}, {self.old!r} is {self.new!r}"


def _case(code: str, text: str, change: Callable[[Path], object], place: str, message: str, hint: str = AGAIN) -> Case:
    return Case(code, change, f"kubernetes:{place}", ERROR, message, hint, clean=HostFiles(text))


def large_mtu(group: Path) -> None:
    """The MTU of gpu-rail0 is 9216, for the policy and for pods."""
    file = with_objects(group.parents[1]) / RAIL0
    file.write_text(file.read_text().replace("9100", "9216"))


def second_template(group: Path) -> None:
    """kubernetes/gpu/nic-settings.yaml has a second template for rail0."""
    file = with_objects(group.parents[1]) / "gpu/nic-settings.yaml"
    text = file.read_text().split("---\n")[1]
    addresses = text[text.index("    pciAddresses:") : text.index("  template:")]
    only = text.replace(addresses, "    pciAddresses: ['0000:18:00.0']\n").replace("gpu-compute-1021", "gpu-rail0")
    file.write_text(f"---\n{text}---\n{only}")


_FIRST = re.compile(r"  - nodeName: gpu-000\n    prefix: \S+\n    gateway: \S+\n")


def host_twice(group: Path) -> None:
    """The pool gpu-rail0 has gpu-000 twice."""
    file = with_objects(group.parents[1]) / RAIL0
    file.write_text(_FIRST.sub(lambda match: match[0] * 2, file.read_text(), count=1))


def host_missing(group: Path) -> None:
    """The pool gpu-rail0 has no allocation of gpu-000."""
    file = with_objects(group.parents[1]) / RAIL0
    file.write_text(_FIRST.sub("", file.read_text(), count=1))


def no_allocations(group: Path) -> None:
    """The pool gpu-rail0 has no allocations."""
    file = with_objects(group.parents[1]) / RAIL0
    text = file.read_text()
    file.write_text(text[: text.index("  staticAllocations:")] + text[text.index("  routes:") :])


def rail_missing(group: Path) -> None:
    """kubernetes/tray/spectrum-x.yaml has no rail3p1, and there is no pod."""
    folder = with_objects(group.parents[1]) / "tray"
    file = folder / "spectrum-x.yaml"
    file.write_text(file.read_text().partition("  - name: rail3p1")[0])
    (folder / "pod.yaml").unlink()


def rail_twice(group: Path) -> None:
    """In kubernetes/tray/spectrum-x.yaml rail0p1 is named rail0p0, too, and there is no pod."""
    folder = with_objects(group.parents[1]) / "tray"
    file = folder / "spectrum-x.yaml"
    file.write_text(file.read_text().replace("- name: rail0p1", "- name: rail0p0"))
    (folder / "pod.yaml").unlink()


def copied_script(group: Path) -> None:
    """fabricgen-roce is in the folder of a group whose NICs NVIDIA's operator sets."""
    (group / "fabricgen-roce").write_text("#!/bin/sh\n")


def with_template(group: Path) -> None:
    """kubernetes/gpu/nic-settings.yaml enables roceOptimized for a group whose hosts have fabricgen-roce."""
    with_objects(group.parents[1])
    (group.parents[1] / "kubernetes/gpu/nic-settings.yaml").write_text(
        "apiVersion: configuration.net.nvidia.com/v1alpha1\nkind: NicConfigurationTemplate\n"
        "metadata: {name: mine}\nspec:\n  nodeSelector: {fabricgen.io/group: gpu}\n"
        '  nicSelector: {nicType: "1021", pciAddresses: ["0000:18:00.0"]}\n'
        "  template:\n    numVfs: 1\n    linkType: Ethernet\n"
        '    roceOptimized: {enabled: true, qos: {trust: dscp, pfc: "0,0,0,1,1,0,0,0", tos: 106}}\n'
        '    rawNvConfig: [{name: CNP_DSCP_P1, value: "48"}, {name: CNP_802P_PRIO_P1, value: "6"}]\n'
    )


SETTINGS = "gpu/nic-settings.yaml|NicConfigurationTemplate/gpu-compute-1021|spec.template."
NET = "NetworkAttachmentDefinition/gpu-rail0|"
CASES = [
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "0,0,0,1,1,0,0,0", "0,0,0,1,0,0,0,0"),
          SETTINGS + "roceOptimized.qos.pfc",
          "pfc is 0,0,0,1,0,0,0,0, but PFC of roce/compute.conf is 0,0,0,1,1,0,0,0", "set pfc to 0,0,0,1,1,0,0,0"),
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "tos: 106", "tos: 26"), SETTINGS + "roceOptimized.qos.tos",
          "tos is 26, but TOS of roce/compute.conf is 106", "set tos to 106"),
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "value: '48'", "value: '46'"),
          SETTINGS + "rawNvConfig.0.value",
          "CNP_DSCP_P1 is 46, but CNP_DSCP of roce/compute.conf is 48", "set it to 48"),
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "name: CNP_DSCP_P1", "name: CNP_DSCP"),
          SETTINGS + "rawNvConfig", "CNP_DSCP_P1 is 4, but CNP_DSCP of roce/compute.conf is 48", "set it to 48"),
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "nicType: '1021'", "nicType: '1023'"),
          "gpu/nic-settings.yaml|NicConfigurationTemplate/gpu-compute-1021|spec.nicSelector",
          "it selects no NIC of the host model"),
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "ecn:\n          enabled: true",
              "ecn:\n          enabled: false"),
          SETTINGS + "roceOptimized.qos.ecn.enabled", "ECN is off: NICs do not slow down", "set it to true"),
    _case("FG921", DGX, Objects(RAIL0, "prefix: 10.64.0.0/31", "prefix: 10.99.0.8/31"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.staticAllocations.0.prefix",
          "gpu-000 gets 10.99.0.8/31, which no NIC of the host has"),
    _case("FG921", DGX, Objects(RAIL0, "nodeName: gpu-000", "nodeName: gpu-00"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.staticAllocations.0.nodeName",
          "gpu-00 gets 10.64.0.0/31, but the fabric has no such host"),
    _case("FG921", DGX, Objects(RAIL0, "gateway: 10.64.0.0", "gateway: 10.64.0.1"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.staticAllocations.0.gateway",
          "the gateway of gpu-000 is 10.64.0.1, but its leaf has 10.64.0.0", "set it to 10.64.0.0"),
    _case("FG921", DGX, Objects(RAIL0, "dst: 10.64.0.0/10", "dst: 10.64.0.0/24"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.routes",
          "pods have no route to 10.64.0.0/10, the hosts of plane compute", "add the pools of the plane"),
    _case("FG921", DGX, large_mtu,
          f"{RAIL0}|SriovNetworkNodePolicy/gpu-rail0|spec.mtu",
          "mtu is 9216, but the port of the switch takes 9100", "set it to 9100"),
    _case("FG921", DGX, Objects(RAIL0, "- rail0", "- rail9"),
          f"{RAIL0}|SriovNetworkNodePolicy/gpu-rail0|spec.nicSelector.pfNames", "the host model has no NIC rail9"),
    _case("FG921", DGX, Objects(RAIL0, "isRdma: true", "isRdma: false"),
          f"{RAIL0}|SriovNetworkNodePolicy/gpu-rail0|spec.isRdma", "pods get no RDMA device", "set isRdma to true"),
    _case("FG921", DGX, Objects(RAIL0, "numVfs: 1", "numVfs: 0"),
          f"{RAIL0}|SriovNetworkNodePolicy/gpu-rail0|spec.numVfs", "pods get no function of the NIC",
                    "set numVfs to 1"),
    _case("FG921", DGX, Objects("gpu/pod.yaml", "NCCL_IB_TC: '106'", "NCCL_IB_TC: '26'"),
          "gpu/pod.yaml|ConfigMap/nccl-gpu|data.NCCL_IB_TC",
          "NCCL_IB_TC is 26, but 106 in nccl.conf", "set NCCL_IB_TC to 106"),
    _case("FG921", GB300, Objects("tray/spectrum-x.yaml", "numberOfPlanes: 2", "numberOfPlanes: 4"),
          "tray/spectrum-x.yaml|NicConfigurationTemplate/tray-spectrum-x|spec.template.spectrumXOptimized.numberOfPlanes",
          "numberOfPlanes is 4, but each rail has a port on 2"),
    _case("FG921", GB300, Objects("tray/spectrum-x.yaml", "mtu: 9100", "mtu: 9216"),
          "tray/spectrum-x.yaml|SpectrumXRailPoolConfig/tray-rails|spec.railTopology.0.mtu",
          "mtu is 9216, but the port of the switch takes 9100", "set it to 9100"),
    _case("FG921", GB300, rail_twice,
          "tray/spectrum-x.yaml|SpectrumXRailPoolConfig/tray-rails|spec.railTopology.1.name", "rail0p0 occurs twice"),
    Case("FG922", copied_script, "hosts/gpu:fabricgen-roce", ERROR,
         "the NICs of group gpu have roce-optimized, and this script writes them, too",
         "remove the script, or set `nic_settings: script`", clean=HostFiles(ROCE)),
    _case("FG922", DGX, with_template,
              "gpu/nic-settings.yaml|NicConfigurationTemplate/mine|spec.template.roceOptimized",
          "roceOptimized writes the NICs of group gpu, and so does fabricgen-roce",
          "set `nic_settings` of the group in the inventory, and render"),
    _case("FG922", GB300,
          Objects("tray/spectrum-x.yaml", "    spectrumXOptimized:",
          "    roceOptimized: {enabled: true}\n    spectrumXOptimized:"),
          "tray/spectrum-x.yaml|NicConfigurationTemplate/tray-spectrum-x|spec.template.spectrumXOptimized",
          "both roceOptimized and spectrumXOptimized are enabled", "keep one of them"),
    _case("FG923", DGX, Objects(RAIL0, '"poolName": "gpu-rail0"', '"poolName": "gpu-rail8"'),
          f"{RAIL0}|{NET}spec.config", "poolName names the CIDRPool gpu-rail8, which no file defines"),
    _case("FG923", DGX, Objects(RAIL0, "mtu: 9100", "mtu: 4200"), f"{RAIL0}|{NET}spec.config",
          "mtu is 9100 for pods, and 4200 in the policy", "use one MTU"),
    _case("FG923", DGX, Objects(RAIL0, '"cidrpool"', '"ippool"'), f"{RAIL0}|{NET}spec.config",
          "poolType is not cidrpool, so nv-ipam looks for an IPPool", "set poolType to cidrpool"),
    _case("FG923", DGX, Objects(RAIL0, '"type": "sbr"', '"type": "rdma"'), f"{RAIL0}|{NET}spec.config",
          "without the plug-in sbr all rails of a pod answer by the first one", "add {type: sbr}"),
    _case("FG923", DGX, Objects(RAIL0, "nvidia.com/gpu_rail0", "nvidia.com/gpu-rail0"),
          f"{RAIL0}|{NET}metadata.annotations", "no policy has the resource gpu-rail0"),
    _case("FG923", DGX, Objects("gpu/pod.yaml", '"name": "gpu-rail0"', '"name": "gpu_rail0"'),
          "gpu/pod.yaml|Pod/nccl-gpu-example|metadata.annotations",
          "the pod names the network gpu_rail0, which no file defines"),
    _case("FG923", DGX, Objects("gpu/pod.yaml", "nvidia.com/gpu_rail3: '1'", "nvidia.com/rail3: '1'"),
          "gpu/pod.yaml|Pod/nccl-gpu-example|spec.containers.0.resources.requests", "no policy has the resource rail3"),
    _case("FG923", GB300, Objects("tray/spectrum-x.yaml", "cidrPoolRef: rail-0-plane-0", "cidrPoolRef: rail-0"),
          "tray/spectrum-x.yaml|SpectrumXRailPoolConfig/tray-rails|spec.railTopology.0.cidrPoolRef",
          "cidrPoolRef names the CIDRPool rail-0, which no file defines"),
    _case("FG923", GB300, Objects("tray/pod.yaml", "resourceClaimTemplateName: tray-gpu0",
              "resourceClaimTemplateName: gpu0"),
          "tray/pod.yaml|Pod/nccl-tray-example|spec.resourceClaims.0.resourceClaimTemplateName",
          "resourceClaimTemplateName names the ResourceClaimTemplate gpu0, which no file defines"),
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "linkType: Ethernet", "linkType: Infiniband"),
          SETTINGS + "linkType", "the ports of RoCE are Ethernet"),
    _case("FG921", ROCE, Objects("gpu/nic-settings.yaml", "enabled: true\n      qos:",
                                 "enabled: true\n      roceMode: 1\n      qos:"),
          SETTINGS + "roceOptimized.roceMode",
          "RoCE version 1 has no IP header, and no leaf routes it", "remove roceMode"),
    _case("FG921", DGX, Objects(RAIL0, "prefix: 10.64.0.2/31\n    gateway: 10.64.0.2",
                                "prefix: 10.64.0.10/31\n    gateway: 10.64.0.10"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.staticAllocations", "it mixes the NICs rail0, rail2"),
    _case("FG921", DGX, Objects(RAIL0, "- '0000:18:00.0'", "- '0000:40:00.0'"),
          f"{RAIL0}|SriovNetworkNodePolicy/gpu-rail0|spec.nicSelector.rootDevices",
          "0000:40:00.0 is the slot of rail1, but pfNames is rail0"),
    _case("FG921", GB300, rail_missing, "tray/spectrum-x.yaml|SpectrumXRailPoolConfig/tray-rails|spec.railTopology",
          "7 rails, but the hosts have 8 ports of rails"),
    _case("FG922", ROCE, second_template, "gpu/nic-settings.yaml|NicConfigurationTemplate/gpu-rail0|spec.nicSelector",
          "rail0 has another template, gpu-compute-1021: the operator applies none of them", "select each NIC once"),
    _case("FG922", ROCE, Objects("gpu/nic-settings.yaml", "roceOptimized:", "spectrumXOptimized:"),
          SETTINGS + "spectrumXOptimized",
          "spectrumXOptimized is enabled, but group gpu has `nic_settings: roce-optimized`"),
    _case("FG923", DGX, Objects(RAIL0, '"cniVersion"', "cniVersion"), f"{RAIL0}|{NET}spec.config",
          "config is not the JSON of a network"),
    _case("FG923", DGX, Objects("gpu/pod.yaml", "'[{\"name\"", "'{[\"name\""),
          "gpu/pod.yaml|Pod/nccl-gpu-example|metadata.annotations",
          "the annotation of networks is not a JSON list of names"),
    _case("FG921", DGX, Objects(RAIL0, "perNodeNetworkPrefix: 31", "perNodeNetworkPrefix: 30"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.perNodeNetworkPrefix",
          "perNodeNetworkPrefix is 30, expected 31: nv-ipam refuses the pool"),
    _case("FG921", DGX, Objects(RAIL0, "cidr: 10.64.0.0/10", "cidr: 10.64.0.1/10"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.cidr",
          "cidr is 10.64.0.1/10, which is not a prefix: nv-ipam refuses the pool"),
    _case("FG921", DGX, Objects(RAIL0, "cidr: 10.64.0.0/10", "cidr: 10.65.0.0/16"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.cidr",
          "cidr is 10.65.0.0/16, which does not contain 10.64.0.0/31 of gpu-000: nv-ipam refuses the pool"),
    _case("FG921", DGX, Objects(RAIL0, "gatewayIndex: 0", "gatewayIndex: 2"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.gatewayIndex",
          "gatewayIndex is 2, which is outside of a /31: nv-ipam refuses the pool"),
    _case("FG921", DGX, Objects(RAIL0, "  gatewayIndex: 0\n", ""),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.gatewayIndex",
          "gatewayIndex is missing, which routes need: nv-ipam refuses the pool"),
    _case("FG921", DGX, host_twice, f"{RAIL0}|CIDRPool/gpu-rail0|spec.staticAllocations",
          "gpu-000 is nodeName twice: nv-ipam refuses the pool"),
    _case("FG921", DGX, host_missing, f"{RAIL0}|CIDRPool/gpu-rail0|spec.staticAllocations",
          "no allocation of gpu-000, which other pools have: nv-ipam selects any prefix"),
    _case("FG921", DGX, no_allocations, f"{RAIL0}|CIDRPool/gpu-rail0|spec.staticAllocations",
          "no host has an allocation: nv-ipam gives addresses that the switches do not expect"),
    _case("FG921", DGX, Objects(RAIL0, "deviceID: '1021'", "deviceID: '1017'"),
          f"{RAIL0}|SriovNetworkNodePolicy/gpu-rail0|spec.nicSelector.deviceID",
          "deviceID is 1017, but rail0 has 1021: no NIC is selected", "set deviceID to 1021"),
    _case("FG923", DGX, Objects(RAIL0, "fabricgen.io/group: gpu", "fabricgen.io/group: gpus"),
          f"{RAIL0}|SriovNetworkNodePolicy/gpu-rail0|spec.nodeSelector",
          "the fabric has no group gpus of hosts: no node has the label"),
    _case("FG923", DGX, Objects(RAIL0, "        - gpu\n", "        - gpus\n"),
          f"{RAIL0}|CIDRPool/gpu-rail0|spec.nodeSelector.nodeSelectorTerms.0",
          "the fabric has no group gpus of hosts: no node has the label"),
    _case("FG923", DGX, Objects(RAIL0, "  namespace: default", "  namespace: jobs"),
          "gpu/pod.yaml|Pod/nccl-gpu-example|metadata.annotations",
          "the network gpu-rail0 is in namespace jobs, and the pod names default"),
    _case("FG923", DGX, Objects("gpu/pod.yaml", "        name: nccl-gpu\n", "        name: nccl-gpus\n"),
          "gpu/pod.yaml|Pod/nccl-gpu-example|spec.containers.0.envFrom",
          "envFrom names the ConfigMap nccl-gpus, which no file defines"),
]  # fmt: skip
