"""The `must` rules of SONiC's YANG models between rows and fields, for the tables that a switch of a fabric uses.

Each check names its YANG file. Other checks report missing values and values of a wrong type.
"""

from collections.abc import Iterator, Mapping
from functools import cache

from fabricgen.same import Same
from fabricgen.sonic.schema.musts_qos import pool_percentage, rates, thresholds, watchdog_times, wred_order
from fabricgen.sonic.schema.rows import Config, Must, number_of, row_of, rows_of
from fabricgen.sonic.schema.tables import table_schema
from fabricgen.sonic.schema.violations import Violation, ViolationKind
from fabricgen.sonic.tables import split_key

Kept = tuple[str, Same[object], Must, tuple[str | None, ...]]


def broken_musts(config: Config, clean: set[Kept]) -> Iterator[Violation]:
    """Every rule that the file breaks, table by table in the order of the file.

    `clean` contains (name, table, rule, values of other tables that the rule reads) for each table that keeps a rule.
    The tables of this file are added.
    """
    for table, rows in config.items():
        same = Same(rows)
        for must in _MUSTS.get(table, ()):
            others = tuple([_value_at(config, path) for path in _kinds_read(table)]) if must is _kind_of_switch else ()
            kept = table, same, must, others
            if kept not in clean:
                found = list(must(config, table))
                yield from found
                if not found and must in _OF_ONE_TABLE:
                    clean.add(kept)


def _same_family(one: str, other: str) -> bool:
    return any(mark in one and mark in other for mark in ".:")


def _different_families(one: str, other: str) -> str:
    return f"{one} and {other} have different address families"


def _base_row(config: Config, table: str) -> Iterator[Violation]:
    """sonic-interface.yang, sonic-vlan.yang: an address needs a row for the interface itself."""
    bases = {key for key, _ in rows_of(config, table, 1)}
    for key, _ in rows_of(config, table, 2):
        if (name := key.partition("|")[0]) not in bases:
            yield Violation(ViolationKind.MUST, table, key, "", f"{table} has no row {name}", f'add "{name}": {{}}')


def _family(config: Config, table: str) -> Iterator[Violation]:
    """sonic-interface.yang, sonic-loopback-interface.yang, sonic-vlan.yang: family is the family of the prefix."""
    for key, row in [(key, row) for key, row in rows_of(config, table) if "family" in row and key.count("|") == 1]:
        family = "IPv6" if ":" in key.partition("|")[2] else "IPv4"
        if isinstance(row["family"], str) and row["family"] != family:
            yield Violation(
                ViolationKind.MUST,
                table,
                key,
                "family",
                f"the prefix is {family}",
                f"write {family}, or remove the field",
            )


def _gateway(config: Config, table: str) -> Iterator[Violation]:
    """sonic-mgmt_interface.yang: the gateway is present and has the family of the address."""
    for key, row in rows_of(config, table, 2):
        gateway = row.get("gwaddr")
        if not isinstance(gateway, str):
            yield Violation(ViolationKind.MUST, table, key, "gwaddr", "a management address needs a gateway")
        elif not _same_family(gateway, split_key(key)[1]):
            yield Violation(ViolationKind.MUST, table, key, "gwaddr", _different_families(gateway, split_key(key)[1]))


def _management_vrf(field: str) -> Must:
    """sonic-ntp.yang, sonic-syslog.yang, sonic-gnmi.yang, sonic-telemetry.yang, sonic-sflow.yang."""

    def must(config: Config, table: str) -> Iterator[Violation]:
        enabled = row_of(config, "MGMT_VRF_CONFIG", "vrf_global").get("mgmtVrfEnabled") == "true"
        for key, row in rows_of(config, table):
            if row.get(field) == "mgmt" and not enabled:
                hint = "set MGMT_VRF_CONFIG|vrf_global|mgmtVrfEnabled to true, or use the default VRF"
                yield Violation(ViolationKind.MUST, table, key, field, "the management VRF is not enabled", hint)

    return must


