"""Names of QoS definitions that mean the same: rules that compare peers compare what a row contains, not its name."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from fabricgen.engine.derived import derived
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Network, Switch
from fabricgen.same import Same
from fabricgen.sonic.port_qos import MAP_TABLES, PortRows
from fabricgen.sonic.tables import Row, Table

_FIELDS: Mapping[str, str] = {**MAP_TABLES, "scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"}
NAMED_TABLES = frozenset(_FIELDS.values())
_LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")  # their order has no effect
_Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UsualNames:
    """The names of one switch that differ from the usual ones of its network, by table.

    `of_rows`: name of a row that most switches do not have -> the usual name of an equal row. `of_references` has
    these, and the usual names whose rows are equal -> the first of them.
    """

    of_rows: Mapping[str, _Names] = field(default_factory=dict)
    of_references: Mapping[str, _Names] = field(default_factory=dict)

    def table(self, name: str, rows: Table) -> Table:
        """The rows of a table by their usual names."""
        names = self.of_rows.get(name)
        if not names:
            return rows
        own = {key: row for key, row in rows.items() if key not in names}
        return {**{names[key]: row for key, row in rows.items() if key in names}, **own}

    def row(self, row: Row) -> Row:
        """A row of PORT_QOS_MAP or QUEUE whose references have their usual names."""
        changed = {
            name: other
            for name, table in _FIELDS.items()
            if isinstance(text := row.get(name), str) and (other := self.of_references.get(table, {}).get(text))
        }
        return {**row, **changed} if changed else row

    def rows(self, rows: PortRows) -> PortRows:
        """The rows of a port whose references have their usual names, and whose lists of profiles are sorted."""
        tables = ("PORT_QOS_MAP", "QUEUE") if self.of_references else ()
        changed = {name: {key: self.row(row) for key, row in rows[name].items()} for name in tables}
        lists = {name: {key: _sorted(row) for key, row in rows[name].items()} for name in _LISTS if rows[name]}
        return {**rows, **changed, **lists}


def _sorted(row: Row) -> Row:
    text = row.get("profile_list")
    return {**row, "profile_list": ",".join(sorted(text.split(",")))} if isinstance(text, str) else row


_NOTHING = UsualNames()


@derived
def usual_names(fabric: Fabric) -> Mapping[str, UsualNames]:
    """Switch -> its unusual names."""
    networks: dict[Network, list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        networks[switch.network].append(switch)
    found: dict[str, UsualNames] = {}
    for switches in networks.values():
        by_table = {table: _of_table([one.device.table(table) for one in switches]) for table in NAMED_TABLES}
        for index, switch in enumerate(switches):
            mine = {table: names[index] for table, names in by_table.items() if names[index] != _SAME}
            if mine:
                of_rows = {table: names[0] for table, names in mine.items()}
                found[switch.name] = UsualNames(of_rows, {table: names[1] for table, names in mine.items()})
    return {name: found.get(name, _NOTHING) for name in fabric.switches}


_SAME: tuple[_Names, _Names] = ({}, {})


def _of_table(tables: Sequence[Table]) -> list[tuple[_Names, _Names]]:
    """For each switch the names of rows, and those of references, that differ from the usual ones."""
    contents: dict[Same[Table], Mapping[str, bytes]] = {}
    for one in map(Same, tables):
        if one not in contents:
            rows = one.of
            contents[one] = {key: orjson.dumps(row, option=orjson.OPT_SORT_KEYS) for key, row in rows.items()}
    seen = Counter(map(Same, tables))
    votes: dict[str, Counter[bytes]] = defaultdict(Counter)
    for one, count in seen.items():
        for key, content in contents[one].items():
            votes[key][content] += count
    least = len(tables) / 2
    usual = {key: each.most_common(1)[0][0] for key, each in sorted(votes.items()) if each.total() > least}
    if not usual and tables:
        usual = dict(contents[Same(tables[0])])
    alike: dict[bytes, list[str]] = defaultdict(list)
    for key, content in usual.items():
        alike[content].append(key)
    twins = {key: alike[content][0] for key, content in usual.items() if alike[content][0] != key}
    names: dict[Same[Table], tuple[_Names, _Names]] = {}
    for one, own in contents.items():
        foreign = {}
        free = {key for key in usual if key not in own}
        for key, content in own.items():
            if key not in usual and content in alike:
                foreign[key] = next((name for name in alike[content] if name in free), alike[content][0])
                free.discard(foreign[key])
        references = {**twins, **{key: twins.get(name, name) for key, name in foreign.items()}}
        names[one] = foreign, references
    return [names[Same(table)] for table in tables]
