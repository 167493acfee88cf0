"""The small bundles whose files of hosts are changed, and the names of these files."""

from tests.render.hosts.rendered import STORAGE, inventory

DGX = inventory()
TWO_PLANES = inventory(more=STORAGE.format(name="storage"))
IN_BAND = inventory(more=STORAGE.format(name="in-band"))
RAIL_ONLY = inventory(design="rail-only")
ROCE, NCCL, UCX, SYSCTL = "roce/compute.conf", "nccl.conf", "ucx.conf", "sysctl.conf"
NETPLAN, RAIL0 = "netplan/gpu-000.yaml", "ethernets.rail0"
