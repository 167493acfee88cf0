"""Types of CONFIG_DB in memory, and the grammar of its keys."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

Field = str | list[str]
Row = Mapping[str, Field]
Table = Mapping[str, Row]
ConfigDb = Mapping[str, Table]


def split_key(key: str) -> list[str]:
    """['Ethernet0', '3-4'] for 'Ethernet0|3-4'."""
    return key.split("|")


def channel_of(members: Iterable[str]) -> dict[str, str]:
    """Port -> its port channel, from the keys of PORTCHANNEL_MEMBER. Keys without a port, or with more, are left
    out."""
    return {key[1]: key[0] for key in map(split_key, members) if len(key) == 2}


def vlans_of(members: Table) -> dict[str, dict[str, str]]:
    """Port or port channel -> VLAN -> tagging_mode, from the rows of VLAN_MEMBER. Keys without a member, or with more,
    are left out."""
    found: dict[str, dict[str, str]] = {}
    for key, row in members.items():
        if len(parts := split_key(key)) == 2:
            found.setdefault(parts[1], {})[parts[0]] = str(row.get("tagging_mode", ""))
    return found


_MOST_DIGITS = 3  # more than the number of any queue: the length of a range is limited


@lru_cache(maxsize=1 << 12)
def parse_priorities(text: str) -> frozenset[int]:
    """{3, 4} for '3,4' or '3-4'. Other items are ignored; the schema check reports them."""
    found: set[int] = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        if all(text.isdecimal() and len(text) <= _MOST_DIGITS for text in (low, high or low)):
            found.update(range(int(low), int(high or low) + 1))
    return frozenset(found)


def format_ranges(numbers: frozenset[int] | set[int]) -> list[str]:
    """['3-4', '6'] for {3, 4, 6}: the row keys that buffermgrd writes for PGs and queues."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def first_non_row(config: ConfigDb) -> tuple[str, ...] | None:
    """The table, or the table and key, of the first value that is not a row of fields; None if all are."""
    for table, rows in config.items():
        if not isinstance(rows, dict):
            return (table,)
        if {*map(type, rows.values())} - {dict}:
            return table, next(key for key, row in rows.items() if type(row) is not dict)
    return None


def loadable_rows(rows: object) -> dict[str, dict[str, Any]]:
    """The rows and fields of a table that SONiC loads: mappings of texts or lists of texts."""
    return {
        key: dict(row)
        if {*map(type, row.values())} == {str}
        else {name: value for name, value in row.items() if is_text(value)}
        for key, row in (rows.items() if isinstance(rows, Mapping) else ())
        if isinstance(row, Mapping)
    }


def is_text(value: object) -> bool:
    """Whether the value of a field is text or a list of texts, the only values that SONiC loads."""
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def stored(value: object) -> object:
    """A value as CONFIG_DB stores it: as text, so that the number 65000 and the text "65000" are equal.

    Source: sonic-swss-common, ConfigDBConnector.typed_to_raw: str() of all but lists.
    """
    return [*map(str, value)] if isinstance(value, list) else str(value)


def vlan_name(number: int) -> str:
    """A VLAN as SONiC names it."""
    return f"Vlan{number}"
