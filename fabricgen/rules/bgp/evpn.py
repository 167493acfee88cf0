"""Rules on EVPN over VXLAN: what FRR reads, VTEPs, L3 VNIs, and the size of packets."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, FilePlace, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_interfaces import interfaces
from fabricgen.rules.view.switch import number
from fabricgen.sonic.evpn import WIRE_BYTES, Overlay
from fabricgen.sonic.frr_lines import FRR_CONF, frr_conf
from fabricgen.sonic.image import ROUTING_MODE, has_translation
from fabricgen.vocabulary import Isolation


@rule("FG656", Severity.ERROR, "frr.conf is not what CONFIG_DB says", breaks=Breaks.ROUTES)
def frr_file(fabric: Fabric) -> Iterator[Defect]:
    """What: With docker_routing_config_mode split-unified on a VTEP, frr.conf is beside config_db.json, and has the
    lines that the BGP, VRF and STATIC_ROUTE tables mean, and no others.

    Why: FRR reads frr.conf, and frrcfgd applies later changes of the tables to it. All verdicts about routes are from
    the tables, so they hold for the switch only if both agree.

    Example: frr.conf has the VNI 5002 for Vrf_blue, and VRF|Vrf_blue has vni 5001.

    Fix: Render the bundle again, and copy frr.conf to /etc/sonic/frr/ of the switch together with config_db.json.

    Source: sonic-buildimage dockers/docker-fpm-frr/docker_init.sh; src/sonic-frr-mgmt-framework frrcfgd.py.
    """
    for switch in fabric.switches.values():
        device = switch.device
        if not has_translation(device.config):
            continue
        place, found = switch.place("DEVICE_METADATA", "localhost", ROUTING_MODE), device.frr_conf
        if found is None:
            message = f"FRR reads {FRR_CONF}, and the folder of the switch has none"
            yield Defect(
                place, message, "render the bundle again, or copy the file of the switch beside config_db.json"
            )
            continue
        expected = frr_conf(device.config).splitlines()
        given = found.splitlines()
        if given != expected:
            line = next(
                (n for n, (one, other) in enumerate(zip(given, expected, strict=False)) if one != other),
                min(len(given), len(expected)),
            )
            texts = [lines[line].strip() if line < len(lines) else "the end of the file" for lines in (given, expected)]
            message = f"line {line + 1} of {FRR_CONF} is `{texts[0]}`, and the tables mean `{texts[1]}`"
            yield Defect(place, message, "change the tables, and write the file from them by `fabricgen render`")


@rule("FG657", Severity.ERROR, "Two switches are one VTEP", breaks=Breaks.ROUTES)
def shared_vtep(fabric: Fabric) -> Iterator[Defect]:
    """What: Switches have different source addresses of the VXLAN tunnel that EVPN uses.

    Why: VXLAN packets to the address arrive at either switch, and each of them ignores routes of the other, because
    their next hop is its own address. Hosts at both are cut off.

    Example: VXLAN_TUNNEL|vtep|src_ip is 10.0.0.1 on leaf1 and on leaf2.

    Fix: Set src_ip to the address of Loopback0 of each switch.

    Source: FRRouting bgpd/bgp_evpn.c (routes with the own VTEP as next hop are not installed); SONiC HLD
    EVPN_VXLAN_HLD.md.
    """
    first: dict[str, Place] = {}
    for switch in fabric.switches.values():
        name, source = Overlay(switch.device.config).vtep
        if not source:
            continue
        place = switch.place("VXLAN_TUNNEL", name, "src_ip")
        other = first.setdefault(source, place)
        if other is not place:
            message = f"src_ip {source} is that of {other.device.name}, too"
            yield Defect(place, message, "set src_ip to the address of Loopback0", (("the other VTEP", other),))


@rule("FG658", Severity.ERROR, "The L3 VNI of a VRF is not complete", breaks=Breaks.ROUTES)
def l3_vni(fabric: Fabric) -> Iterator[Defect]:
    """What: The VNI of a VRF is mapped to a VLAN by VXLAN_TUNNEL_MAP of the tunnel that EVPN uses, VLAN_INTERFACE has
    this VLAN in the VRF, and no other VRF has the VNI.

    Why: Without map or VLAN the VRF neither sends nor receives VXLAN packets. If the VLAN is in another VRF, received
    packets are forwarded there.

    Example: VRF|Vrf_blue has vni 5001, and VXLAN_TUNNEL_MAP has 5002 for Vlan3001.

    Fix: Map the VNI to a VLAN that is in the VRF.

    Source: SONiC HLD EVPN_VXLAN_HLD.md (4.3.9); sonic-swss orchagent/vrforch.cpp (updateVrfVNIMap).
    """
    for switch in fabric.switches.values():
        overlay, owners = Overlay(switch.device.config), dict[str, str]()
        for vrf in switch.device.table("VRF"):
            vni = overlay.vni(vrf)
            if not vni:
                continue
            place, owner = switch.place("VRF", vrf, "vni"), owners.setdefault(vni, vrf)
            vlan = overlay.vlan_of_vni.get(vni)
            if owner != vrf:
                related = (("the other VRF", switch.place("VRF", owner, "vni")),)
                yield Defect(place, f"VNI {vni} is that of {owner}, too", "give each VRF its own VNI", related)
            elif not overlay.vtep[1]:
                message = "no tunnel with a source address is in VXLAN_EVPN_NVO"
                yield Defect(place, message, "add VXLAN_TUNNEL with src_ip, and VXLAN_EVPN_NVO with this source_vtep")
            elif vlan is None:
                message = f"VXLAN_TUNNEL_MAP does not map VNI {vni} to a VLAN of the switch"
                yield Defect(place, message, f"add VXLAN_TUNNEL_MAP|{overlay.vtep[0]}|map_{vni}_VlanN and the VLAN")
            elif not overlay.is_complete(vrf):
                found = switch.device.text_of("VLAN_INTERFACE", vlan, "vrf_name") or "the default VRF"
                there = switch.place("VLAN_INTERFACE", vlan, "vrf_name")
                yield Defect(there, f"the VLAN of VNI {vni} is in {found}, expected {vrf}", f"set vrf_name to {vrf}")


@rule("FG675", Severity.ERROR, "A row of VXLAN_TUNNEL_MAP has no effect", breaks=Breaks.ROUTES)
def tunnel_maps(fabric: Fabric) -> Iterator[Defect]:
    """What: A row of VXLAN_TUNNEL_MAP names a VLAN of the switch. No other row has its VLAN or its VNI. If the VLAN is
    in a VRF, the VRF has a VNI.

    Why: orchagent waits for a VLAN that does not exist, and vxlanmgrd refuses a second map of a VLAN or a VNI. A VRF
    without the VNI neither sends nor receives VXLAN packets.

    Example: VXLAN_TUNNEL_MAP|vtep|map_5001_Vlan3001 has vlan Vlan3001, and VRF|Vrf_blue, which has Vlan3001, no vni.

    Fix: Add the VLAN, remove the second row, or set vni of the VRF.

    Source: sonic-swss cfgmgr/vxlanmgr.cpp (doVxlanTunnelMapCreateTask), orchagent/vxlanorch.cpp
    (VxlanTunnelMapOrch::addOperation), orchagent/vrforch.cpp.
    """
    for switch in fabric.switches.values():
        overlay, first = Overlay(switch.device.config), dict[tuple[str, str], str]()
        for key in switch.device.table("VXLAN_TUNNEL_MAP"):
            vlan, vni = (switch.device.text_of("VXLAN_TUNNEL_MAP", key, field) for field in ("vlan", "vni"))
            place = switch.place("VXLAN_TUNNEL_MAP", key)
            others = {name: first.setdefault((name, value), key) for name, value in (("vlan", vlan), ("vni", vni))}
            vrf = switch.device.text_of("VLAN_INTERFACE", vlan, "vrf_name")
            if twice := next((name for name, other in others.items() if other != key), ""):
                related = (("the first row", switch.place("VXLAN_TUNNEL_MAP", others[twice])),)
                yield Defect(place, f"another row maps this {twice.upper()}, too", "remove one of the rows", related)
            elif vlan not in switch.device.table("VLAN"):
                yield Defect(place, f"the switch has no {vlan}", f"add VLAN|{vlan}")
            elif vrf and not overlay.vni(vrf):
                there = switch.place("VRF", vrf)
                yield Defect(there, f"{vlan} of VNI {vni} is in {vrf}, which has no vni", f"set vni to {vni}")


@rule("FG676", Severity.ERROR, "Two VXLAN tunnels of a switch have one source", breaks=Breaks.ROUTES)
def tunnel_sources(fabric: Fabric) -> Iterator[Defect]:
    """What: The rows of VXLAN_TUNNEL of a switch have different src_ip.

    Why: orchagent names the port of a tunnel by its source. The second tunnel takes the port of the first one, and
    packets to the VTEP are decapsulated by the maps of only one of them.

    Example: VXLAN_TUNNEL|vtep and VXLAN_TUNNEL|vtep2 both have src_ip 10.0.0.1.

    Fix: Remove the tunnel that VXLAN_EVPN_NVO does not name.

    Source: sonic-swss orchagent/vxlanorch.cpp (getTunnelPortName), cfgmgr/vxlanmgr.cpp (restoreVxlanNetDevices).
    """
    for switch in fabric.switches.values():
        first: dict[str, str] = {}
        for name in switch.device.table("VXLAN_TUNNEL"):
            source = switch.device.text_of("VXLAN_TUNNEL", name, "src_ip")
            other = first.setdefault(source, name)
            if source and other != name:
                related = (("the first tunnel", switch.place("VXLAN_TUNNEL", other, "src_ip")),)
                message = f"src_ip {source} is that of VXLAN_TUNNEL|{other}, too"
                place = switch.place("VXLAN_TUNNEL", name, "src_ip")
                yield Defect(place, message, "remove the tunnel that VXLAN_EVPN_NVO does not name", related)


@rule("FG660", Severity.ERROR, "A VRF has different VNIs on two switches", breaks=Breaks.ROUTES)
def equal_vnis(fabric: Fabric) -> Iterator[Defect]:
    """What: VRFs of one name have the same VNI on all switches.

    Why: FRR imports routes by the VNI in their route target. With another VNI the VRF has the routes of another tenant,
    or none.

    Example: Vrf_blue has vni 5002 on leaf1 and 5001 on all others.

    Fix: Set the VNI that most switches have.

    Source: FRRouting bgpd/bgp_evpn.c (form_auto_rt: ASN and VNI).
    """
    found: dict[tuple[str, str], dict[str, list[Place]]] = {}
    for switch in fabric.switches.values():
        overlay = Overlay(switch.device.config)
        for vrf in switch.device.table("VRF"):
            if vni := overlay.vni(vrf):
                places = found.setdefault((switch.plane, vrf), {}).setdefault(vni, [])
                places.append(switch.place("VRF", vrf, "vni"))
    for by_vni in found.values():
        usual = max(by_vni, key=lambda vni: len(by_vni[vni]))
        for vni, places in by_vni.items():
            for place in places if vni != usual else ():
                message = f"vni is {vni}, and {usual} on most switches with this VRF"
                yield Defect(place, message, f"set vni to {usual}", (("another switch", by_vni[usual][0]),))


@rule("FG659", Severity.ERROR, "Packets of hosts do not fit into VXLAN", Basis.AGREEMENT)
def room_for_vxlan(fabric: Fabric) -> Iterator[Defect]:
    """What: On a plane that separates tenants by EVPN, the MTU of hosts and 50 bytes are at most the MTU of each port
    between switches.

    Why: VXLAN adds 50 bytes to each packet between leaves. A switch drops what is larger than the MTU of its port, and
    a lossless class does not change that.

    Example: mtu of the hosts is 9100, and so is PORT.mtu.

    Fix: Set the MTU of the hosts 50 bytes below that of the ports, as `fabricgen render` does.

    Source: RFC 7348 (section 4.3, no fragmentation by the VTEP).
    """
    largest: dict[str, tuple[int, Place | FilePlace]] = {}
    has_evpn = any(plane.isolation == Isolation.EVPN for plane in fabric.planes.values())
    for one in interfaces(fabric) if has_evpn else ():
        mtu = one.raw.get("mtu")
        if (
            one.plane.isolation == Isolation.EVPN
            and isinstance(mtu, int)
            and mtu > largest.get(one.plane.name, (0,))[0]
        ):
            largest[one.plane.name] = mtu, one.place("mtu")
    smallest: dict[str, tuple[int, Place]] = {}
    for pair in fabric.pairs if largest else ():
        for end in pair:
            own = number(end.text("mtu")) or DEFAULT_MTU_BYTES
            if own < smallest.get(end.switch.plane, (own + 1,))[0]:
                smallest[end.switch.plane] = own, end.place("PORT", "mtu")
    for plane, (mtu, place) in largest.items():
        if plane in smallest and mtu + WIRE_BYTES > smallest[plane][0]:
            most, port = smallest[plane]
            message = (
                f"the MTU of the host and {WIRE_BYTES} bytes of VXLAN are {mtu + WIRE_BYTES}, but a port has {most}"
            )
            yield Defect(place, message, f"set mtu to {most - WIRE_BYTES}", (("the port", port),))
