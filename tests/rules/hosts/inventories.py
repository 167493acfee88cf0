"""Inventories of small bundles with hosts, and the names of their host files."""

from pathlib import Path

from tests.render.hosts.rendered import STORAGE, inventory

DGX = inventory()
TWO_PLANES = inventory(more=STORAGE.format(name="storage"))
IN_BAND = inventory(more=STORAGE.format(name="in-band"))
SPRAYED = DGX.replace(
    "    speed: 400G\n", "    speed: 400G\n    load_balancing: {mode: spray, configured_by: platform}\n", 1
)
NAMED = DGX.replace("count: 2}", "count: 2, rdma_names: nic}", 1)
BY_PCI = """\
host_models:
  box:
    gpus: 8
    vendor: nvidia
    nics:
      - {name: "rail{rail}", model: ConnectX-7, speed: 400G, plane: compute, rails: 2,
         pci: ["0000:18:00.0", "0000:40:00.0"], rdma: [rocep24s0, rocep64s0]}
""" + DGX.replace("dgx-h100", "box", 1)
SIX = inventory(pool="'fd00:64::/64'").replace("10.0.0.0/16", "[10.0.0.0/16, 'fd00:1::/64']")
SIX = SIX.replace("10.128.0.0/10", "[10.128.0.0/10, 'fd00:2::/64']")
RAIL_ONLY = inventory(design="rail-only")
RDMA_RULES = "udev/60-rdma-persistent-naming.rules"
ROCE, NCCL, UCX, SYSCTL = "roce/compute.conf", "nccl.conf", "ucx.conf", "sysctl.conf"
NETPLAN, RAIL0 = "netplan/gpu-000.yaml", "ethernets.rail0"
INFINIBAND = """\
fabricgen: 1
fabric: small
hosts: {gpu: {model: dgx-h100, count: 2}}
planes:
  compute:
    technology: infiniband
    design: torus
    hosts: [gpu]
    scalable_unit: {hosts: 1}
    leaf: {platform: nvidia-qm9700}
    speed: 400G
    torus: {size: [4, 4]}
    infiniband: {engine: torus-2QoS}
"""
RACK = INFINIBAND.replace("dgx-h100", "gb200-nvl72")
TENANTS = """\
fabricgen: 1
fabric: small
hosts: {gpu: {model: dgx-h100, count: 4}}
planes:
  compute:
    technology: infiniband
    design: rail-optimized
    hosts: [gpu]
    scalable_unit: {hosts: 4}
    leaf: {platform: nvidia-qm9700}
    spine: {platform: nvidia-qm9700}
    speed: 400G
    partitions:
      - {name: blue, pkey: 0x8001, members: [gpu/0-1]}
      - {name: green, pkey: 0x8002, members: [gpu/2-3]}
      - {name: shared, pkey: 0x8003, membership: limited, members: [gpu/1-3, {member: gpu/0, membership: full}]}
"""
RENTED_RAILS = (
    DGX.replace("    speed: 400G\n", "    speed: 400G\n    isolation: acl\n", 1)
    + """\
tenants:
  odd: {hosts: [gpu/0-1/rail1, gpu/0-1/rail3]}
"""
)
RENTED_APART = RENTED_RAILS.replace("[gpu/0-1/rail1, gpu/0-1/rail3]", "[gpu/0/rail1, gpu/1/rail3]")
OF_ODD = "tenants/odd/nccl.conf"
LEVELS = TENANTS.replace("members: [gpu/0-1]}", "members: [gpu], qos_level: fast}").replace(
    "    partitions:\n", "    infiniband: {qos: {levels: [{name: fast, sl: 3}]}}\n    partitions:\n"
)
LEVELS = "".join(line for line in LEVELS.splitlines(keepends=True) if "green" not in line)
SMALL_PORT_MTU = f"""\
{DGX}
overrides:
  - match: {{name: compute-su00-r0-leaf}}
    config_db:
      PORT: {{Ethernet0: {{mtu: "9000"}}}}
"""


def overridden(folder: Path) -> None:
    """compute-su00-r0-leaf: an override of the inventory sets mtu of Ethernet0 to 9000"""
