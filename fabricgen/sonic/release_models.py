"""What each SONiC release has: the tables, rows and fields of its YANG models that came or went, and its FRR."""

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from fabricgen.sonic.releases import MASTER, MASTER_WORD, OLDEST, SINCE, release_name
from fabricgen.sonic.tables import ConfigDb

_FILE = Path(__file__).with_name("release_models.tsv")


@dataclass(frozen=True, slots=True)
class Image:
    """The image of a release, at a commit of sonic-buildimage. `maximum_paths` are the equal paths to a prefix that its
    default routing mode uses."""

    commit: str
    frr: str
    maximum_paths: int


class UnknownPath(NamedTuple):
    """A table, row (`key`) or field that a release does not have, and the releases that have it."""

    table: str
    key: str
    field: str
    having: frozenset[int]


@functools.cache
def images() -> Mapping[int, Image]:
    """Release -> its image, oldest first; the last one is the master branch."""
    heads = (line.split() for line in _FILE.read_text(encoding="ascii").splitlines() if line.startswith("# 2"))
    return {int(release): Image(commit, frr, int(paths)) for _, release, commit, frr, paths in heads}


@functools.cache
def differences() -> Mapping[str, frozenset[int]]:
    """TABLE, TABLE|row or TABLE|row|field (without row name: of a list) -> the releases that have it.

    What all releases have, or no release, is not listed.
    """
    rows = (line.split("\t") for line in _FILE.read_text(encoding="ascii").splitlines() if not line.startswith("#"))
    return {path: frozenset(map(int, releases.split())) for path, releases in rows}


def release_word(release: int) -> str:
    """The word for a release in options and inventories: 202505, or master."""
    return MASTER_WORD if release == MASTER else str(release)


def release_number(word: str | int) -> int:
    """The release of a word."""
    return MASTER if word == MASTER_WORD else int(word)


def known_release(release: int) -> int:
    """The release whose models apply: itself, otherwise the last one before it, or the oldest one."""
    return max((known for known in images() if known <= release), default=min(images()))


def image_of(release: int) -> Image:
    """The image of a release, or of the last known one before it."""
    return images()[known_release(release)]


def releases_with(table: str, key: str = "", field: str = "") -> frozenset[int]:
    """The releases whose models have a table, row or field; all for what does not differ."""
    found = frozenset(images())
    paths = [table, f"{table}|{key}", f"{table}|{key}|{field}" if f"{table}|{key}" in _named() else f"{table}||{field}"]
    for path in paths[: 1 + bool(key) + bool(field)]:
        found &= differences().get(path, found)
    return found


def absence(release: int, table: str, key: str = "", field: str = "") -> str:
    """When a table, row or field that a release does not have, or does not serve, exists: 'since release 202505', or
    'until ...'; "" for one that it has."""
    came = SINCE.get("|".join(filter(None, (table, key, field))), OLDEST)
    having = {known for known in releases_with(table, key, field) if known >= came}
    return "" if known_release(release) in having else when(having, release)


def when(having: Collection[int], release: int) -> str:
    """'since release 202505' or 'until release 202511', for what other releases have."""
    later = [known for known in having if known > release]
    return f"since {release_name(min(later))}" if later else f"until {release_name(max(having))}"


def unknown_paths(config: ConfigDb, release: int) -> Iterator[UnknownPath]:
    """What the models of a release do not have; rows of such a table, and fields of such a row, are not repeated."""
    model = known_release(release)
    lacking = _lacking(model)
    for table, rows in config.items():
        if table not in lacking:
            continue
        if model not in (having := releases_with(table)):
            yield UnknownPath(table, "", "", having)
            continue
        fields_of = lacking[table]
        if isinstance(rows, dict) and _has_all(fields_of, rows):
            continue
        for key, row in rows.items() if isinstance(rows, dict) else ():
            path = f"{table}|{key}"
            if path in differences() and model not in (having := releases_with(table, key)):
                yield UnknownPath(table, key, "", having)
                continue
            fields = fields_of.get(key if path in _named() else "", frozenset())
            if isinstance(row, dict) and not fields.isdisjoint(row):
                for field in row:
                    if field in fields:
                        yield UnknownPath(table, key, field, releases_with(table, key, field))


def _has_all(lacking: Mapping[str, frozenset[str]], rows: Mapping[str, Any]) -> bool:
    """Whether a release has all rows and fields of a table, by one look at all of them. `lacking` is that of the
    table, see `_lacking`."""
    fields = chain.from_iterable(row for row in rows.values() if isinstance(row, dict))
    return lacking.keys().isdisjoint(rows) and frozenset[str]().union(*lacking.values()).isdisjoint(fields)


def tables_that_differ(release: int) -> frozenset[str]:
    """The tables that the models of a release do not have, or of which they do not have a row or a field."""
    return frozenset(_lacking(known_release(release)))


@functools.cache
def _lacking(model: int) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """The tables of `tables_that_differ`, each with the fields that the models do not have, by row; "" for all rows
    without a fixed name. A row that they do not have is among them, too."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for path, having in differences().items():
        if model not in having:
            table, key, field = (*path.split("|"), "", "")[:3]
            fields = found.setdefault(table, {})
            if key or field:
                fields[key] = fields.get(key, frozenset()) | ({field} if field else frozenset())
    return found


def as_known_to(config: ConfigDb, release: int) -> ConfigDb:
    """The configuration without what a release does not know, and without rows whose service came later."""
    unknown: set[tuple[str, ...]] = {path[:3] for path in unknown_paths(config, release)}
    unknown |= {(*path.split("|"), "", "")[:3] for path, since in SINCE.items() if since > release}
    return {
        table: {
            key: {field: value for field, value in row.items() if (table, key, field) not in unknown}
            for key, row in rows.items()
            if (table, key, "") not in unknown
        }
        for table, rows in config.items()
        if (table, "", "") not in unknown
    }


@functools.cache
def _named() -> frozenset[str]:
    """TABLE|row of rows with a fixed name that have fields in `differences`."""
    return frozenset(path.rpartition("|")[0] for path in differences() if path.count("|") == 2 and "||" not in path)