def _syslog_source(config: Config, table: str) -> Iterator[Violation]:
    """sonic-syslog.yang: the source has the address family of the server."""
    for key, row in rows_of(config, table):
        if isinstance(row.get("source"), str) and not _same_family(row["source"], key):
            yield Violation(ViolationKind.MUST, table, key, "source", _different_families(row["source"], key))


def _member_ports(config: Config, table: str) -> Iterator[Violation]:
    """sonic-vlan.yang: a VLAN port is not routed, bundled or a mirror target, and untagged in at most one VLAN."""
    routed = {key for key, _ in rows_of(config, "INTERFACE", 1)}
    bundled = {split_key(key)[1] for key, _ in rows_of(config, "PORTCHANNEL_MEMBER", 2)}
    mirrors = {str(row.get("dst_port")) for _, row in rows_of(config, "MIRROR_SESSION")}
    untagged: dict[str, str] = {}
    for key, row in rows_of(config, table, 2):
        port = split_key(key)[1]
        problems = {
            "is a routed port": port in routed,
            "is a member of a PortChannel": port in bundled,
            "is the target of a mirror session": port in mirrors,
        }
        if row.get("tagging_mode") == "untagged":
            first = untagged.setdefault(port, key)
            problems[f"is already untagged in {split_key(first)[0]}"] = first != key
        for problem, applies in problems.items():
            if applies:
                yield Violation(ViolationKind.MUST, table, key, "", f"{port} {problem}")


def _vlan_number(config: Config, table: str) -> Iterator[Violation]:
    """sonic-vlan.yang: vlanid is the number in the name."""
    for key, row in rows_of(config, table):
        if isinstance(row.get("vlanid"), str) and key.removeprefix("Vlan") != row["vlanid"]:
            yield Violation(ViolationKind.MUST, table, key, "vlanid", f"{row['vlanid']} is not the number in {key}")


def _lanes(config: Config, table: str) -> Iterator[Violation]:
    """sonic-port.yang: every port has lanes, except on line cards of a chassis, where none has."""
    device = row_of(config, "DEVICE_METADATA", "localhost")
    chassis = device.get("switch_type") in ("voq", "chassis-packet", "fabric")
    if "asic_name" not in device and (chassis or device.get("hwsku") in ("msft_four_asic_vs", "msft_multi_asic_vs")):
        for key in [key for key, row in rows_of(config, table) if "lanes" in row]:
            yield Violation(ViolationKind.MUST, table, key, "lanes", "lanes are not allowed on line cards of a chassis")
        return
    for key in [key for key, row in rows_of(config, table) if "lanes" not in row]:
        yield Violation(ViolationKind.MISSING_FIELD, table, key, "lanes", "lanes is missing")


def _passkey(config: Config, table: str) -> Iterator[Violation]:
    """sonic-system-aaa.yang: authentication by TACACS+ needs the passkey of TACPLUS|global."""
    login = row_of(config, table, "authentication").get("login")
    if isinstance(login, str) and "tacacs+" in login and "passkey" not in row_of(config, "TACPLUS", "global"):
        yield Violation(ViolationKind.MUST, table, "authentication", "login", "tacacs+ needs TACPLUS|global|passkey")


def _advertised(config: Config, table: str) -> Iterator[Violation]:
    """sonic-port.yang: 'all' is the only item."""
    rows = [(key, row) for key, row in rows_of(config, table) if "adv_speeds" in row or "adv_interface_types" in row]
    for key, row in rows:
        for field in [name for name in ("adv_speeds", "adv_interface_types") if name in row]:
            value = row.get(field, "")
            words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
            if "all" in words and len(words) > 1:
                yield Violation(ViolationKind.MUST, table, key, field, "'all' must be the only item")


def _asn(config: Config, table: str) -> Iterator[Violation]:
    """sonic-bgp-neighbor.yang: neighbors of bgpcfgd have an ASN above 0."""
    for key, row in rows_of(config, table, 1):
        if number_of(row, "asn") == 0:
            yield Violation(ViolationKind.MUST, table, key, "asn", "an ASN is at least 1")


