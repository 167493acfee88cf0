"""Platform and host entries: YAML to the model. A file that does not fit is refused with the place inside it."""

import enum
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import YAML_BYTES, read_text
from fabricgen.platforms.breakout import PORT_NAME, split
from fabricgen.platforms.model import Cage, HeadroomRow, HostModel, HostNic, NicModel, PlatformPort, SwitchPlatform
from fabricgen.vocabulary import Technology

PORT_COLUMNS = ("name", "lanes", "alias", "index", "subport", "parent")
CAGE_COLUMNS = ("parent", "index", "lanes")  # then the aliases of each mode
HEADROOM_COLUMNS = tuple(field.name for field in fields(HeadroomRow))
_SHARED_COLUMNS = {"kind": str, "speed_mbps": int, "fec": str, "breakout_mode": str}
_NIC_COLUMNS = tuple(field.name for field in fields(HostNic))
_NIC_COLUMNS_NEEDED = sum(field.default is MISSING for field in fields(HostNic))
_TECHNOLOGIES = (Technology.ETHERNET, Technology.INFINIBAND, Technology.ANY)
_SONIC_KEYS = ("onie_platform", "buffer_model")
_MOST = 2**53  # the largest whole number that all readers of JSON keep
_WORDS = {str: "text", int: "a whole number", dict: "a mapping", list: "a list"}


class _MisfitError(Exception):
    """The value at a place inside the entry is not what the model holds there."""


def load_switch_platform(file: Path) -> SwitchPlatform:
    """One switch model from its file. Raises UnreadableInputError, with the place, for a file of another shape."""
    return typing.cast(SwitchPlatform, _load(SwitchPlatform, file, _switch))


def load_host_model(file: Path) -> HostModel:
    """One host model from its file. Raises UnreadableInputError, with the place, for a file of another shape."""
    return typing.cast(HostModel, _load(HostModel, file, _host))


def load_nic_model(file: Path) -> NicModel:
    """One NIC model from its file. Raises UnreadableInputError, with the place, for a file of another shape."""
    return typing.cast(NicModel, _load(NicModel, file, lambda entry, _: entry))


def _load(model: type, file: Path, shape: typing.Callable[[dict[str, Any], str], dict[str, Any]]) -> object:
    try:
        from fabricgen.plain_yaml import load_yaml  # not for the names of models

        entry = load_yaml(read_text(file, YAML_BYTES), str(file))
        return _fit(model, shape(_of(dict, entry, "the file"), str(file)), "")
    except _MisfitError as misfit:
        raise UnreadableInputError(str(misfit), Location(str(file))) from None


def _switch(entry: dict[str, Any], file: str) -> dict[str, Any]:
    """The file's compact tables written out as the model has them. Only Ethernet switches run SONiC."""
    technology = entry.get("technology", "ethernet")
    if technology not in _TECHNOLOGIES:
        raise _MisfitError(f"technology must be {' or '.join(_TECHNOLOGIES)}")
    sonic = technology == Technology.ETHERNET
    layouts = [
        _layout(_of(dict, layout, f"layouts[{n}]"), f"layouts[{n}]", sonic=sonic)
        for n, layout in _list(entry, "layouts", "")
    ]
    for key in _SONIC_KEYS if sonic else ():
        _of(str, entry.get(key), key)
    cages = (
        [cage for n, group in _list(entry, "cages", "") for cage in _cages(group, f"cages[{n}]")]
        if "cages" in entry
        else []
    )
    return {**entry, "layouts": layouts, "cages": cages, "file": file}


def _cages(group: object, place: str) -> typing.Iterator[Cage]:
    """The cages of one group, which have the same breakout modes: a line for each."""
    table = _of(dict, group, place)
    if unknown := set(table) - {"modes", "rows"}:
        raise _MisfitError(f"{place}.{min(map(str, unknown))} is not known here")
    modes = [_of(str, mode, f"{place}.modes") for _, mode in _list(table, "modes", place)]
    for (parent, indexes, lanes, *names), where in _cells(table, "rows", (*CAGE_COLUMNS, *modes), place):
        try:
            numbers = tuple(map(int, lanes.split(",")))
            numbered = tuple(map(int, indexes.split(",")))
        except ValueError:
            raise _MisfitError(f"{where}: index and lanes must be numbers such as 17,18") from None
        aliases = {mode: tuple(text.split(",")) for mode, text in zip(modes, names, strict=True)}
        for mode, each in aliases.items():
            made = split(mode, numbers)
            if made is None or len(made) != len(each) or not PORT_NAME.fullmatch(parent):
                raise _MisfitError(
                    f"{where}: {mode} does not fit, it needs EthernetN, lanes and an alias for each port"
                )
        if len(numbered) not in (1, len(numbers)):
            raise _MisfitError(f"{where}: index must be one number, or one for each lane")
        yield Cage(parent, numbered, numbers, aliases)


def _layout(layout: dict[str, Any], place: str, *, sonic: bool) -> dict[str, Any]:
    ports = [
        port
        for n, group in _list(layout, "ports", place)
        for port in _ports(_of(dict, group, f"{place}.ports[{n}]"), f"{place}.ports[{n}]", bare=not sonic)
    ]
    if not any(port.kind == "fabric" for port in ports):
        raise _MisfitError(f"{place}.ports has no port of the kind fabric")
    if not sonic:
        layout = {"hwsku": "", "headroom": "", "buffers": [], **layout}
    by_release = [
        _buffer_facts(_of(dict, facts, f"{place}.by_release[{n}]"), f"{place}.by_release[{n}]")
        for n, facts in (_list(layout, "by_release", place) if "by_release" in layout else ())
    ]
    return {**_buffer_facts(layout, place), "ports": ports, "by_release": by_release}


