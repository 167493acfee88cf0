"""Rules on the servers of a switch: whether the VRF of a service has a route to them."""

from collections.abc import Iterator
from typing import NamedTuple

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.addresses import Address, parse_address

_MANAGEMENT = "mgmt"
_ANY = ("0.0.0.0", "::", "127.0.0.1", "::1")
_SERVERS = ("NTP_SERVER", "SYSLOG_SERVER", "TACPLUS_SERVER", "RADIUS_SERVER")


class _Server(NamedTuple):
    table: str
    key: str
    address: Address
    vrf: str


@rule("FG287", Severity.WARNING, "A server is in a VRF without a route to it")
def unreachable_servers(fabric: Fabric) -> Iterator[Defect]:
    """What: The servers of NTP, syslog, TACACS+ and RADIUS are inside a subnet of their VRF, or the VRF has a route
    to them. The management VRF has the gateways of MGMT_INTERFACE. The default VRF has them only while the
    management VRF is off. Of the default VRF, routes that BGP learns from devices outside the fabric are not known:
    with such devices, its servers are not judged.

    Why: The clock of the switch drifts, its logs are lost, or no login works while the local password is unknown.
    Nothing reports it on the switch.

    Example: mgmtVrfEnabled is true, and SYSLOG_SERVER|10.255.0.3 has no vrf.

    Fix: Set the VRF from which the server can be reached.

    Source: sonic-host-services scripts/hostcfgd (NtpCfg, RSyslogCfg, AaaCfg, MgmtIfaceCfg); sonic-buildimage
    files/image_config/interfaces/interfaces.j2 (table 5000 of the management VRF has the gateways).
    """
    for switch in fabric.switches.values():
        for server in _servers(switch):
            reason = _unreachable(fabric, switch, server)
            if reason:
                has_field = server.table != "NTP_SERVER"
                place = switch.place(server.table, server.key, "vrf" if has_field else "")
                where = "`vrf` of NTP|global" if not has_field else "`vrf`"
                yield Defect(
                    place, f"{server.key} cannot be reached: {reason}", f"set {where} to the VRF of the server"
                )


def _servers(switch: Switch) -> Iterator[_Server]:
    of_ntp = switch.device.text_of("NTP", "global", "vrf")
    for table in _SERVERS:
        for key, row in switch.device.table(table).items():
            if address := parse_address(key):
                vrf = of_ntp if table == "NTP_SERVER" else str(row.get("vrf", "") or row.get("vrf_name", ""))
                yield _Server(table, key, address, "" if vrf == "default" else vrf)


def _unreachable(fabric: Fabric, switch: Switch, server: _Server) -> str:
    device, has_management_vrf = switch.device, _has_management_vrf(switch)
    if server.vrf == _MANAGEMENT:
        if not has_management_vrf:
            return ""  # FG402 reports it: the row breaks a `must` of its model
        return "" if _by_management(switch, server.address) else "the management VRF has no gateway or subnet for it"
    if not server.vrf:
        if not has_management_vrf or not device.table("MGMT_INTERFACE"):
            return ""
        if any(end.far_role == "external" for end in fabric.ends_of[switch.name].values()) or _has_outside(fabric):
            return ""
        if connected(switch, "", server.address) or has_static_route(switch, "default", server.address):
            return ""
        if any(connected(other, "", server.address) for other in fabric.switches.values()):
            return ""
        return "mgmtVrfEnabled is true, and the default VRF has no route to it"
    if server.vrf not in device.table("VRF"):
        return f"the switch has no VRF {server.vrf}"
    if connected(switch, server.vrf, server.address) or has_static_route(switch, server.vrf, server.address):
        return ""
    return f"VRF {server.vrf} has no subnet and no static route for it"


def _has_management_vrf(switch: Switch) -> bool:
    return switch.device.text_of("MGMT_VRF_CONFIG", "vrf_global", "mgmtVrfEnabled") == "true"


def _has_outside(fabric: Fabric) -> bool:
    return bool(fabric.bundle.external_at)


def _by_management(switch: Switch, address: Address) -> bool:
    for key, row in switch.device.table("MGMT_INTERFACE").items():
        own = parse_address(key.partition("|")[2])
        if own and own.version == address.version and (row.get("gwaddr") or own.network.covers(address)):
            return True
    return not switch.device.table("MGMT_INTERFACE")  # by DHCP


def connected(switch: Switch, vrf: str, address: Address) -> bool:
    """Whether an interface in a VRF ("" for the default one) has a subnet with the address."""
    for name in switch.addresses_of:
        if switch.address_space(name)[0] != vrf:
            continue
        for held in switch.addresses_of[name]:
            own = parse_address(held.key.partition("|")[2])
            if own and own.network.covers(address):
                return True
    return False


def has_static_route(switch: Switch, vrf: str, address: Address) -> bool:
    """Whether a VRF ("default" for the default one) has a static route to the address."""
    for key, row in switch.device.table("STATIC_ROUTE").items():
        space, _, prefix = key.partition("|") if "|" in key else ("default", "", key)
        route = parse_address(prefix)
        if space == vrf and route and route.network.covers(address) and row.get("blackhole") != "true":
            return True
    return False


