"""CONFIG_DB's schema: what SONiC's own YANG models refuse, found without a switch."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabricgen.bundle.read import ObservedDevice
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.derived import derived
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.shape import OLD_REFERENCE, with_current_references
from fabricgen.sonic.references import SINCE, old_references
from fabricgen.sonic.schema import Clean, Violation, check
from fabricgen.sonic.secrets import is_secret


def _check(device: ObservedDevice, clean: Clean) -> list[Violation]:
    """The violations of one file, old references read as bare names; such tables are not those that files share."""
    config = with_current_references(device)
    return check(config, clean if config is device.config else None)


@derived
def _violations(fabric: Fabric) -> Mapping[str, list[Violation]]:
    clean = Clean()
    return {name: _check(device, clean) for name, device in fabric.bundle.devices.items()}


def _of_kind(fabric: Fabric, *kinds: str) -> Iterator[Defect]:
    for name, violations in _violations(fabric).items():
        for one in violations:
            if one.kind in kinds:
                message = one.message
                if is_secret(one.table, one.field):
                    message = f"the value breaks the schema ({one.kind}); it may be a secret and is not shown"
                yield Defect(fabric.switches[name].place(one.table, one.key, one.field), message, one.hint)


@rule("FG401", Severity.NOTE, "A table is unknown to SONiC's YANG models", Basis.SCHEMA)
def unknown_table(fabric: Fabric) -> Iterator[Defect]:
    """What: a table has no YANG model in the SONiC release that fabricgen knows.

    Why: SONiC leaves such tables out of its validation. It may be newer, older, a vendor's own, or mistyped: nothing
    in it was checked.

    Example: WRED_PROFILES instead of WRED_PROFILE.

    Fix: correct the name if it is mistyped.

    Source: sonic-buildimage src/sonic-yang-models.
    """
    return _of_kind(fabric, "unknown-table")


@rule("FG402", Severity.ERROR, "A field is unknown", Basis.SCHEMA)
def unknown_field(fabric: Fabric) -> Iterator[Defect]:
    """What: a row has a field that its table does not have.

    Why: daemons ignore fields they do not know, so the setting has no effect; with YANG validation on, the whole
    file is refused.

    Example: PORT_QOS_MAP|Ethernet0 with pfc_watchdog_status. The watchdog's mask is pfcwd_sw_enable.

    Fix: correct or remove the field.

    Source: sonic-buildimage src/sonic-yang-models; SONiC pull request 950 (the field's name changed in review).
    """
    return _of_kind(fabric, "unknown-field")


@rule("FG403", Severity.ERROR, "A mandatory field is missing", Basis.SCHEMA)
def missing_field(fabric: Fabric) -> Iterator[Defect]:
    """What: a row lacks a field that its table cannot do without.

    Why: the daemon skips the row or retries it for ever.

    Example: PORT|Ethernet0 without lanes.

    Fix: add the field.

    Source: sonic-buildimage src/sonic-yang-models (mandatory true).
    """
    return _of_kind(fabric, "missing-field")


@rule("FG404", Severity.ERROR, "A row key has the wrong form", Basis.SCHEMA)
def wrong_key(fabric: Fabric) -> Iterator[Defect]:
    """What: a row key does not have the parts, or the values, that its table's keys have.

    Why: no daemon finds the row.

    Example: INTERFACE|Ethernet0|10.0.0.1 without a prefix length; BUFFER_PG|Ethernet0|9.

    Fix: correct the key.

    Source: sonic-buildimage src/sonic-yang-models (list keys).
    """
    return _of_kind(fabric, "wrong-key")


@rule("FG405", Severity.ERROR, "A value has the wrong type", Basis.SCHEMA)
def wrong_type(fabric: Fabric) -> Iterator[Defect]:
    """What: a value is no string, or no text of the kind that its field takes.

    Why: daemons parse text with C library calls that stop at the first odd character: a pool size of "14MB" becomes
    14 bytes without a word.

    A number that is right but for its quotes is a warning: SONiC writes it as its digits.

    Example: BUFFER_POOL size "14MB"; yang_config_validation as true; mtu as the JSON number 9100 (warning).

    Fix: write the value as a JSON string in the unit of the field.

    Source: sonic-buildimage src/sonic-yang-models; sonic-swss orchagent/bufferorch.cpp (stoul).
    """
    yield from _of_kind(fabric, "wrong-type")
    for defect in _of_kind(fabric, "not-text"):
        yield replace(defect, severity=Severity.WARNING)


@rule("FG406", Severity.ERROR, "A value is out of range", Basis.SCHEMA)
def out_of_range(fabric: Fabric) -> Iterator[Defect]:
    """What: a number lies outside the range of its field.

    Why: some daemons refuse it, others program what is left of it after a cast.

    Example: scheduler weight 300, mtu 99999, watchdog detection_time 10.

    Fix: choose a value inside the range.

    Source: sonic-buildimage src/sonic-yang-models (range); measured with sonic-swss: weight 300 is not programmed.
    """
    return _of_kind(fabric, "out-of-range")


@rule("FG407", Severity.ERROR, "A value is none of the allowed ones", Basis.SCHEMA)
def not_allowed(fabric: Fabric) -> Iterator[Defect]:
    """What: a text is not one of the field's words, or does not have its form.

    Why: the daemon refuses the row, or falls back to a default that nobody chose.

    Example: fec "rs544", pfc_enable "3;4", CABLE_LENGTH "40 m".

    Fix: use one of the allowed values.

    Source: sonic-buildimage src/sonic-yang-models (enum, pattern).
    """
    return _of_kind(fabric, "bad-enum", "bad-pattern")


@rule("FG408", Severity.ERROR, "A reference leads nowhere", Basis.SCHEMA)
def dangling_reference(fabric: Fabric) -> Iterator[Defect]:
    """What: a field or key names a row that does not exist.

    Why: orchagent waits for the row for ever, without an error. One such priority group was seen to stop all QoS of a
    switch.

    Example: QUEUE|Ethernet0|3 with scheduler "scheduler.9".

    Fix: name an existing row by its bare name, or add the row.

    Source: sonic-buildimage src/sonic-yang-models (leafref); sonic-swss orchagent/qosorch.cpp (need_retry).
    """
    return _of_kind(fabric, "dangling-reference")


@rule("FG409", Severity.ERROR, "Values contradict each other", Basis.SCHEMA)
def broken_must(fabric: Fabric) -> Iterator[Defect]:
    """What: a condition that the YANG models set between fields or rows does not hold.

    Why: the configuration is refused with validation on, and misbehaves without.

    Example: a WRED minimum above its maximum crashes orchagent; a watchdog that detects faster than it polls.

    Fix: change one of the values that the message names.

    Source: sonic-buildimage src/sonic-yang-models (must); sonic-utilities pull request 579.
    """
    return _of_kind(fabric, "must")


@rule("FG411", Severity.WARNING, "A reference is written in the old form", Basis.FORM)
def old_reference(fabric: Fabric) -> Iterator[Defect]:
    """What: no field refers to a row as [TABLE|name]. The other rules read such a reference as the bare name.

    Why: since 202111 the daemons look for a row that is called "[TABLE|name]", and YANG refuses it. The migration of an
    upgraded switch rewrites it; a file that is loaded afterwards, or rendered from an old template, is not migrated.

    Example: BUFFER_PG|Ethernet0|3-4 with profile "[BUFFER_PROFILE|pg_lossless_100000_5m_profile]".

    Fix: write the bare name, unless every switch runs a release before 202111.

    Source: sonic-swss pull request 1754; sonic-utilities pull request 1626, scripts/db_migrator.py.
    """
    for name, device in fabric.bundle.devices.items():
        for table, key, field, _ in old_references(device.config) if OLD_REFERENCE in device.text else ():
            message = f"{field} is a reference in the form [TABLE|name], which SONiC does not read since {SINCE}"
            yield Defect(fabric.switches[name].place(table, key, field), message, "write the bare name of the row")
