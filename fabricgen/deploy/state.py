"""The state of a switch compared with its configuration: BGP sessions, LLDP neighbors, bonds, VLANs, PFC, watchdog,
buffers."""

import json
from collections.abc import Collection, Iterable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface
from typing import Any

from ..sonic.tables import ConfigDb, channel_of
from .daemons import database_rows, held_problems, in_short
from .frr import missing_statements
from .restore import Device

Far = tuple[str, str]  # a neighbor's name, and its port as it announces it


def established(summary: Mapping[str, Any]) -> list[str]:
    """The BGP peers with an established session, from `vtysh -c 'show bgp summary json'`."""
    families = [family for family in summary.values() if isinstance(family, dict)]
    peers = [item for family in families for item in family.get("peers", {}).items()]
    return sorted({peer for peer, row in peers if row.get("state") == "Established"})


def expected_sessions(rendered: ConfigDb, absent: Collection[str]) -> dict[str, str]:
    """Peer -> its name, without peers that are shut down, `absent` switches and peers at ports that are shut down."""
    rows = {key.rpartition("|")[2]: row for key, row in rendered.get("BGP_NEIGHBOR", {}).items()}
    silent = {port for port, row in rendered.get("PORT", {}).items() if row.get("admin_status") == "down"}
    near = [key.split("|") for key in rendered.get("INTERFACE", {}) if "|" in key]
    subnets = [ip_interface(text).network for port, text in near if port in silent]
    return {
        peer: str(row.get("name", ""))
        for peer, row in rows.items()
        if row.get("admin_status", "up") == "up"
        and row.get("name") not in absent
        and peer not in silent
        and not _is_in(subnets, peer)
    }


def _is_in(subnets: Iterable[IPv4Network | IPv6Network], peer: str) -> bool:
    """Whether a peer, an address or an interface, is an address in one of the subnets."""
    return any(not peer.startswith("Ethernet") and ip_address(peer) in subnet for subnet in subnets)


def session_problems(expected: Mapping[str, str], up: Collection[str]) -> list[str]:
    """The expected sessions that are not established."""
    return [f"BGP: no session with {peer} {name}".rstrip() for peer, name in sorted(expected.items()) if peer not in up]


def lost_sessions(before: Iterable[str], target: ConfigDb, up: Collection[str]) -> list[str]:
    """The sessions that were established before a change, are still configured, and are down."""
    peers = {key.rpartition("|")[2] for key in target.get("BGP_NEIGHBOR", {})}
    return [f"BGP: the session with {peer} is down" for peer in before if peer in peers and peer not in up]


def neighbors(dump: Mapping[str, Any]) -> dict[str, list[Far]]:
    """Port -> its LLDP neighbors, from `lldpctl -f json0`, which makes a list of every element."""
    found: dict[str, list[Far]] = {}
    for top in dump.get("lldp", []):
        for entry in top.get("interface", []):
            chassis, port = entry.get("chassis", [{}])[0], entry.get("port", [{}])[0]
            found.setdefault(entry["name"], []).append((_value(chassis, "name"), _value(port, "id")))
    return found


def _value(element: Mapping[str, Any], member: str) -> str:
    return str((element.get(member) or [{}])[0].get("value", ""))


def cable_problems(links: Mapping[str, Mapping[str, str]], found: Mapping[str, Collection[Far]]) -> list[str]:
    """The cables that are not as planned. `links` has device, port and alias of the far end, by port.

    A switch announces the alias of its port, or the name of a port without an alias. Its own name may be followed by a
    domain.
    """
    problems = []
    for port, far in sorted(links.items()):
        announced = found.get(port, ())
        ends = (far["alias"], far["port"])
        if not any(name.partition(".")[0] == far["device"] and end in ends for name, end in announced):
            neighbor = " and ".join(f"{name} {end}" for name, end in announced) or "missing"
            problems.append(f"LLDP: the neighbor of {port} is {neighbor}, expected {far['device']} {far['alias']}")
    return problems


def lossless_groups(rendered: ConfigDb) -> list[str]:
    """The keys of lossless priority groups (EthernetN|3-4) of ports that are up.

    A lossless group has a profile with headroom (xoff), or profile NULL, for which the dynamic buffer model computes
    the headroom.
    """
    profiles, ports = rendered.get("BUFFER_PROFILE", {}), rendered.get("PORT", {})
    return sorted(
        key
        for key, row in rendered.get("BUFFER_PG", {}).items()
        if ports.get(key.partition("|")[0], {}).get("admin_status") == "up"
        and (row.get("profile") == "NULL" or "xoff" in profiles.get(str(row.get("profile", "")), {}))
    )


def group_problems(expected: Iterable[str], keys: Iterable[str]) -> list[str]:
    """The lossless groups that the switch did not create. `keys` are those of BUFFER_PG_TABLE in APPL_DB."""
    present = {key.partition(":")[2].replace(":", "|") for key in keys}
    return [f"lossless priority group {key} is not in APPL_DB" for key in expected if key not in present]


def pfc_problems(rendered: ConfigDb, text: str) -> list[str]:
    """The ports with other PFC priorities than rendered, from the table of `pfc show priority`."""
    rows = {words[0]: words[1] for line in text.splitlines() if len(words := line.split()) == 2}
    expected = {
        port: row["pfc_enable"] for port, row in rendered.get("PORT_QOS_MAP", {}).items() if row.get("pfc_enable")
    }
    return [
        f"PFC: the lossless priorities of {port} are {rows.get(port, 'none')}, expected {priorities}"
        for port, priorities in sorted(expected.items())
        if rows.get(port) != priorities
    ]


