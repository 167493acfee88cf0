"""Rules on the addresses of tunnels and of SRv6."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import number
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.tables import Row

_LOCATORS, _SIDS = "SRV6_MY_LOCATORS", "SRV6_MY_SIDS"
_BLOCK_BITS, _NODE_BITS = 32, 16  # defaults of sonic-srv6.yang


@rule("FG288", Severity.ERROR, "SRv6 SIDs outside of their locator, or a locator twice")
def srv6_addresses(fabric: Fabric) -> Iterator[Defect]:
    """What: A row of SRV6_MY_SIDS names a locator of the switch, and its prefix is inside this locator. Locators of all
    switches are apart from each other.

    Why: bgpcfgd ignores a SID whose locator is missing, and FRR refuses one outside of it. Two switches with one
    locator announce the same prefix: half of the packets go to the wrong one and are dropped there.

    Example: SRV6_MY_SIDS|MAIN|fcbb:bbbb:2::/48, and the prefix of locator MAIN is fcbb:bbbb:1::.

    Fix: Give each switch its own locator, and take the SIDs from it.

    Source: sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_srv6.py (SRv6Mgr: locators_set_handler,
    sids_set_handler); src/sonic-yang-models/yang-models/sonic-srv6.yang (block_len 32, node_len 16).
    """
    owners: list[tuple[Address, str, Place]] = []
    for switch in fabric.switches.values():
        locators = switch.device.table(_LOCATORS)
        prefixes = {name: found for name, row in locators.items() if (found := _locator(row))}
        for name, prefix in prefixes.items():
            place = switch.place(_LOCATORS, name, "prefix")
            for other, owner, first in owners:
                if other.covers(prefix) or prefix.covers(other):
                    message = f"{prefix} overlaps the locator {other} of {owner}"
                    hint = "give each switch its own locator"
                    yield Defect(place, message, hint, ((f"the locator of {owner}", first),))
                    break
            owners.append((prefix, switch.name, place))
        for key in switch.device.table(_SIDS):
            name, _, text = key.partition("|")
            sid, place = parse_address(text), switch.place(_SIDS, key)
            if sid and name in prefixes and not prefixes[name].covers(sid):
                message = f"the SID is outside of locator {name}, {prefixes[name]}"
                yield Defect(place, message, f"take a SID inside of {prefixes[name]}")


def _locator(row: Row) -> Address | None:
    block, node = number(row.get("block_len", "")), number(row.get("node_len", ""))
    length = (_BLOCK_BITS if block is None else block) + (_NODE_BITS if node is None else node)
    text = str(row.get("prefix", "")).partition("/")[0]
    found = parse_address(f"{text}/{length}") if text and length <= 128 else None
    return found.network if found else None


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
