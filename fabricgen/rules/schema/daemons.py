"""Rules on rows that SONiC's YANG models accept, but its daemons refuse or resolve by chance."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import Switch, number
from fabricgen.same import Same
from fabricgen.sonic.releases import MASTER, release_name
from fabricgen.sonic.statements import ProgramStatement
from fabricgen.sonic.tables import Table, format_ranges, parse_priorities
from fabricgen.sonic.updater.unparsed import (
    GROUPED_LISTS,
    KEY_BARS,
    LISTS,
    PREFIX,
    VALIDATES_FILES,
    WITHOUT_SEQUENCE,
    unparsed,
)

# sonic-swss orchagent/qosorch.cpp: fields of a YANG model that the handler of the table does not know.
_UNKNOWN_TO_DAEMON: Mapping[str, tuple[str, ...]] = {"SCHEDULER": ("priority",)}
# The same file: read by stoi, which has 32 bits with a sign.
_STOI = tuple(f"{colour}_{end}_threshold" for colour in ("green", "yellow", "red") for end in ("min", "max"))
_READ_BY_STOI: Mapping[str, tuple[str, ...]] = {"WRED_PROFILE": _STOI}
_MOST = 2**31 - 1
_HASHES = ("ecmp_hash", "lag_hash")  # of SWITCH_HASH
_INDEXED = ("QUEUE", "BUFFER_PG", "BUFFER_QUEUE")
_INDEX = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", re.ASCII)
_INDEX_RANGE = re.compile(r"[^-]*-[^-]*")
_STOUL = re.compile(r"\s*[+]?[0-9]+", re.ASCII)  # what stoul reads
_CLASSES = frozenset("012345678")
EXCEPTIONS_ARE_CAUGHT = ProgramStatement(
    "orchagent catches what a handler throws, and tries the row again; before, it ends",
    "sonic-swss orchagent/orch.cpp Consumer",
    (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER),
    since=202605,
)


@rule("FG412", Severity.ERROR, "The daemon refuses a row that the YANG model accepts", Basis.SCHEMA)
def refused_rows(fabric: Fabric) -> Iterator[Defect]:
    """What: Rows have no field that orchagent does not know, no number that it cannot read, and no empty list:
    SCHEDULER has no priority, thresholds of WRED_PROFILE are below 2147483648 bytes, and each hash of SWITCH_HASH
    has a field.

    Why: YANG models allow these. orchagent refuses the whole row. Each queue that names a refused scheduler or WRED
    profile loses both, on all ports: lossless queues are neither scheduled nor marked. For a number that it cannot read
    orchagent of a release before 202605 ends, and no port works; later ones try the row again for ever.

    Example: SCHEDULER|scheduler.1 has priority 3; green_max_threshold is 4294967296; ecmp_hash is [].

    Fix: Remove the field, lower the number, or list the fields of the hash.

    Source: Measured with sonic-swss 6079a435 ("Unknown field:priority", "error=stoi") and with branch 202505, where
    orchagent ends; orchagent/qosorch.cpp, orchagent/switch/switch_helper.cpp (parseSwHashFieldList), orchagent/orch.cpp
    (Consumer::drain catches exceptions from 202605 on).
    """
    for switch in fabric.switches.values():
        for table, fields in _UNKNOWN_TO_DAEMON.items():
            for key, row in switch.device.table(table).items():
                for field in (field for field in fields if field in row):
                    message = f"orchagent does not know the field {field} and refuses the row"
                    yield Defect(switch.place(table, key, field), message, f"remove {field}")
        for table, fields in _READ_BY_STOI.items():
            for key, row in switch.device.table(table).items():
                for field in fields:
                    if (number(row.get(field)) or 0) > _MOST:
                        message = f"{field} is {row[field]}: orchagent reads at most {_MOST} and {_end(switch)}"
                        yield Defect(switch.place(table, key, field), message, f"set {field} to at most {_MOST}")
        for key, row in switch.device.table("SWITCH_HASH").items():
            for field in _HASHES:
                if field in row and not row[field]:
                    message = f"{field} is empty: orchagent refuses the row"
                    hint = f"list the fields of {field}, or remove {field}"
                    yield Defect(switch.place("SWITCH_HASH", key, field), message, hint)


def _end(switch: Switch) -> str:
    """What orchagent does with text that it cannot read as a number."""
    if (release := switch.device.known_release) is None:
        return "refuses the row; before release 202605 it exits, and no port works"
    return "refuses the row" if EXCEPTIONS_ARE_CAUGHT.holds(release) else "ends: no port works"


@rule("FG440", Severity.ERROR, "A key has an index that orchagent does not read", Basis.SCHEMA)
def unreadable_index(fabric: Fabric) -> Iterator[Defect]:
    """What: The last part of a key of QUEUE, BUFFER_PG and BUFFER_QUEUE is a number, or a range whose first number is
    below the second.

    Why: The YANG models accept any text for QUEUE, and reversed ranges for all three. orchagent reads the numbers with
    stoul. Text that does not begin with a number ends orchagent before 202605; text after a number is ignored, so that
    "3,4" is queue 3. A refused range of BUFFER_PG or BUFFER_QUEUE keeps the port from being ready, and then no port of
    the switch gets maps, PFC or a watchdog.

    Example: QUEUE|Ethernet0|three; BUFFER_PG|Ethernet0|4-3.

    Fix: Write a number such as 3, or a range such as 3-4.

    Source: sonic-swss orchagent/orch.cpp parseIndexRange, the same in 202305 to 202605; measured with branch 202505.
    """
    for switch, table, rows in _tables(fabric, _INDEXED, lambda rows: all(is_index(_index(key)) for key in rows)):
        for key in rows:
            if not is_index(index := _index(key)):
                message = _unread(index, table, switch)
                yield Defect(switch.place(table, key), message, "write 3, or a range such as 3-4")


def _tables(
    fabric: Fabric, names: Iterable[str], is_fine: Callable[[Table], bool]
) -> Iterator[tuple[Switch, str, Table]]:
    """The tables of switches that are not fine. Switches share equal tables, and each is looked at once."""
    fine: set[Same[object]] = set()
    for switch in fabric.switches.values():
        for name in names:
            rows = switch.device.table(name)
            if Same(rows) in fine:
                continue
            if is_fine(rows):
                fine.add(Same(rows))
            else:
                yield switch, name, rows


def _index(key: str) -> str:
    return key.rpartition("|")[2]


def is_index(text: str) -> bool:
    """Whether orchagent reads a number or a range, and all of its text."""
    found = _INDEX.fullmatch(text)
    return found is not None and (found[2] is None or int(found[1]) < int(found[2]))


def _unread(index: str, table: str, switch: Switch) -> str:
    is_buffer = table != "QUEUE"
    low, _, high = index.partition("-")
    if not _STOUL.match(low) or (_INDEX_RANGE.fullmatch(index) and not _STOUL.match(high)):
        return f"{index!r} is not a number: orchagent {_end(switch)}"
    if _INDEX.fullmatch(index) or "-" in index:
        lost = "no port of the switch gets maps, PFC or a watchdog" if is_buffer else "the row has no effect"
        return f"{index!r} is not a range of rising numbers: orchagent refuses the row, and {lost}"
    return f"{index!r} is not a number: orchagent reads its beginning, {int(_STOUL.match(low)[0])}"  # type: ignore[index]


@rule("FG441", Severity.ERROR, "A map has an entry for a class that does not exist", Basis.SCHEMA)
def unknown_class(fabric: Fabric) -> Iterator[Defect]:
    """What: The traffic classes of TC_TO_PRIORITY_GROUP_MAP are 0 to 8.

    Why: The YANG model accepts any text. orchagent reads the number and hands it to the chip, which has no such class.
    8 is the highest class that SONiC's own templates use: for tunnels between two ToR switches.

    Example: TC_TO_PRIORITY_GROUP_MAP|AZURE has 9: "0".

    Fix: Remove the entry, or correct the class.

    Source: sonic-swss orchagent/qosorch.cpp (TcToPgHandler), 202305 to 202605; measured with branch 202505;
    sonic-buildimage device/mellanox/x86_64-mlnx_msn4700-r0/Mellanox-SN4700-V64/qos.json.j2 (TC 8).
    """
    table = "TC_TO_PRIORITY_GROUP_MAP"
    for switch in fabric.switches.values():
        for key, row in switch.device.table(table).items():
            for tc in row:
                if tc not in _CLASSES:
                    message = f"{tc!r} is not a traffic class, 0 to 8"
                    yield Defect(switch.place(table, key, tc), message, "remove the entry, or correct the class")


@rule("FG442", Severity.ERROR, "A row of a priority group or queue names no profile", Basis.SCHEMA)
def without_profile(fabric: Fabric) -> Iterator[Defect]:
    """What: Each row of BUFFER_PG and BUFFER_QUEUE has a profile.

    Why: The YANG models do not require it. orchagent drops the row, so the port is never ready: it stays down, and no
    port of the switch gets maps, PFC or a watchdog.

    Example: BUFFER_PG|Ethernet0|0 has no field.

    Fix: Name the profile, or remove the row.

    Source: sonic-swss orchagent/bufferorch.cpp processPriorityGroup, processQueue (isPortReady), 202305 to 202605;
    measured with branch 202505 and both buffer models.
    """
    buffers = ("BUFFER_PG", "BUFFER_QUEUE")
    for switch, table, rows in _tables(fabric, buffers, lambda rows: all(row.get("profile") for row in rows.values())):
        for key, row in rows.items():
            if not row.get("profile"):
                message = "the row names no profile: the port stays down, and no port gets maps, PFC or a watchdog"
                yield Defect(switch.place(table, key, "profile"), message, "name the profile, or remove the row")


@rule("FG444", Severity.NOTE, "The release takes no patch of the switch", Basis.SCHEMA)
def unreadable_lists(fabric: Fabric) -> Iterator[Defect]:
    """What: The YANG library of the switch's release reads each field. The release is that of the running
    configuration, otherwise that of the bundle; without either the rule does not judge.

    Why: Before 202511 it does not read the leaf-lists of a grouping, such as route_map_in of a peer group, and its
    model of PREFIX wants a sequence number in the key, at which frrcfgd of the same release ends (FG697). The rows are
    right, and FRR gets them at boot, but `config apply-patch` refuses every patch of the switch, whatever it changes,
    and from 202505 on `config reload FILE` aborts. `diff` has the route `reload` for such a switch; the Ansible role
    loads the file through /dev/stdin, and ZTP with `config load` and a reboot, which do not validate it.

    Example: BGP_PEER_GROUP_AF|default|FABRIC|ipv4_unicast has route_map_in on release 202505 (`bgp: unnumbered`).

    Fix: Load the file as /etc/sonic/config_db.json with `config reload`, or upgrade the switch to 202511.

    Source: sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py, issues 22382 and 21525, pull request 21907; measured
    with the updater of 202505 ("All Keys are not parsed"); sonic-utilities config/main.py (reload).
    """
    for switch in fabric.switches.values():
        if (release := switch.device.known_release) is not None and GROUPED_LISTS.holds(release):
            tables = {table: switch.device.table(table) for table in (*LISTS, PREFIX)}
            for table, key, field in unparsed(tables, release):
                message = f"the YANG library of {release_name(release)} cannot read it: `config apply-patch` is refused"
                if VALIDATES_FILES.holds(release):
                    message += ", and so is `config reload FILE`"
                hint = "load /etc/sonic/config_db.json by `config reload` without FILE, or upgrade to 202511"
                yield Defect(switch.place(table, key, field), message, hint)


@rule("FG697", Severity.ERROR, "frrcfgd ends at a prefix with a sequence number", Basis.SCHEMA)
def numbered_prefixes(fabric: Fabric) -> Iterator[Defect]:
    """What: Before 202511 a key of PREFIX has three parts: the set, the prefix and the range of lengths. The release is
    that of the running configuration, otherwise that of the bundle; without either the rule does not judge.

    Why: frrcfgd of these releases takes a key with a sequence number apart wrongly and ends, so FRR gets none of its
    configuration. The YANG model of these releases wants the number: no key satisfies both, and FRR needs the daemon.

    Example: PREFIX|HOSTS-in|10|10.100.0.0/16|17..32 on release 202505.

    Fix: Remove the number from the key, or upgrade the switch to 202511, which reads both.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py and
    src/sonic-yang-models/yang-models/sonic-routing-policy-sets.yang at the branches 202305 to 202605.
    """
    for switch in fabric.switches.values():
        if (release := switch.device.known_release) is not None and WITHOUT_SEQUENCE.holds(release):
            for key in switch.device.table(PREFIX):
                if key.count("|") >= KEY_BARS:
                    message = f"frrcfgd of {release_name(release)} ends at a key with a sequence number"
                    hint = "remove the number from the key, or upgrade to 202511"
                    yield Defect(switch.place(PREFIX, key), message, hint)


@rule("FG413", Severity.ERROR, "Two rows configure the same priority group or queue", Basis.SCHEMA)
def overlapping_rows(fabric: Fabric) -> Iterator[Defect]:
    """What: Each priority group and queue of a port is in one row of BUFFER_PG, BUFFER_QUEUE and QUEUE.

    Why: With different rows the order in which the daemon reads them decides, and it differs from port to port: a
    lossless group becomes lossy on some ports. buffermgrd of the dynamic model also counts the headroom of each row,
    so that two equal lossless rows take memory from the pool. Other equal rows are a warning: they have no effect.

    Example: BUFFER_PG has Ethernet0|3 with ingress_lossy_profile and Ethernet0|3-4 with NULL.

    Fix: Keep one row for each group and queue.

    Source: Measured with sonic-swss 6079a435; cfgmgr/buffermgrdyn.cpp, orchagent/bufferorch.cpp.
    """
    for ports in port_classes(fabric):
        for table, what in (("BUFFER_PG", "priority group"), ("BUFFER_QUEUE", "queue"), ("QUEUE", "queue")):
            rows = ports.rows[table]
            covered = {rest: parse_priorities(rest) for rest in rows}
            for one, other in combinations(rows, 2):
                shared = covered[one] & covered[other]
                if not shared:
                    continue
                narrow, wide = (one, other) if len(covered[one]) < len(covered[other]) else (other, one)
                is_equal = rows[one] == rows[other]
                message = f"{what} {','.join(format_ranges(shared))} is also in the row {wide}"
                message += ", which is equal" if is_equal else ", which differs"
                severity = Severity.WARNING if is_equal and not _counted_twice(ports, table, narrow) else None
                yield from ports.defects(table, narrow, "", message, "keep one of the two rows", (), severity)


def _counted_twice(ports: PortClass, table: str, rest: str) -> bool:
    """Whether buffermgrd reserves the headroom of a group for each of its rows."""
    profile = str(ports.rows[table][rest].get("profile"))
    return table == "BUFFER_PG" and ports.qos.is_dynamic and ports.qos.is_lossless_pg_profile(profile)