def watchdog_problems(rendered: ConfigDb, text: str) -> list[str]:
    """The ports without the rendered PFC watchdog, from the table of `pfcwd show config`."""
    watched = {line.split()[0] for line in text.splitlines() if line.split()}
    expected = sorted(set(rendered.get("PFC_WD", {})) - {"GLOBAL"})
    return [f"PFC watchdog: not enabled on {port}" for port in expected if port not in watched]


Rows = Mapping[str, Mapping[str, str]]


def bond_problems(rendered: ConfigDb, ports: Rows, members: Rows) -> list[str]:
    """The ports of port channels that have a link, and that LACP does not use. A port without a link has a host that is
    off. `ports` and `members` are PORT_TABLE and LAG_MEMBER_TABLE of APPL_DB.

    Source: sonic-swss teamsyncd/teamsync.cpp (LAG_MEMBER_TABLE status), portsyncd (PORT_TABLE oper_status).
    """
    return [
        f"LACP: {port} has a link, and is not used in {channel}"
        for port, channel in sorted(channel_of(rendered.get("PORTCHANNEL_MEMBER", {})).items())
        if ports.get(f"PORT_TABLE:{port}", {}).get("oper_status") == "up"
        and members.get(f"LAG_MEMBER_TABLE:{channel}:{port}", {}).get("status") != "enabled"
    ]


def vlan_problems(rendered: ConfigDb, members: Rows) -> list[str]:
    """The rendered members of VLANs that the switch did not add. `members` is VLAN_MEMBER_TABLE of STATE_DB.

    Source: sonic-swss cfgmgr/vlanmgr.cpp (m_stateVlanMemberTable, state ok).
    """
    return [
        f"VLAN: {member} is not in {vlan}"
        for vlan, _, member in (key.partition("|") for key in sorted(rendered.get("VLAN_MEMBER", {})))
        if members.get(f"VLAN_MEMBER_TABLE|{vlan}|{member}", {}).get("state") != "ok"
    ]


def pair_problems(
    rendered: ConfigDb, domains: Rows, links: Mapping[str, Mapping[str, str]], absent: Collection[str]
) -> list[str]:
    """The MCLAG sessions that are down, but not with `absent` leaves. `domains` is MCLAG_TABLE of STATE_DB.

    Source: sonic-swss mclagsyncd/mclaglink.cpp (STATE_MCLAG_TABLE oper_status).
    """
    channels = channel_of(rendered.get("PORTCHANNEL_MEMBER", {}))
    found = []
    for domain, row in sorted(rendered.get("MCLAG_DOMAIN", {}).items()):
        ports = [port for port, channel in channels.items() if channel == row.get("peer_link")]
        is_absent = any(links[port]["device"] in absent for port in ports if port in links)
        if not is_absent and domains.get(f"MCLAG_TABLE|{domain}", {}).get("oper_status") != "up":
            found.append(f"MCLAG: the session of domain {domain} with {row.get('peer_ip')} is down")
    return found


def _access_problems(
    device: Device, rendered: ConfigDb, links: Mapping[str, Mapping[str, str]], absent: Collection[str]
) -> list[str]:
    """What differs of the VLANs and bonds of hosts; no command for a switch without them."""
    found: list[str] = []
    if rendered.get("PORTCHANNEL_MEMBER"):
        ports, members = (database_rows(device, "APPL_DB", f"{name}:*") for name in ("PORT_TABLE", "LAG_MEMBER_TABLE"))
        found += bond_problems(rendered, ports, members)
    if rendered.get("VLAN_MEMBER"):
        found += vlan_problems(rendered, database_rows(device, "STATE_DB", "VLAN_MEMBER_TABLE|*"))
    if rendered.get("MCLAG_DOMAIN"):
        found += pair_problems(rendered, database_rows(device, "STATE_DB", "MCLAG_TABLE|*"), links, absent)
    return found


def problems_of(
    device: Device,
    rendered: ConfigDb,
    links: Mapping[str, Mapping[str, str]],
    absent: Collection[str],
    frr_conf: str = "",
) -> list[str]:
    """Everything in the state of a switch that differs from its configuration and cabling. `frr_conf` is that of a
    VTEP.

    Raises DeviceError when a command fails, ValueError when its output is not JSON.
    """
    found = session_problems(expected_sessions(rendered, absent), sessions(device))
    found += in_short(missing_statements(device, frr_conf))
    lldp = json.loads(device.run("docker", "exec", "lldp", "lldpctl", "-f", "json0"))
    found += cable_problems(links, neighbors(lldp))
    if rendered.get("PFC_WD"):
        found += watchdog_problems(rendered, device.run("pfcwd", "show", "config"))
        if not device.attempt("pfcwd", "show", "stats", "--check-storm"):
            found.append("PFC watchdog: a storm is in progress (see `pfcwd show stats`)")
    found += pfc_problems(rendered, device.run("pfc", "show", "priority"))
    keys = device.run("sonic-db-cli", "APPL_DB", "KEYS", "BUFFER_PG_TABLE:*").split()
    found += group_problems(lossless_groups(rendered), keys)
    found += in_short(_access_problems(device, rendered, links, absent))
    return found + in_short(held_problems(device, rendered))


def sessions(device: Device) -> list[str]:
    """The BGP peers with an established session."""
    return established(json.loads(device.run("vtysh", "-c", "show bgp summary json")))
