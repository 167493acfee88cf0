"""Rules on control-plane ACLs: who can still reach the services of a switch, as caclmgrd translates the tables."""

from collections.abc import Iterator, Mapping

from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.control_acl import CONTROL_PLANE, ControlAcl, translate
from fabricgen.sonic.gnmi import GnmiTransport, is_configured, port, transport

_OPEN = ControlAcl()


@derived
def _acls(fabric: Fabric) -> Mapping[str, ControlAcl]:
    """Switch -> its control-plane ACLs."""
    return {name: _of_switch(switch) for name, switch in fabric.switches.items()}


@derived
def _of_switch(switch: Switch) -> ControlAcl:
    tables = switch.device.table("ACL_TABLE").values()
    if not any(row.get("type") == CONTROL_PLANE for row in tables):
        return _OPEN
    return translate(switch.device.config, switch.device.release)


@rule("FG301", Severity.ERROR, "No address can reach SSH of a switch")
def unreachable_ssh(fabric: Fabric) -> Iterator[Defect]:
    """What: Where control-plane ACLs drop packets, some address can open a new connection to TCP port 22, in a family
    of the addresses of the management port.

    Why: As soon as caclmgrd installs one rule of any service, it drops everything that no rule accepts, for both
    families. Only sessions that are open stay. After a reboot only the console reaches the switch.

    Example: ACL_TABLE has only SNMP_ONLY; or SSH_ONLY has rules of IPv6 only, and eth0 has an IPv4 address.

    Fix: Add a table of type CTRLPLANE with the service SSH for each family, with a rule that accepts your addresses.

    Source: sonic-host-services scripts/caclmgrd.
    """
    for switch in fabric.switches.values():
        if _acls(fabric)[switch.name].filters and not _is_reachable(fabric, switch, "tcp", "22"):
            message = f"the control-plane ACLs drop all new connections to SSH{_of_families(switch)}"
            hint = "add a table with the service SSH and a rule that accepts your addresses, for each family"
            yield Defect(switch.place("ACL_TABLE"), message, hint)


@rule("FG302", Severity.WARNING, "No address can reach SNMP or gNMI of a switch")
def unreachable_service(fabric: Fabric) -> Iterator[Defect]:
    """What: Where control-plane ACLs drop packets, some address can reach SNMP if the file has a community or a user,
    and gNMI if the file has its server.

    Why: caclmgrd drops everything that no rule accepts, so monitoring sees no data. gNMI has no separate service: its
    port is opened by a table with the service EXTERNAL_CLIENT whose rules have L4_DST_PORT.

    Example: management.gnmi has port 8080, and the ACLs accept only SSH and SNMP.

    Fix: Add a table for the service, for each family.

    Source: sonic-host-services scripts/caclmgrd; sonic-buildimage dockers/docker-sonic-gnmi/gnmi-native.sh.
    """
    for switch in fabric.switches.values():
        config = switch.device.config
        if not _acls(fabric)[switch.name].filters:
            continue
        has_snmp = switch.device.table("SNMP_COMMUNITY") or switch.device.table("SNMP_USER")
        if has_snmp and not _is_reachable(fabric, switch, "udp", "161"):
            message = f"the control-plane ACLs drop all packets to SNMP{_of_families(switch)}"
            yield Defect(switch.place("ACL_TABLE"), message, "add a table with the service SNMP")
        is_remote = is_configured(config) and transport(config, switch.device.release) != GnmiTransport.LOOPBACK
        if is_remote and not _is_reachable(fabric, switch, "tcp", port(config)):
            message = f"the control-plane ACLs drop all new connections to gNMI, port {port(config)}"
            message += _of_families(switch)
            hint = f"add a table with the service EXTERNAL_CLIENT whose rules have L4_DST_PORT {port(config)}"
            yield Defect(switch.place("ACL_TABLE"), message, hint)


@rule("FG303", Severity.ERROR, "caclmgrd does not apply a control-plane ACL as it is written")
def ignored_rules(fabric: Fabric) -> Iterator[Defect]:
    """What: Each table of type CTRLPLANE has rules of one family, with distinct priorities, an address and the action
    ACCEPT or DROP; its services are known; all rules of an EXTERNAL_CLIENT table have one destination port.

    Why: caclmgrd takes the family of a table from the first rule that it reads, in the order of the keys, and only logs
    the rules that it leaves out. The addresses of the other family are locked out, or let in.

    Example: SSH_ONLY|RULE_1 has SRC_IP 10.0.0.0/8, and SSH_ONLY|RULE_2 has SRC_IPV6 fc00::/7.

    Fix: Write one table for each family and port.

    Source: sonic-host-services scripts/caclmgrd (compared in tests with the answers of each release); sonic-swss-common
    common/configdb.cpp (order of the rows).
    """
    for switch in fabric.switches.values():
        for one in _acls(fabric)[switch.name].ignored:
            yield Defect(switch.place(one.table, one.key, one.field), one.reason, one.hint)


@rule("FG304", Severity.NOTE, "The gNMI server has no certificate")
def open_gnmi(fabric: Fabric) -> Iterator[Defect]:
    """What: Where a file configures the gNMI server, GNMI|certs has server_crt and server_key.

    Why: Without a certificate the container starts the server with --noTLS. In images up to 202605 it then sends
    passwords and data in clear text, to any address. In later ones it listens on 127.0.0.1 only, so no collector
    reaches it. With one of the two fields missing it makes its own certificate, which no client can verify.

    Example: GNMI has only the row gnmi with port 8080.

    Fix: Set management.gnmi.certificates in the inventory to the files on the switch.

    Source: sonic-buildimage dockers/docker-sonic-gnmi/gnmi-native.sh, pull request 28110; sonic-gnmi pull request 712.
    """
    effects = {
        GnmiTransport.LOOPBACK: "the server listens on 127.0.0.1 only, so no collector reaches it",
        GnmiTransport.CLEAR_TEXT: "the server sends everything in clear text",
        GnmiTransport.TEST_CERTIFICATE: "the server makes its own certificate, which no client can verify",
    }
    for switch in fabric.switches.values():
        how = transport(switch.device.config, switch.device.release)
        if is_configured(switch.device.config) and how in effects:
            message = f"server_crt and server_key are not both set: {effects[how]}"
            hint = "set management.gnmi.certificates to the files on the switch"
            yield Defect(switch.place("GNMI", "certs"), message, hint)


def _families(switch: Switch) -> tuple[int, ...]:
    """The families of the addresses of the management port; both if the file has none."""
    keys = [key.partition("|")[2] for key in switch.device.table("MGMT_INTERFACE")]
    return tuple(dict.fromkeys(6 if ":" in key else 4 for key in keys if key)) or (4, 6)


def _of_families(switch: Switch) -> str:
    families = _families(switch)
    return f" over IPv{families[0]}, the only family of the management port" if len(families) == 1 else ""


def _is_reachable(fabric: Fabric, switch: Switch, protocol: str, number: str) -> bool:
    acl = _acls(fabric)[switch.name]
    return any(acl.sources(family, protocol, number) for family in _families(switch))
