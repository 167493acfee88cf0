"""What runs on a switch beside its configuration: sessions, neighbours, watchdog, buffers of the lossless classes."""

import json


def established(summary):
    """The BGP peers with a session, of `vtysh -c 'show bgp summary json'`."""
    families = [family for family in summary.values() if isinstance(family, dict)]
    peers = [item for family in families for item in family.get("peers", {}).items()]
    return sorted({peer for peer, row in peers if row.get("state") == "Established"})


def expected_sessions(rendered, absent):
    """Peer to its name: all that are not shut down, but those of switches that are not there."""
    rows = {key.rpartition("|")[2]: row for key, row in rendered.get("BGP_NEIGHBOR", {}).items()}
    return {
        peer: row.get("name", "")
        for peer, row in rows.items()
        if row.get("admin_status", "up") == "up" and row.get("name") not in absent
    }


def session_problems(expected, up):
    """Sessions that are not up."""
    return [f"BGP: no session with {peer} {name}".rstrip() for peer, name in sorted(expected.items()) if peer not in up]


def lost_sessions(before, target, up):
    """Sessions that were up before a change, are still meant to be there, and are down."""
    peers = {key.rpartition("|")[2] for key in target.get("BGP_NEIGHBOR", {})}
    return [f"BGP: the session with {peer} is down" for peer in before if peer in peers and peer not in up]


def neighbors(dump):
    """(far device, far port as announced) by own port, of `lldpctl -f json0`, which has a list for everything."""
    found = {}
    for top in dump.get("lldp", []):
        for seen in top.get("interface", []):
            chassis, port = seen.get("chassis", [{}])[0], seen.get("port", [{}])[0]
            found.setdefault(seen["name"], []).append((_value(chassis, "name"), _value(port, "id")))
    return found


def _value(part, member):
    return (part.get(member) or [{}])[0].get("value", "")


def cable_problems(links, seen):
    """Cables that are not as planned. `links` has device, port and alias of the far end by own port.

    A switch announces the alias of its port, or the name of a port without one. One that tells its whole domain name is
    meant, too.
    """
    problems = []
    for port, far in sorted(links.items()):
        told = seen.get(port, [])
        if any(name.partition(".")[0] == far["device"] and end in (far["alias"], far["port"]) for name, end in told):
            continue
        found = " and ".join(f"{name} {end}" for name, end in told) or "nothing"
        problems.append(f"LLDP: {port} is to see {far['device']} {far['alias']}, it sees {found}")
    return problems


def lossless_groups(rendered):
    """The keys of lossless priority groups (EthernetN|3-4) of ports that are up.

    Lossless is what has a headroom (xoff), or leaves it to the switch (profile NULL, dynamic buffer model).
    """
    profiles, ports = rendered.get("BUFFER_PROFILE", {}), rendered.get("PORT", {})
    return sorted(
        key
        for key, row in rendered.get("BUFFER_PG", {}).items()
        if ports.get(key.partition("|")[0], {}).get("admin_status") == "up"
        and (row.get("profile") == "NULL" or "xoff" in profiles.get(row.get("profile", ""), {}))
    )


def group_problems(wanted, keys):
    """Lossless groups that never came to the switch's own tables. `keys` are those of BUFFER_PG_TABLE in APPL_DB."""
    present = {key.partition(":")[2].replace(":", "|") for key in keys}
    return [f"lossless priority group {key} is not in APPL_DB" for key in wanted if key not in present]


def pfc_problems(rendered, text):
    """Ports that pause for other priorities than rendered, of the table of `pfc show priority`."""
    rows = {words[0]: words[1] for line in text.splitlines() if len(words := line.split()) == 2}
    wanted = {
        port: row["pfc_enable"] for port, row in rendered.get("PORT_QOS_MAP", {}).items() if row.get("pfc_enable")
    }
    return [
        f"PFC: {port} pauses for {rows.get(port, 'none')}, it is to for {priorities}"
        for port, priorities in sorted(wanted.items())
        if rows.get(port) != priorities
    ]


def watchdog_problems(rendered, text):
    """Ports that the watchdog does not watch, of the table of `pfcwd show config`."""
    watched = {line.split()[0] for line in text.splitlines() if line.split()}
    wanted = sorted(set(rendered.get("PFC_WD", {})) - {"GLOBAL"})
    return [f"PFC watchdog: {port} is not watched" for port in wanted if port not in watched]


def problems_of(device, rendered, links, absent):
    """What is not as it is to be on a switch. `device` runs its commands."""
    found = session_problems(expected_sessions(rendered, absent), sessions(device))
    found += cable_problems(
        links, neighbors(json.loads(device.run("docker", "exec", "lldp", "lldpctl", "-f", "json0")))
    )
    if rendered.get("PFC_WD"):
        found += watchdog_problems(rendered, device.run("pfcwd", "show", "config"))
        if not device.attempt("pfcwd", "show", "stats", "--check-storm"):
            found.append("PFC watchdog: a storm is going on (`pfcwd show stats`)")
    found += pfc_problems(rendered, device.run("pfc", "show", "priority"))
    keys = device.run("sonic-db-cli", "APPL_DB", "KEYS", "BUFFER_PG_TABLE:*").split()
    return found + group_problems(lossless_groups(rendered), keys)


def sessions(device):
    """The BGP peers with a session."""
    return established(json.loads(device.run("vtysh", "-c", "show bgp summary json")))