@rule("FG291", Severity.WARNING, "A row is for a VRF that the switch does not have")
def unknown_vrf(fabric: Fabric) -> Iterator[Defect]:
    """What: The VRF of a static route, of its next hop, and of an address of the SNMP agent is `default`, a row of VRF,
    or `mgmt` while the management VRF is on. The models of other tables refer to VRF (FG408), and FG287 judges servers.

    Why: The route never enters a routing table, and its prefix is unreachable. The SNMP agent cannot bind the address,
    and does not start.

    Example: STATIC_ROUTE|Vrf-blue|0.0.0.0/0, but VRF has no row Vrf-blue.

    Fix: Add the VRF, or correct its name.

    Source: sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_static_rt.py (ip route ... vrf), dockers/docker-snmp
    snmpd.conf.j2 (agentAddress).
    """
    for switch in fabric.switches.values():
        known = {"", "default", *switch.device.table("VRF")} | ({_MANAGEMENT} if _has_management_vrf(switch) else set())
        for table, key, field, vrf in _named_vrfs(switch):
            if vrf not in known:
                is_management = vrf == _MANAGEMENT
                hint = "set MGMT_VRF_CONFIG|vrf_global|mgmtVrfEnabled to true" if is_management else f"add VRF|{vrf}"
                message = "the management VRF is off" if is_management else f"the switch has no VRF {vrf}"
                yield Defect(switch.place(table, key, field), message, f"{hint}, or name another VRF")


def _named_vrfs(switch: Switch) -> Iterator[tuple[str, str, str, str]]:
    """(table, key, field or "" for the key, VRF)."""
    for key, row in switch.device.table("STATIC_ROUTE").items():
        if "|" in key:
            yield "STATIC_ROUTE", key, "", key.partition("|")[0]
        for vrf in str(row.get("nexthop-vrf", "")).split(","):
            yield "STATIC_ROUTE", key, "nexthop-vrf", vrf.strip()
    for key in switch.device.table("SNMP_AGENT_ADDRESS_CONFIG"):
        if key.count("|") == 2:
            yield "SNMP_AGENT_ADDRESS_CONFIG", key, "", key.rpartition("|")[2]


_LOGINS = {"radius": "RADIUS_SERVER", "ldap": "LDAP_SERVER", "tacacs+": "TACPLUS_SERVER"}


@rule("FG426", Severity.WARNING, "A login method has no server")
def login_without_server(fabric: Fabric) -> Iterator[Defect]:
    """What: Each method in login of AAA|authentication but local has a server row.

    Why: hostcfgd writes a PAM configuration without a server of the method. If login has no `local`, no user can log in
    to the switch: the console remains, with the password of root.

    Example: AAA|authentication has login radius, and RADIUS_SERVER has no row.

    Fix: Add the servers, or remove the method.

    Source: sonic-host-services scripts/hostcfgd AaaCfg.modify_conf_file; data/templates/common-auth-sonic.j2.
    """
    for switch in fabric.switches.values():
        methods = [one.strip() for one in switch.device.text_of("AAA", "authentication", "login").split(",")]
        for method in methods:
            table = _LOGINS.get(method)
            if table and not switch.device.table(table):
                is_locked = "local" not in methods
                message = f"login has {method}, and {table} has no row" + (": no user can log in" if is_locked else "")
                severity = Severity.ERROR if is_locked else None
                place = switch.place("AAA", "authentication", "login")
                yield Defect(place, message, f"add {table}, or remove {method}", severity=severity)


@rule("FG427", Severity.WARNING, "The SNMP agent listens on an address that the switch does not have")
def foreign_agent_address(fabric: Fabric) -> Iterator[Defect]:
    """What: Each address of SNMP_AGENT_ADDRESS_CONFIG is an address of an interface of the switch, or of eth0. Where
    eth0 has its address by DHCP, addresses are not judged.

    Why: snmpd cannot bind the address. Without another one it ends, and no manager gets an answer.

    Example: SNMP_AGENT_ADDRESS_CONFIG|192.0.2.44|161| on a switch without 192.0.2.44.

    Fix: Use an address of the switch, or remove the table: then the agent listens on all addresses.

    Source: sonic-buildimage dockers/docker-snmp/snmpd.conf.j2 (agentAddress); Net-SNMP snmpd.conf(5).
    """
    for switch in fabric.switches.values():
        management = [parse_address(key.partition("|")[2]) for key in switch.device.table("MGMT_INTERFACE")]
        held = {address.host for address in management if address}
        held |= {Address(one.version, one.number, one.length).host for one in switch.addresses}
        for key in switch.device.table("SNMP_AGENT_ADDRESS_CONFIG") if any(management) else ():
            address = parse_address(key.partition("|")[0])
            if address and address.host not in held and address.ip not in _ANY:
                message = f"no interface of the switch has {address.ip}: the SNMP agent cannot bind it"
                yield Defect(switch.place("SNMP_AGENT_ADDRESS_CONFIG", key), message, "use an address of the switch")