def _buffer_facts(block: dict[str, Any], place: str) -> dict[str, Any]:
    """The tables of headroom and buffers in a block, as the model has them; `by_release` may leave them out."""
    buffers: dict[str, Any] = {}
    is_part = "releases" in block
    block = {"headroom": "", "buffers": [], "sources": {}, **block} if is_part else block
    sources = dict(_of(dict, block.get("sources"), f"{place}.sources"))
    for n, tables in _list(block, "buffers", place):
        where = f"{place}.buffers[{n}]"
        rest = {key: value for key, value in _of(dict, tables, where).items() if key not in ("roles", "source")}
        for _, role in _list(tables, "roles", where):
            buffers[_of(str, role, f"{where}.roles")] = rest
            sources[f"buffers.{role}"] = tables.get("source")
    headroom = [_headroom_row(cells, where) for cells, where in _cells(block, "headroom", HEADROOM_COLUMNS, place)]
    return {**block, "headroom": headroom, "buffers": buffers, "sources": sources}


def _host(entry: dict[str, Any], _file: str) -> dict[str, Any]:
    """NICs by column name, from rows that are lists; the last columns may be left out."""
    nics = []
    for n, row in _list(entry, "nics", ""):
        if not isinstance(row, list) or not _NIC_COLUMNS_NEEDED <= len(row) <= len(_NIC_COLUMNS):
            raise _MisfitError(f"nics[{n}] must be [{', '.join(_NIC_COLUMNS)}]")
        nics.append(dict(zip(_NIC_COLUMNS, row, strict=False)))
    return {**entry, "nics": nics}


def _ports(group: dict[str, Any], place: str, *, bare: bool) -> typing.Iterator[PlatformPort]:
    """The ports of one group: what they share, and a line for each. Bare ports may have - for lanes and alias."""
    shared = {key: _of(kind, group.get(key), f"{place}.{key}") for key, kind in _SHARED_COLUMNS.items()}
    if unknown := set(group) - {*_SHARED_COLUMNS, "rows"}:
        raise _MisfitError(f"{place}.{min(map(str, unknown))} is not known here")
    for (name, lanes, alias, index, subport, parent), where in _cells(group, "rows", PORT_COLUMNS, place):
        try:
            numbers = () if bare and lanes == "-" else tuple(map(int, lanes.split(",")))
            label = "" if bare and alias == "-" else alias
            yield PlatformPort(name, numbers, label, int(index), int(subport), parent, **shared)
        except ValueError:
            raise _MisfitError(f"{where}: lanes must be numbers such as 17,18, index and subport a number") from None


def _headroom_row(cells: list[str], place: str) -> HeadroomRow:
    try:
        speed, cable, size, xon, xoff, threshold = map(int, cells[:-1])
        return HeadroomRow(speed, cable, size, xon, xoff, threshold, None if cells[-1] == "-" else int(cells[-1]))
    except ValueError:
        raise _MisfitError(f"{place} must be numbers, the last one or -") from None


def _cells(
    block: dict[str, Any], key: str, columns: tuple[str, ...], place: str
) -> typing.Iterator[tuple[list[str], str]]:
    """(cells, place) of each line of a table that is written as text; # starts a comment line.

    A table of text is read ten times as fast as YAML lists, and looks like the SKU's own file.
    """
    for n, line in enumerate(_of(str, block.get(key), f"{place}.{key}").split("\n"), 1):
        cells = line.split()
        if not cells or cells[0].startswith("#"):
            continue
        where = f"{place}.{key} line {n}"
        if len(cells) != len(columns):
            raise _MisfitError(f"{where} must be: {' '.join(columns)}")
        yield cells, where


def _list(block: dict[str, Any], key: str, place: str) -> typing.Iterable[tuple[int, Any]]:
    return enumerate(_of(list, block.get(key), f"{place}.{key}".strip(".")))


def _of(kind: type, value: object, place: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _MisfitError(f"{place} must be {_WORDS[kind]}")
    return value


@functools.cache
def _columns(model: type) -> tuple[tuple[str, Any, bool], ...]:
    """Name, type and whether it must be given, of each field of a dataclass."""
    hints = typing.get_type_hints(model)
    return tuple((field.name, hints[field.name], field.default is MISSING) for field in fields(model))


def _fit(kind: Any, value: Any, place: str) -> Any:
    """The value in its type: dataclasses from mappings, tuples from lists, closed words from text."""
    if kind is str or kind is int:
        if isinstance(value, int) and abs(value) > _MOST:
            raise _MisfitError(f"{place} must be at most {_MOST}")
        return _of(kind, value, place)
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        if value not in (words := [word.value for word in kind]):
            raise _MisfitError(f"{place} must be {' or '.join(words)}")
        return kind(value)
    if is_dataclass(kind):
        if isinstance(value, typing.cast(type, kind)):
            return value
        known = _columns(typing.cast(type, kind))
        if unknown := set(_of(dict, value, place)) - {name for name, _, _ in known}:
            raise _MisfitError(f"{place}.{min(map(str, unknown))}".strip(".") + " is not known here")
        given = {
            name: _fit(hint, value.get(name), f"{place}.{name}".strip("."))
            for name, hint, needed in known
            if needed or name in value
        }
        return typing.cast(type, kind)(**given)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return None if value is None else _fit(inner[0], value, place)
    if origin is tuple:
        items = _of(list, value, place)
        return tuple(_fit(inner[0], item, f"{place}[{n}]") for n, item in enumerate(items))
    if origin is Mapping:
        return {
            _fit(str, key, place): _fit(inner[1], item, f"{place}.{key}")
            for key, item in _of(dict, value, place).items()
        }
    raise TypeError(f"no reading for {kind}")
