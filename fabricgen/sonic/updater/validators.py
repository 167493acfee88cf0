"""Whether the validators of the generic config updater accept an operation, by release and ASIC.

The updater compares the running configuration with the one that a patch leads to, and passes each operation of this
difference to the validator of its table. One refused operation refuses the patch.

Source: sonic-utilities, generic_config_updater/field_operation_validators.py and gu_common.py
(validate_field_operation), at the commits in tables.py.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..releases import MASTER
from .tables import ASICS, COMMITS, SCENARIOS, VALIDATORS

UNKNOWN = "unknown"  # an ASIC of which the updater has no HwSKU
RELEASES: tuple[int, ...] = tuple(COMMITS)

_BY_ASIC = "rdma_config_update_validator"
_OF_PROFILES = "buffer_profile_config_update_validator"
_OF_PORTS = "port_config_update_validator"
_GENERAL = "validate_field_operation"
_NEVER_REMOVED = {
    ("PFC_WD", "GLOBAL", "POLL_INTERVAL"),
    ("PFC_WD", "GLOBAL"),
    ("LOOPBACK_INTERFACE", "Loopback0"),
}
# What a port supports is in its STATE_DB. These are the values for a port that does not report any.
_FEC = ("rs", "fc", "none", "auto")


class _Scenario(NamedTuple):
    fields: tuple[str, ...]
    operations: tuple[str, ...]
    asics: tuple[str, ...]


@cache
def known_release(release: int) -> int:
    """The release whose tables apply: the release itself, otherwise the last one before it; the development branch for
    releases that are newer than all."""
    released = [known for known in RELEASES if known != MASTER]
    if release > released[-1]:
        return MASTER
    return max((known for known in released if known <= release), default=released[0])


@cache
def asic_of(hwsku: str, release: int) -> str:
    """The updater's name of the ASIC of a HwSKU, such as "th5"; UNKNOWN without one."""
    name, known = hwsku.lower(), known_release(release)
    if name.startswith("cisco-8"):  # the updater reads the vendor from the image and accepts all of these
        return "cisco-8000"
    for asic, releases, hwskus in ASICS:
        if known in _numbers(releases):
            whole = asic.startswith("spc")
            if any(one == name if whole else one in name for one in hwskus.lower().split()):
                return asic
    return UNKNOWN


@cache
def is_validated(table: str, release: int) -> bool:
    """Whether a table has a validator."""
    return table in _validators(known_release(release))


def refused_by(op: str, path: Sequence[str], value: object, release: int, asic: str) -> str:
    """The name of the validator that refuses an operation; "" if all accept it.

    `op` is that of the difference: add, remove, replace or move. `path` is a table, a table and the key of a row, or
    these and a field. `value` is the new value: rows, a row, or a field.
    """
    if op == "remove" and tuple(path) in _NEVER_REMOVED:
        return _GENERAL
    known = known_release(release)
    validator = _validators(known).get(path[0], "")
    if not validator:
        return ""
    if validator == _OF_PORTS:
        return "" if op == "remove" or _supports(path, value) else validator
    if validator == _OF_PROFILES and len(path) == 2:
        return "" if op in ("add", "remove", "replace") else validator
    scenarios = _scenarios(known).get(path[0], ())
    accepted = asic != UNKNOWN and all(
        _accepts(scenarios, field, op, asic, whole=validator == _BY_ASIC)
        for field in _fields(path[1:], value, without_ports=validator == _BY_ASIC)
    )
    return "" if accepted else validator


def _fields(steps: Sequence[str], value: object, *, without_ports: bool) -> list[str]:
    """The fields as the validator spells them. It leaves out keys with a digit, which it takes for ports."""
    spelled = "/".join(step for step in steps if not (without_ports and any(map(str.isdigit, step)))).lower()
    if isinstance(value, dict):
        return [f"{spelled}/{name}" if spelled else name for name in value]
    return [spelled]


def _accepts(scenarios: Sequence[_Scenario], field: str, op: str, asic: str, *, whole: bool) -> bool:
    name = field if whole else field.rpartition("/")[2]
    for scenario in scenarios:
        if name in scenario.fields:
            return op in scenario.operations and asic in scenario.asics
    return False


def _supports(path: Sequence[str], value: object) -> bool:
    row: Mapping[str, Any] = value if isinstance(value, dict) else {path[-1]: value}
    fec = row.get("fec")
    return fec is None or fec in _FEC


@cache
def _validators(release: int) -> Mapping[str, str]:
    return {table: validator for table, releases, validator in VALIDATORS if release in _numbers(releases)}


@cache
def _scenarios(release: int) -> Mapping[str, Sequence[_Scenario]]:
    found: dict[str, list[_Scenario]] = {}
    for table, releases, fields, operations, asics in SCENARIOS:
        if release in _numbers(releases):
            names = tuple("" if field == "row" else field for field in fields.split())
            found.setdefault(table, []).append(_Scenario(names, tuple(operations.split()), tuple(asics.split())))
    return found


@cache
def _numbers(releases: str) -> frozenset[int]:
    return frozenset(MASTER if word == "MASTER" else int(word) for word in releases.split())