def _name_is_key(config: Config, table: str) -> Iterator[Violation]:
    """sonic-bgp-peerrange.yang: name repeats the key."""
    for key, row in rows_of(config, table):
        if isinstance(row.get("name"), str) and row["name"] != split_key(key)[-1]:
            yield Violation(
                ViolationKind.MUST,
                table,
                key,
                "name",
                f"{row['name']!r} must equal the key",
                f"write {split_key(key)[-1]}",
            )


def _fib_pending(config: Config, table: str) -> Iterator[Violation]:
    """sonic-device_metadata.yang: suppress-fib-pending needs synchronous mode (the default)."""
    for key, row in rows_of(config, table):
        if row.get("suppress-fib-pending") == "enabled" and row.get("synchronous_mode", "enable") != "enable":
            yield Violation(ViolationKind.MUST, table, key, "suppress-fib-pending", "needs synchronous_mode enable")


def _kind_of_switch(config: Config, table: str) -> Iterator[Violation]:
    """Rows and fields that only some switches may have (`when` on DEVICE_METADATA|localhost)."""
    schema = table_schema(table)
    for kind in [*schema.by_key_length.values(), *schema.by_name.values()] if schema else ():
        for field, (other, values) in kind.when.items():
            if "|" not in other or _value_at(config, other) in values:
                continue
            words = " or ".join(value or "missing" for value in values)
            rows = (
                rows_of(config, table, len(kind.keys)) if kind.keys else [(kind.name, row_of(config, table, kind.name))]
            )
            for key, row in rows:
                if not field or field in row:
                    yield Violation(
                        ViolationKind.MUST,
                        table,
                        key,
                        field,
                        f"{field or 'this row'} is only allowed where {other} is {words}",
                    )


@cache
def _kinds_read(table: str) -> tuple[str, ...]:
    """The TABLE|row|field of other tables that `_kind_of_switch` reads for a table."""
    schema = table_schema(table)
    kinds = [*schema.by_key_length.values(), *schema.by_name.values()] if schema else ()
    return tuple({other: None for kind in kinds for other, _ in kind.when.values() if "|" in other})


def _value_at(config: Config, path: str) -> str | None:
    table, key, field = path.split("|")
    value = row_of(config, table, key).get(field)
    return value if isinstance(value, str) else None


_MUSTS: Mapping[str, tuple[Must, ...]] = {
    "AAA": (_passkey,),
    "BGP_NEIGHBOR": (_asn,),
    "BGP_PEER_RANGE": (_name_is_key,),
    "BUFFER_POOL": (pool_percentage,),
    "BUFFER_QUEUE": (_kind_of_switch,),
    "CRM": (thresholds, _kind_of_switch),
    "DEVICE_METADATA": (_fib_pending,),
    "GNMI": (_management_vrf("vrf"),),
    "INTERFACE": (_base_row, _family),
    "LOOPBACK_INTERFACE": (_family,),
    "MGMT_INTERFACE": (_gateway,),
    "NTP": (_management_vrf("vrf"),),
    "PFC_WD": (watchdog_times,),
    "PORT": (_lanes, _advertised),
    "QUEUE": (_kind_of_switch,),
    "SCHEDULER": (rates,),
    "SFLOW_COLLECTOR": (_management_vrf("collector_vrf"),),
    "SYSLOG_SERVER": (_management_vrf("vrf"), _syslog_source),
    "TELEMETRY": (_management_vrf("vrf"),),
    "VLAN": (_vlan_number,),
    "VLAN_INTERFACE": (_base_row, _family),
    "VLAN_MEMBER": (_member_ports,),
    "WRED_PROFILE": (wred_order,),
}
CHECKED = frozenset(_MUSTS)
# The rules that read no other table, or of others only `_kinds_read`.
_OF_ONE_TABLE = frozenset({
    _advertised, _asn, _base_row, _family, _gateway, _kind_of_switch, _name_is_key, _vlan_number, rates, watchdog_times,
    wred_order,
})  # fmt: skip
