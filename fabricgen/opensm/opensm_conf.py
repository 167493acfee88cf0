"""opensm.conf as OpenSM reads it: one `name value` per line; `#` starts a comment; the last line of a name counts.

OpenSM reads at most 1022 bytes at a time, so the rest of a longer line is another line, also that of a comment. Quotes
around a value are not part of it.

Source: opensm 3.3.23, osm_subn_parse_conf_file and clean_val in osm_subnet.c; tests/simulate/opensm/test_readers.py
compares every option with the real OpenSM.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricgen.c_numbers import c_number
from fabricgen.opensm.located_text import LocatedWord, pieces_of
from fabricgen.opensm.options import MAX_LINE_BYTES, NO_FALLBACK, NULL, OpensmEngine, option_facts

UNSET = ("", NULL)
_NAME = re.compile(r"[ \t]*([^ \t]+)")
_QUOTES = ('"', "'")
# Options that name a file OpenSM reads; others name what it writes.
READ_FILES = (
    "partition_config_file", "qos_policy_file", "torus_config", "prefix_routes_file", "root_guid_file",
    "cn_guid_file", "io_guid_file", "ids_guid_file", "guid_routing_order_file", "port_search_ordering_file",
    "port_prof_ignore_file", "hop_weights_file", "lfts_file", "lid_matrix_dump_file", "node_name_map_name",
    "per_module_logging_file",
)  # fmt: skip

READERS = {  # option -> engines that read its file
    "root_guid_file": ("updn", "dnup", "ftree"), "cn_guid_file": ("ftree", "dfsssp"),
    "io_guid_file": ("ftree", "dfsssp"), "torus_config": ("torus-2QoS",),
    "guid_routing_order_file": ("minhop", "updn", "dnup"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ConfLine:
    """One line. `value` is empty if the line has only a name."""

    name: LocatedWord
    value: LocatedWord


@dataclass(frozen=True)
class OptionFile:
    """All lines of one file, in order."""

    lines: tuple[ConfLine, ...]

    @cached_property
    def options(self) -> Mapping[str, ConfLine]:
        """Name -> the line that counts."""
        return {line.name.text: line for line in self.lines}

    def text(self, name: str) -> str:
        """The value of an option, else OpenSM's default; "" if unset."""
        found = self.options.get(name)
        text = found.value.text if found else option_facts()[name].default
        return "" if text in UNSET else text

    def is_true(self, name: str) -> bool:
        """Whether OpenSM reads the option as true: only the word TRUE is true."""
        return self.text(name) == "TRUE"

    def number(self, name: str) -> int:
        """The option as a number; the default if the value is not a number."""
        found = (c_number(text) for text in (self.text(name), option_facts()[name].default))
        return next((number for number in found if number is not None), 0)

    @property
    def engines(self) -> tuple[str, ...]:
        """The words of routing_engine in order, including no_fallback."""
        return tuple(self.text("routing_engine").replace(",", " ").split())

    def is_default(self, name: str) -> bool:
        """Whether the option has OpenSM's own value, as in a file that `opensm -c` writes."""
        return self.text(name) in (option_facts()[name].default, "")

    def reads(self, name: str) -> bool:
        """Whether OpenSM reads the file that an option names, with these engines and with or without qos."""
        engines = [word for word in self.engines if word != NO_FALLBACK] or [OpensmEngine.MINHOP]
        if name == "qos_policy_file":
            return self.is_true("qos")
        return name not in READERS or bool(set(READERS[name]) & set(engines))

    def needs(self, name: str, *, is_rendered: bool) -> bool:
        """Whether the subnet differs if the file that an option names is missing. OpenSM has the same behaviour without
        a file that its own defaults name; only who rendered the option meant the file to be there."""
        return self.reads(name) and (is_rendered or not self.is_default(name))

    @property
    def file_names(self) -> Mapping[str, str]:
        """Option -> the last part of the path in its value."""
        named = {name: line.value.text for name, line in self.options.items() if name in READ_FILES}
        return {name: path.rpartition("/")[2] for name, path in named.items() if path not in UNSET}


def read_options(text: str) -> OptionFile:
    """The lines of an opensm.conf."""
    found = []
    for line in _lines_as_read(text):
        if name := _NAME.match(line.text):
            end = name.end()
            found.append(ConfLine(line.part(name.start(1), end), _unquoted(line.part(end, len(line.text)))))
    return OptionFile(tuple(found))


def _lines_as_read(text: str) -> Iterator[LocatedWord]:
    """The pieces that OpenSM reads as lines, without comments and what follows a zero byte."""
    for piece in pieces_of(text, MAX_LINE_BYTES):
        yield LocatedWord(piece.text.partition("\0")[0].partition("#")[0], piece.line, piece.column)


def _unquoted(value: LocatedWord) -> LocatedWord:
    first, last = value.text[:1], value.text[-1:]
    if first not in _QUOTES or first != last:
        return value
    return LocatedWord(value.text[1:-1], value.line, value.column + 1)
