"""frr.conf of a VTEP: FRR reads it at its start, and frrcfgd then applies changes of CONFIG_DB to FRR.

frrcfgd has no field for the statements that announce EVPN routes, so vtysh gives them to FRR after a patch. It applies
nothing at its own start either, so frr.conf also has the rows that isolate a switch.

Source: sonic-buildimage @086b03bd docker-fpm-frr/docker_init.sh (split-unified); src/sonic-frr-mgmt-framework
frrcfgd/frrcfgd.py (BGPConfigDaemon.__init__: only mode `unified` replays the tables).
"""

from collections.abc import Iterator

from ..sonic.tables import ConfigDb, Row
from .restore import Device

_FAMILY = "address-family l2vpn evpn"
_WORDS = {"ipv4_unicast": "ipv4 unicast", "ipv6_unicast": "ipv6 unicast", "l2vpn_evpn": "l2vpn evpn"}

_MARK = "! The switch was isolated by hand."

Statement = tuple[str, str]  # the line of the BGP instance, and a line of its EVPN family


def reads_frr_conf(config: ConfigDb) -> bool:
    """Whether FRR of a switch with these tables reads frr.conf as it is."""
    metadata = config.get("DEVICE_METADATA", {}).get("localhost", {})
    return metadata.get("docker_routing_config_mode") == "split-unified"


def statements(text: str) -> list[Statement]:
    """The statements of frr.conf, or of FRR's running configuration, that announce EVPN routes."""
    found, instance, family = [], "", ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("router "):
            instance, family = line, ""
        elif line.startswith("address-family "):
            family = line
        elif line in ("exit-address-family", "exit"):
            family = ""
        elif family == _FAMILY and line.startswith("advertise"):
            found.append((instance, line))
    return found


def announce(device: Device, target: str) -> None:
    """Give FRR the statements of frr.conf that it does not have, and remove the others of its instances."""
    new, old = statements(target), statements(_running(device))
    instances = {line for line in target.splitlines() if line.startswith("router ")}
    commands = [(instance, line) for instance, line in new if (instance, line) not in old]
    commands += [
        (instance, f"no {line}") for instance, line in old if (instance, line) not in new and instance in instances
    ]
    for instance, line in commands:
        device.run("vtysh", "-c", "configure terminal", "-c", instance, "-c", _FAMILY, "-c", line)


def missing_statements(device: Device, target: str) -> list[str]:
    """The statements of frr.conf that FRR does not have. Raises DeviceError."""
    wanted = statements(target)
    running = statements(_running(device)) if wanted else []
    return [
        f"FRR does not have `{line}` in `{instance}`" for instance, line in wanted if (instance, line) not in running
    ]


def _running(device: Device) -> str:
    return device.run("vtysh", "-c", "show running-config")


def with_isolation(text: str, config: ConfigDb, rows: ConfigDb) -> str:
    """frr.conf of a switch with `rows` of `isolation`, or without such rows. `config` has its ASN."""
    text = text.partition(f"{_MARK}\n")[0]
    asn = str(config.get("BGP_GLOBALS", {}).get("default", {}).get("local_asn", ""))
    return text + "".join(f"{line}\n" for line in _isolation(asn, rows)) if rows else text


def _isolation(asn: str, rows: ConfigDb) -> Iterator[str]:
    yield _MARK
    words = {name: "ipv6" if row.get("mode") == "IPv6" else "ip" for name, row in rows.get("PREFIX_SET", {}).items()}
    for key, row in rows.get("PREFIX", {}).items():
        name, prefix, _ = key.split("|")
        yield f"{words[name]} prefix-list {name} {row['action']} {prefix}"
    for key, row in rows.get("ROUTE_MAP", {}).items():
        name, _, sequence = key.partition("|")
        chosen = str(row["match_prefix_set"])
        yield f"route-map {name} {row['route_operation']} {sequence}"
        yield from (f" match {words[chosen]} address prefix-list {chosen}", "exit")
    yield f"router bgp {asn}"
    for table in ("BGP_PEER_GROUP_AF", "BGP_NEIGHBOR_AF"):
        for key, row in rows.get(table, {}).items():
            yield from _of_family(key, row)
    yield "exit"


def _of_family(key: str, row: Row) -> Iterator[str]:
    vrf, peer, family = key.split("|")
    if vrf == "default":
        yield f" address-family {_WORDS[family]}"
        yield from (f"  neighbor {peer} route-map {name} out" for name in row["route_map_out"])
        yield " exit-address-family"
