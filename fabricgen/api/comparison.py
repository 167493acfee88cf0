"""The comparison of two bundles, or of a bundle with a running fabric."""

from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.observed.running import form_of
from fabricgen.vocabulary import InputForm

if TYPE_CHECKING:
    from fabricgen.diff.cables import CableDifference
    from fabricgen.diff.difference import Difference
    from fabricgen.diff.rehearsal import Rehearsal
    from fabricgen.rollout.order import Rollout


def diff(old: Path, new: Path, *, form: InputForm | None = None) -> "Difference | CableDifference":
    """Compare `new` with `old`: rows of configuration, or the cabling if `new` is LLDP or ibnetdiscover output.

    `old` is a bundle, or config_db.json files. `form` is the form of `new`, by default recognized by its content.
    Rows that a switch makes by itself are not differences. Raises UnreadableInputError, and UsageError for inputs that
    cannot be compared.
    """
    new_form, old_form = form or form_of(new), form_of(old)
    if old_form.is_cabling:
        raise UsageError(f"{old} is neither a bundle nor a config_db.json: NEW is compared with OLD")
    if new_form.is_cabling:
        return _compare_cables(old, new, new_form)
    return _compare((old, old_form), (new, new_form))


def rehearse(old: Path, new: Path) -> "list[Rehearsal]":
    """The plan of each switch that changes from `old` to `new`, applied to a stand-in of the switch.

    Raises UnreadableInputError, and UsageError for inputs that cannot be compared or are cables.
    """
    from fabricgen.diff.cables import CableDifference
    from fabricgen.diff.rehearsal import rehearse as rehearsed

    found = diff(old, new)
    if isinstance(found, CableDifference):
        raise UsageError(f"{new} describes cables: NEW must be a bundle or config_db.json files")
    return [rehearsed(device, found) for device in found.changed]


def roll_out(difference: "Difference", *, safe: bool = False) -> "Rollout":
    """The order in which the switches change, and the fabric at each step in between.

    With `safe`, an order in which no step cuts off a host, loses a route, makes a cyclic buffer dependency or takes
    more of the uplinks than stated; `blocked` names the switches without a place in it. Raises UnreadableInputError.
    """
    from fabricgen.rollout.order import roll_out as rolled_out

    return rolled_out(difference, safe=safe)


def _compare(old: tuple[Path, InputForm], new: tuple[Path, InputForm]) -> "Difference":
    from fabricgen.diff.difference import compare
    from fabricgen.diff.sides import open_side

    sides = [open_side(*old), open_side(*new)]
    for side, other in ((0, 1), (1, 0)):  # a running file may have the name that the other side gives its device
        if sides[side].form == InputForm.RUNNING:
            sides[side] = open_side(*(old, new)[side], known=sides[other].files)
    return compare(*sides)


def _compare_cables(old: Path, new: Path, form: InputForm) -> "CableDifference":
    from fabricgen.bundle.read import open_bundle
    from fabricgen.diff.cables import compare_cables
    from fabricgen.diff.subnet_cables import compare_subnet_cables

    compare = compare_subnet_cables if form is InputForm.IBNETDISCOVER else compare_cables
    return compare(open_bundle([old]), new)
