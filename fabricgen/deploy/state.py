"""The state of a switch compared with its configuration: BGP sessions, LLDP neighbors, PFC, watchdog, buffers."""

import json
from collections.abc import Collection, Iterable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface
from typing import Any

from ..sonic.tables import ConfigDb
from .daemons import held_problems, in_short
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
    return found + in_short(held_problems(device, rendered))


def sessions(device: Device) -> list[str]:
    """The BGP peers with an established session."""
    return established(json.loads(device.run("vtysh", "-c", "show bgp summary json")))
