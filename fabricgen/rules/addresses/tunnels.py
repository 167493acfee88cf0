"""Rules on the addresses of tunnels and loopbacks."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric


@rule("FG289", Severity.ERROR, "The source of a VXLAN tunnel is not a loopback of the switch")
def tunnel_source(fabric: Fabric) -> Iterator[Defect]:
    """What: src_ip of VXLAN_TUNNEL is an address in LOOPBACK_INTERFACE of the same switch, and no other switch has it.

    Why: The switch terminates packets to this address. If it does not own the address, no packet arrives; the
    address of an interface goes away with its port.

    Example: src_ip is 10.1.0.99, and Loopback0 has 10.1.0.1.

    Fix: Set src_ip to the address of a loopback, which BGP announces.

    Source: sonic-swss cfgmgr/vxlanmgr.cpp, orchagent/vxlanorch.cpp (the tunnel's source is the termination address).
    """
    held: dict[str, str] = {}
    for switch in fabric.switches.values():
        for key in switch.device.table("LOOPBACK_INTERFACE"):
            if "|" in key:
                held.setdefault(key.partition("|")[2].partition("/")[0], switch.name)
    for switch in fabric.switches.values():
        own = {
            key.partition("|")[2].partition("/")[0] for key in switch.device.table("LOOPBACK_INTERFACE") if "|" in key
        }
        for key, row in switch.device.table("VXLAN_TUNNEL").items():
            source = row.get("src_ip")
            if isinstance(source, str) and source and source not in own:
                owner = held.get(source)
                message = f"src_ip {source} is {f'a loopback of {owner}' if owner else 'not a loopback of the switch'}"
                hint = f"set src_ip to {min(own)}" if own else "add the address to LOOPBACK_INTERFACE"
                yield Defect(switch.place("VXLAN_TUNNEL", key, "src_ip"), message, hint)


@rule("FG290", Severity.ERROR, "Loopback0 is in a VRF", breaks=Breaks.ROUTES)
def loopback_in_vrf(fabric: Fabric) -> Iterator[Defect]:
    """What: LOOPBACK_INTERFACE|Loopback0 has no vrf_name.

    Why: BGP of the default VRF takes the router ID from Loopback0 and announces its address. In a VRF, the address
    is not a route of the default VRF, so FRR does not announce it: no device outside of the switch reaches it, and
    sessions and tunnels from it fail.

    Example: vrf_name is Vrf-blue.

    Fix: Remove vrf_name, and use another loopback in the VRF.

    Source: sonic-buildimage dockers/docker-fpm-frr/frr/bgpd/bgpd.main.conf.j2 (router-id and network of Loopback0).
    """
    for switch in fabric.switches.values():
        vrf = switch.device.text_of("LOOPBACK_INTERFACE", "Loopback0", "vrf_name")
        if vrf and vrf != "default" and switch.device.table("BGP_NEIGHBOR"):
            message = f"Loopback0 is in VRF {vrf}: BGP of the default VRF does not announce its address"
            yield Defect(switch.place("LOOPBACK_INTERFACE", "Loopback0", "vrf_name"), message, "remove vrf_name")


@rule("FG292", Severity.ERROR, "Loopback0 is shut down")
def loopback_down(fabric: Fabric) -> Iterator[Defect]:
    """What: admin_status of LOOPBACK_INTERFACE|Loopback0 is not down.

    Why: intfmgrd shuts the device down, so the kernel has no connected route of its address. FRR does not announce the
    address then, and sessions, tunnels and management that use it fail.

    Example: admin_status is down.

    Fix: Remove admin_status, or set it to up.

    Source: sonic-swss cfgmgr/intfmgr.cpp of branch 202505 (doIntfGeneralTask, setIntfAdminStatus).
    """
    for switch in fabric.switches.values():
        if switch.device.text_of("LOOPBACK_INTERFACE", "Loopback0", "admin_status") == "down":
            message = "Loopback0 is down: the switch has no route to its own address, and does not announce it"
            yield Defect(
                switch.place("LOOPBACK_INTERFACE", "Loopback0", "admin_status"), message, "remove admin_status"
            )
