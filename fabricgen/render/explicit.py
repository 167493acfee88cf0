"""A plane as the two tables of an explicit design, as a start for edits by hand."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import PlaneDesign, Switch


def switches_csv(design: PlaneDesign, allocation: Allocation) -> str:
    """The text of switches.csv: role, name, pod, su, rail."""
    rows = (
        (switch.role, allocation.names[switch.key], identity.pod, identity.su, identity.rail)
        for switch in design.switches
        for identity in [switch.identity]
    )
    return _table(("role", "name", "pod", "su", "rail"), rows)


def links_csv(design: PlaneDesign, allocation: Allocation) -> str:
    """The text of links.csv: a, a_port, b, b_port; hosts as group/number."""
    rows = (
        (
            allocation.names[link.a.key] if isinstance(link.a, Switch) else link.a.key,
            link.a_port,
            allocation.names[link.b.key],
            link.b_port,
        )
        for link in design.links
    )
    return _table(("a", "a_port", "b", "b_port"), rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    return text.getvalue()
