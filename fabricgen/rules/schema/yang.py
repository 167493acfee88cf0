"""Findings of libyang with the user's YANG models, merged with the findings of the rules (`validate --yang`).

This check is not a rule, because it needs a folder of models and the `[yang]` extra. codes.yaml describes its codes.
"""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.codes import chosen
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.findings import Place as FindingPlace
from fabricgen.rules.defects import Defect, Place, grouped
from fabricgen.sonic.schema import Violation, check, table_names
from fabricgen.sonic.secrets import PLACEHOLDER, is_secret
from fabricgen.sonic.yang import Models
from fabricgen.sonic.yang import check as ask_libyang

_UNKNOWN_TABLE = "FG401"
_NO_MODEL = "FG498"
_REFUSED = "FG499"


def with_yang(
    findings: Sequence[Finding], bundle: Bundle, models: Models, select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> list[Finding]:
    """The findings with those of libyang, except where the built-in schema reports the same place, row or table.

    Drops FG401 for tables that have a model in `models`. `select` and `ignore` are prefixes of codes.
    """
    tables = {FindingPlace(table) for table in models.tables}
    kept = [one for one in findings if one.code != _UNKNOWN_TABLE or one.place not in tables]
    is_chosen = chosen(select, ignore)
    for device in bundle.devices.values():
        if is_chosen(_REFUSED):
            kept += [one.finding(_REFUSED, Severity.ERROR) for one in grouped(_refused(device, models))]
        if is_chosen(_NO_MODEL):
            kept += [one.finding(_NO_MODEL, Severity.NOTE) for one in _without_model(device, models)]
    return in_order(kept)


def _refused(device: ObservedDevice, models: Models) -> Iterator[Defect]:
    known = {(one.table, one.key, one.field) for one in check(device.config) if one.kind != "unknown-table"}
    for one in ask_libyang(models, device.config):
        if PLACEHOLDER in one.key or PLACEHOLDER in device.text_of(one.table, one.key, one.field):
            continue  # libyang judges the value of the secret, which is not in the file
        if known.isdisjoint(((one.table, one.key, one.field), (one.table, one.key, ""), (one.table, "", ""))):
            yield Defect(Place(device, one.table, one.key, one.field), _message(one), one.hint)


def _message(one: Violation) -> str:
    if is_secret(one.table, one.field):
        return "the YANG models reject the value; it may be a secret and is not shown"
    return one.message


def _without_model(device: ObservedDevice, models: Models) -> Iterator[Defect]:
    for table in device.config:
        if table in table_names() and table not in models.tables:
            yield Defect(Place(device, table), f"{models.folder} has no YANG model for this table")
