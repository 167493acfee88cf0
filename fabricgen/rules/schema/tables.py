"""Rules on the schema of CONFIG_DB, from SONiC's YANG models."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from fabricgen.bundle.read import ObservedDevice
from fabricgen.engine.derived import derived, kept
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.shape import with_current_references
from fabricgen.rules.view.switch import ADDRESS_TABLES, Switch
from fabricgen.sonic.copp import IMAGE_ROWS
from fabricgen.sonic.port_qos import DEFINITION_TABLES
from fabricgen.sonic.references import SINCE, old_references
from fabricgen.sonic.release_models import tables_that_differ, unknown_paths, when
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.schema import Clean, Violation, check
from fabricgen.sonic.secrets import is_secret


def _check(device: ObservedDevice, clean: Clean) -> list[Violation]:
    """The violations of one file, after old references are replaced by bare names.

    `clean` holds tables that files share, so a file with replaced references does not use it.
    """
    config = with_current_references(device)
    return check(config, clean if config is device.config else None, device.known_release)


# Tables whose daemon applies a row to each port that its key lists (sonic-swss orchagent/qosorch.cpp, bufferorch.cpp).
_LISTS_PORTS = frozenset({"PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE"})


@derived
def _violations(fabric: Fabric) -> Mapping[str, list[Violation]]:
    clean = Clean()
    return {
        name: kept(partial(_check, device, clean), _check, name, of=name)
        for name, device in fabric.bundle.devices.items()
    }


def _of_kind(fabric: Fabric, *kinds: str) -> Iterator[Defect]:
    for name, violations in _violations(fabric).items():
        for one in violations:
            if one.kind in kinds:
                message = one.message
                if is_secret(one.table, one.field):
                    message = f"the value violates the schema ({one.kind}); it may be a secret and is not shown"
                yield Defect(fabric.switches[name].place(one.table, one.key, one.field), message, one.hint)


# sonic-utilities config/main.py, config_file_yang_validation; 202411 calls it for files named "golden" only.
_VALIDATED_SINCE = 202505
_NAME_OF_KEY = "name of the key: "  # how the schema begins what it says about the leaf `name`
_WITHOUT_CIR = "pir needs cir above 0"
# Designs that are merged in sonic-net/SONiC (doc/ARS, doc/llr), whose daemons and models are not: the start of their
# tables.
_PLANNED = {"ARS_": "adaptive routing", "LLR_": "link layer retry"}
_WITHOUT_MODEL = frozenset({"bgpraw"})  # the same function passes over it


@rule("FG401", Severity.ERROR, "A table has no YANG model in SONiC", Basis.SCHEMA)
def unknown_table(fabric: Fabric) -> Iterator[Defect]:
    """What: Each table has a YANG model in the SONiC releases that fabricgen knows.

    Why: From release 202505 on `config reload FILE` stops at a table without a model, and loads nothing. Older releases
    do not validate it, so there it is a note. If neither the file nor its bundle names the release, it is a warning.
    The table may be from a vendor, or mistyped. Its rows are not checked.

    Example: WRED_PROFILES instead of WRED_PROFILE.

    Fix: Correct the name of the table if it is mistyped; else remove the table, or install its model on the switches.

    Source: sonic-buildimage src/sonic-yang-models; sonic-utilities config/main.py (config_file_yang_validation) of
    202411, 202505, 202511 and 202605.
    """
    for defect in _of_kind(fabric, "unknown-table"):
        assert isinstance(defect.place, Place)
        if defect.place.table in _WITHOUT_MODEL:
            continue
        feature = next((name for start, name in _PLANNED.items() if defect.place.table.startswith(start)), "")
        if feature:
            defect = replace(defect, hint=f"remove the table: no release of SONiC has {feature}")
        yield _stops_reload(fabric, defect, "remove the table, or install its YANG model on the switches")


@rule("FG443", Severity.ERROR, "The release does not have a table, row or field", Basis.SCHEMA)
def unknown_to_release(fabric: Fabric) -> Iterator[Defect]:
    """What: The YANG models of the switch's release have each table, row and field. The release is that of the running
    configuration, otherwise that of the bundle; without either the rule does not judge.

    Why: From release 202505 on `config reload FILE` validates the file and loads nothing of it. Daemons refuse rows
    with fields that they do not know: a row of PFC_WD with pfc_stat_history leaves the port without watchdog before
    202511. Before 202505 it is a warning.

    Example: PFC_WD|Ethernet0 has pfc_stat_history on release 202505.

    Fix: Remove it, or upgrade the switch first.

    Source: sonic-buildimage src/sonic-yang-models of each release; sonic-utilities config/main.py
    (config_file_yang_validation); sonic-swss orchagent/pfcwdorch.cpp createEntry, measured with branch 202505.
    """
    for switch in fabric.switches.values():
        if (release := switch.device.known_release) is None:
            continue
        tables = {name: rows for name in sorted(tables_that_differ(release)) if (rows := switch.device.table(name))}
        for table, key, field, having in unknown_paths(tables, release):
            message = f"the YANG models of {release_name(release)} do not have it; it exists {when(having, release)}"
            hint = "remove it, or upgrade the switch first" if max(having) > release else "remove it"
            severity = None if release >= _VALIDATED_SINCE else Severity.WARNING
            yield Defect(switch.place(table, key, field), message, hint, severity=severity)


@rule("FG402", Severity.ERROR, "A field is unknown", Basis.SCHEMA)
def unknown_field(fabric: Fabric) -> Iterator[Defect]:
    """What: Each field of a row is defined in the YANG model of its table.

    Why: Daemons ignore unknown fields, and the setting has no effect: a warning where the release is known to be before
    202505. From 202505 on `config reload FILE` validates the file and loads nothing of it.

    Example: PORT_QOS_MAP|Ethernet0 has pfc_watchdog_status, but the mask of the watchdog is pfcwd_sw_enable.

    Fix: Correct or remove the field.

    Source: sonic-buildimage src/sonic-yang-models; SONiC pull request 950 (the field's name changed in review).
    """
    for defect in _of_kind(fabric, "unknown-field"):
        yield _with_end(fabric, defect, Severity.WARNING)


def _with_end(fabric: Fabric, defect: Defect, before: Severity | None = None) -> Defect:
    """A defect that ends `config reload`, which its message says; `before` is the severity where the release is known
    not to validate files."""
    assert isinstance(defect.place, Place)
    release = fabric.switches[defect.place.device.name].device.known_release
    if release is not None and release < _VALIDATED_SINCE:
        return replace(defect, severity=before)
    return replace(defect, message=f"{defect.message}: {_ends(release)} `config reload FILE`")


def _ends(release: int | None) -> str:
    return "the switch stops" if release else f"release {_VALIDATED_SINCE} and later stop"


def _stops_reload(fabric: Fabric, defect: Defect, hint: str) -> Defect:
    """A defect that only SONiC's validation refuses: a note where `config reload` does not validate files."""
    assert isinstance(defect.place, Place)
    release = fabric.switches[defect.place.device.name].device.known_release
    if release is not None and release < _VALIDATED_SINCE:
        return replace(defect, severity=Severity.NOTE)
    message = f"{defect.message}: {_ends(release)} `config reload FILE`"
    severity = None if release else Severity.WARNING
    return replace(defect, message=message, hint=defect.hint or hint, severity=severity)


def _taken_by(fabric: Fabric, defect: Defect, daemon: str) -> Defect:
    """A defect in what a daemon takes and the models refuse: a note where `config reload` does not validate files."""
    assert isinstance(defect.place, Place)
    release = fabric.switches[defect.place.device.name].device.known_release
    if release is not None and release < _VALIDATED_SINCE:
        return replace(defect, severity=Severity.NOTE, message=f"{defect.message}; {daemon} takes the row")
    message = f"{defect.message}: {daemon} takes the row, but {_ends(release)} `config reload FILE`"
    return replace(defect, severity=Severity.WARNING, message=message)


@rule("FG403", Severity.ERROR, "A mandatory field is missing", Basis.SCHEMA)
def missing_field(fabric: Fabric) -> Iterator[Defect]:
    """What: Each row has all mandatory fields of its table.

    Why: The daemon skips the row or retries it for ever. A row of COPP_GROUP or COPP_TRAP that the image has, too, is a
    warning, and a note before release 202505: coppmgrd takes missing fields from the image's own file, and only
    `config reload FILE` validates.

    Example: PORT|Ethernet0 has no lanes.

    Fix: Add the field.

    Source: sonic-buildimage src/sonic-yang-models (mandatory true); sonic-swss cfgmgr/coppmgr.cpp (mergeConfig).
    """
    for defect in _of_kind(fabric, "missing-field"):
        place = defect.place
        is_merged = isinstance(place, Place) and place.key in IMAGE_ROWS.get(place.table, ())
        yield _taken_by(fabric, defect, "coppmgrd") if is_merged else defect


@rule("FG404", Severity.ERROR, "A row key has the wrong form", Basis.SCHEMA)
def wrong_key(fabric: Fabric) -> Iterator[Defect]:
    """What: Each row key has the form and the values that the YANG model of its table defines.

    Why: No daemon reads a row with another key. The name of a map, scheduler or profile is a warning, and a note before
    release 202505: orchagent takes any name, and only `config reload FILE` validates.

    Example: INTERFACE|Ethernet0|10.0.0.1 has no prefix length; BUFFER_PG|Ethernet0|9.

    Fix: Correct the key.

    Source: sonic-buildimage src/sonic-yang-models (list keys); sonic-swss orchagent/qosorch.cpp, bufferorch.cpp.
    """
    for defect in _of_kind(fabric, "wrong-key"):
        is_name = isinstance(defect.place, Place) and defect.place.table in DEFINITION_TABLES
        is_name = is_name and defect.message.startswith(_NAME_OF_KEY)
        yield _taken_by(fabric, defect, "orchagent") if is_name else defect


@rule("FG405", Severity.ERROR, "A value has the wrong type", Basis.SCHEMA)
def wrong_type(fabric: Fabric) -> Iterator[Defect]:
    """What: Each value is a JSON string of the type that its field has.

    Why: Daemons parse text with C library calls that stop at the first unexpected character: a pool size of "14MB"
    silently becomes 14 bytes. Text that does not begin with a number ends orchagent before release 202605, and no port
    works; later releases try the row again for ever.

    A valid number without quotes is a warning, because SONiC converts it to a string.

    Example: BUFFER_POOL size is "14MB"; yang_config_validation is the JSON value true; mtu is the JSON number 9100
    (warning).

    Fix: Write the value as a JSON string in the unit of the field.

    Source: sonic-buildimage src/sonic-yang-models; sonic-swss orchagent/bufferorch.cpp (stoul), orchagent/orch.cpp
    (Consumer catches exceptions from 202605 on); measured with branch 202505 ("one", "heavy", "three", "").
    """
    yield from _of_kind(fabric, "wrong-type")
    for defect in _of_kind(fabric, "not-text"):
        yield replace(defect, severity=Severity.WARNING)


@rule("FG406", Severity.ERROR, "A value is out of range", Basis.SCHEMA)
def out_of_range(fabric: Fabric) -> Iterator[Defect]:
    """What: Each number is inside the range of its field.

    Why: Some daemons reject the value. Others truncate it and program a different one.

    Example: scheduler weight 300, mtu 99999, watchdog detection_time 10.

    Fix: Use a value inside the range.

    Source: sonic-buildimage src/sonic-yang-models (range); measured with sonic-swss: weight 300 is not programmed.
    """
    return _of_kind(fabric, "out-of-range")


@rule("FG407", Severity.ERROR, "A value is not allowed", Basis.SCHEMA)
def not_allowed(fabric: Fabric) -> Iterator[Defect]:
    """What: Each text is one of the allowed words of its field, or has the required form.

    Why: The daemon rejects the row, or silently uses a default. From release 202505 on `config reload FILE` validates
    the file and loads nothing of it.

    Example: fec "rs544", pfc_enable "3;4", CABLE_LENGTH "40 m".

    Fix: Use one of the allowed values.

    Source: sonic-buildimage src/sonic-yang-models (enum, pattern).
    """
    return (_with_end(fabric, defect) for defect in _of_kind(fabric, "bad-enum", "bad-pattern"))


@rule("FG408", Severity.ERROR, "A reference names a row that does not exist", Basis.SCHEMA)
def dangling_reference(fabric: Fabric) -> Iterator[Defect]:
    """What: Each row that a field or a key refers to exists.

    Why: orchagent waits for the row for ever and logs no error. One such priority group can stop all QoS of a switch.
    From release 202505 on `config reload FILE` validates the file and loads nothing of it.

    The daemons apply a row of PORT_QOS_MAP, QUEUE, BUFFER_PG or BUFFER_QUEUE to each port that its key lists, but the
    YANG models know only keys of one port. If the release is known to be before 202505, such a key is a warning. A
    loopback in INTERFACE is a warning, and a note before 202505: intfmgrd makes it from either table.

    Before 202505, two kinds are milder: a note if no daemon follows the reference (MGMT_PORT, ROUTE_MAP_SET), and a
    warning for a loopback without its base row in a file without VERSIONS, to which db_migrator adds the row.

    Example: QUEUE|Ethernet0|3 has scheduler "scheduler.9", which does not exist.

    Fix: Write the bare name of an existing row, or add the row. Split a list of ports into one row for each port.

    Source: sonic-buildimage src/sonic-yang-models (leafref); sonic-swss orchagent/qosorch.cpp (need_retry),
    cfgmgr/intfmgr.cpp (doIntfGeneralTask); measured with sonic-swss 6079a435 (a key with two ports makes no
    difference); sonic-utilities scripts/db_migrator.py (migrate_interface_table); sonic-buildimage
    files/image_config/interfaces/interfaces.j2, src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py.
    """
    for defect in _of_kind(fabric, "dangling-reference"):
        if isinstance(defect.place, Place) and _lists_ports(fabric.switches[defect.place.device.name], defect.place):
            release = fabric.switches[defect.place.device.name].device.known_release
            is_validated = release is None or release >= _VALIDATED_SINCE
            ends = f", and from {release_name(_VALIDATED_SINCE)} on `config reload FILE` loads nothing" * is_validated
            yield replace(
                defect,
                severity=None if is_validated else Severity.WARNING,
                message=f"the key lists several ports: the daemons accept it, SONiC's YANG models do not{ends}",
                hint="write one row for each port",
            )
        elif isinstance(defect.place, Place) and _is_loopback_of_interface(defect.place):
            yield replace(_taken_by(fabric, defect, "intfmgrd"), hint="move the row to LOOPBACK_INTERFACE")
        else:
            yield _with_end(fabric, defect, _before_validation(fabric, defect))


def _before_validation(fabric: Fabric, defect: Defect) -> Severity | None:
    """The severity of a reference, or of a missing base row, on a switch that does not validate files."""
    place = defect.place
    assert isinstance(place, Place)
    device = fabric.switches[place.device.name].device
    if place.table in ADDRESS_TABLES and not place.field and not device.table("VERSIONS"):
        return Severity.WARNING  # db_migrator adds the base row
    maps = {key.partition("|")[0] for key in device.table("ROUTE_MAP")}
    named = device.row(place.table, place.key).get(place.field) if place.field else None
    is_map = named is not None and maps.issuperset(named if isinstance(named, list) else [named])
    return Severity.NOTE if place.table == "MGMT_INTERFACE" or is_map else None


def _is_loopback_of_interface(place: Place) -> bool:
    """Whether a row of INTERFACE is about a loopback."""
    return place.table == "INTERFACE" and place.key.startswith("Loopback") and not place.field


def _lists_ports(switch: Switch, place: Place) -> bool:
    """Whether a key lists ports, all of them in PORT, in a table whose daemon accepts a list."""
    ports = place.key.partition("|")[0].split(",")
    known = switch.device.table("PORT")
    return not place.field and place.table in _LISTS_PORTS and len(ports) > 1 and all(port in known for port in ports)


@rule("FG409", Severity.ERROR, "Values contradict each other", Basis.SCHEMA)
def broken_must(fabric: Fabric) -> Iterator[Defect]:
    """What: The conditions between fields or rows in the YANG models hold.

    Why: SONiC rejects the configuration with YANG validation, and fails at run time without it. A scheduler with pir
    and without cir is a warning, and a note before release 202505: orchagent limits by pir alone. A condition that the
    message shows as XPath is a note before release 202505, whose `config reload FILE` does not validate. A missing base
    row of an interface is a warning there if the file has no VERSIONS, because db_migrator adds it.

    Example: A WRED minimum above its maximum, which crashes orchagent; a watchdog detection time below its poll
    interval.

    Fix: Change one of the values in the message.

    Source: sonic-buildimage src/sonic-yang-models (must); sonic-utilities pull request 579.
    """
    for defect in _of_kind(fabric, "must"):
        is_limit = isinstance(defect.place, Place) and defect.place.table == "SCHEDULER"
        is_limit = is_limit and defect.message == _WITHOUT_CIR
        if defect.message.startswith("breaks the `"):  # a condition as XPath, whose effect at run time is not known
            yield _stops_reload(fabric, defect, "change one of the values in the condition, or remove the row")
        elif isinstance(defect.place, Place) and defect.place.table in ADDRESS_TABLES:
            yield _with_end(fabric, defect, _before_validation(fabric, defect))
        else:
            yield _taken_by(fabric, defect, "orchagent") if is_limit else defect


@rule("FG411", Severity.ERROR, "A reference is written in the old form", Basis.FORM)
def old_reference(fabric: Fabric) -> Iterator[Defect]:
    """What: References to rows do not have the form [TABLE|name]. The other rules read such a reference as the bare
    name.

    Why: Since 202111 the daemons refuse such a row, and YANG rejects it. One priority group or profile in this form
    keeps all ports down: orchagent retries "malformed reference" without end. In PORT_QOS_MAP or QUEUE the port or the
    queue has no maps, PFC, scheduler and WRED. The database migration of an upgraded switch rewrites references, but
    not in files that are loaded later.

    Example: BUFFER_PG|Ethernet0|3-4 has profile "[BUFFER_PROFILE|pg_lossless_100000_5m_profile]".

    Fix: Write the bare name. If every switch runs a release before 202111, suppress the finding with this reason.

    Source: Measured with sonic-swss 6079a435; sonic-swss pull request 1754; sonic-utilities pull request 1626,
    scripts/db_migrator.py.
    """
    for name, device in fabric.bundle.devices.items():
        for table, key, field, _ in old_references(device.config) if device.signs.old_references else ():
            message = f"{field} has the form [TABLE|name], which SONiC does not accept since {SINCE}"
            yield Defect(fabric.switches[name].place(table, key, field), message, "write the bare name of the row")
