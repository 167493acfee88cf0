"""Counters of switches before and after the tests, as SONiC prints them.

Tables: sonic-utilities 691b1bb, pfcstat, pg-drop, watermarkstat, queuestat, wredstat, pfcwd and portstat. A number that
the switch does not have is N/A, and thousands are separated by commas.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from fabricgen.acceptance.host_counters import rise
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location

Port = str
Numbers = Mapping[tuple[Port, int], int]  # (port, priority, queue or priority group) -> number

_NUMBERED = re.compile(r"\b(?:PFC|PG)(\d+)\b")
_TITLE_OF = {
    "pfc.txt": re.compile(rb"\bPort Rx\b.*\bPFC\d"),
    "watchdog.txt": re.compile(rb"\bSTORM DETECTED/RESTORED\b"),
    "pg-drops.txt": re.compile(rb"\bPort\b.*\bPG\d"),
    "errors.txt": re.compile(rb"\bIFACE\b.*\bRX_ERR\b"),
    "fec.txt": re.compile(rb"\bIFACE\b.*\bFEC_UNCORR\b"),
}
_ALSO_JSON = ("errors.txt", "fec.txt")
_QUEUE = re.compile(r"(Ethernet\d+):(\d+)")
FILES = (
    "pfc.txt", "watchdog.txt", "pg-headroom.json", "pg-shared.json", "queue.json", "pg-drops.txt",
    "queue-counters.json", "ecn.json", "errors.txt", "fec.txt",
)  # fmt: skip


@dataclass(frozen=True)
class Counters:
    """The readings of one switch; a reading that does not exist is empty. `files` are those with a reading, and
    `others` those that contain something else, for example the message of a command that failed."""

    files: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    pfc_sent: Numbers = field(default_factory=dict)
    pfc_received: Numbers = field(default_factory=dict)
    dropped: Numbers = field(default_factory=dict)  # packets of priority groups
    queued: Numbers = field(default_factory=dict)  # packets of unicast queues
    marked: Numbers = field(default_factory=dict)  # packets of unicast queues
    detected: Numbers = field(default_factory=dict)  # storms of queues
    restored: Numbers = field(default_factory=dict)
    headroom: Numbers = field(default_factory=dict)  # watermarks in bytes, of priority groups
    shared: Numbers = field(default_factory=dict)
    queue: Numbers = field(default_factory=dict)  # watermarks in bytes, of unicast queues
    errors: Mapping[tuple[Port, str], int] = field(default_factory=dict)  # RX_ERR in frames, FEC_UNCORR in codewords


_FIELDS_OF = {
    "pfc.txt": ("pfc_sent", "pfc_received"),
    "watchdog.txt": ("detected", "restored"),
    "pg-drops.txt": ("dropped",),
    "queue-counters.json": ("queued",),
    "ecn.json": ("marked",),
}


def comparable(first: Counters, last: Counters) -> tuple[Counters, Counters]:
    """Two readings of a switch without what only one of them has: all that was counted since the switch started would
    count as risen."""
    once = {*first.files} ^ {*last.files}
    empty: dict[str, Any] = {name: {} for file in sorted(once) for name in _FIELDS_OF.get(file, ())}
    return replace(first, **empty), replace(last, files=tuple(file for file in last.files if file not in once), **empty)


@dataclass(frozen=True, slots=True)
class SentFairness:
    """How evenly the `links` of a switch to higher ones sent packets: Jain's index, and the `fullest` over the mean."""

    device: str
    links: int
    jfi: float
    mmr: float
    fullest: Port


def sent_fairness(device: str, ports: Sequence[Port], before: Counters, after: Counters) -> SentFairness | None:
    """That of the packets of all queues between two readings; None for one port, or if nothing was sent."""
    risen = rise(before.queued, after.queued)
    packets = {port: sum(count for (at, _), count in risen.items() if at == port) for port in ports}
    total, squares = sum(packets.values()), sum(count**2 for count in packets.values())
    if len(ports) < 2 or not total:
        return None
    fullest = max(packets, key=lambda port: packets[port])
    mmr = packets[fullest] * len(ports) / total
    return SentFairness(device, len(ports), round(total**2 / (len(ports) * squares), 4), round(mmr, 4), fullest)


def read_counters(folders: Mapping[str, Path]) -> dict[str, Counters]:
    """Switch -> its readings, from the folder of each. Raises UnreadableInputError for a file of another form."""
    return {name: _read(folder) for name, folder in folders.items()}


def counter_folders(roots: Iterable[Path], moment: str, *, of_watchdog: bool = False) -> dict[str, Path]:
    """Switch -> its folder, below a folder with the name of the moment, before or after.

    The stage of the watchdog has separate readings, below a folder watchdog.
    """
    found: dict[str, Path] = {}
    for root in roots:
        for file in sorted(file for file in root.rglob("*") if file.name in FILES) if root.is_dir() else ():
            folders = file.parent.relative_to(root.parent).parts
            if moment in folders and ("watchdog" in folders) == of_watchdog:
                found.setdefault(file.parent.name, file.parent)
    return found


def _read(folder: Path) -> Counters:
    read = {name: (folder / name).read_bytes() for name in FILES if (folder / name).is_file()}
    texts = {name: content for name, content in read.items() if _is_reading(name, content)}
    sent, received = _pfc(_text(texts, "pfc.txt"))
    detected, restored = storms(_text(texts, "watchdog.txt"))
    return Counters(
        tuple(texts),
        tuple(name for name in read if name not in texts),
        sent,
        received,
        _table(_text(texts, "pg-drops.txt")),
        _nested(texts, folder, "queue-counters.json", "totalpacket"),
        _nested(texts, folder, "ecn.json", "ecnmarkedpacket"),
        detected,
        restored,
        _watermarks(texts, folder, "pg-headroom.json", "PG"),
        _watermarks(texts, folder, "pg-shared.json", "PG"),
        _watermarks(texts, folder, "queue.json", "UC"),
        _columns(texts, folder, "errors.txt", "RX_ERR") | _columns(texts, folder, "fec.txt", "FEC_UNCORR"),
    )


def _is_reading(name: str, content: bytes) -> bool:
    """Whether a file has the titles of its table; JSON is read, or refused, as a whole."""
    title = _TITLE_OF.get(name)
    return title is None or bool(title.search(content)) or (name in _ALSO_JSON and content.lstrip().startswith(b"{"))


def _text(texts: Mapping[str, bytes], name: str) -> str:
    return texts.get(name, b"").decode(errors="replace")


def _number(text: object) -> int | None:
    words = str(text).replace(",", "").strip()
    return int(words) if words.isdecimal() else None


def _pfc(text: str) -> tuple[Numbers, Numbers]:
    """Frames that ports sent and received: two tables with the titles Port Tx and Port Rx."""
    received, _, sent = text.partition("Port Tx")
    return _table(sent), _table(received)


def _table(text: str) -> dict[tuple[Port, int], int]:
    """A row for each port, and a column for each number that exists on one of them: a switch that has only the priority
    groups of its configuration prints no others."""
    found = {}
    numbers: list[int] = []
    for line in text.splitlines():
        words = line.split()
        if titles := _NUMBERED.findall(line):
            numbers = [int(number) for number in titles]
        elif words and words[0].startswith("Ethernet"):
            values = zip(numbers, map(_number, words[1:]), strict=False)
            found.update({(words[0], number): value for number, value in values if value is not None})
    return found


def storms(text: str) -> tuple[dict[tuple[Port, int], int], dict[tuple[Port, int], int]]:
    """Storms that the watchdog detected, and queues that it restored, from `pfcwd show stats`."""
    detected, restored = {}, {}
    for line in text.splitlines():
        words = line.split()
        queue = _QUEUE.fullmatch(words[0]) if len(words) > 2 else None
        if queue and "/" in words[2]:
            key = queue[1], int(queue[2])
            detected[key], restored[key] = (_number(part) or 0 for part in words[2].split("/", 1))
    return detected, restored


def _load(texts: Mapping[str, bytes], folder: Path, name: str, shape: type[dict[str, Any]] | type[list[Any]]) -> Any:
    """JSON of a shape behind a line of text that some releases print first; empty without the file."""
    content = texts.get(name)
    if content is None:
        return shape()
    start = min((place for place in (content.find(b"["), content.find(b"{")) if place >= 0), default=0)
    try:
        found = orjson.loads(content[start:])
    except orjson.JSONDecodeError as error:
        raise UnreadableInputError(f"not JSON: {error.msg}", Location(str(folder / name), error.lineno)) from error
    if not found:
        return shape()
    if not isinstance(found, shape):
        expected = "an object with a member for each port" if shape is dict else "a list with a row for each port"
        raise UnreadableInputError(f"not the output of the switch: expected {expected}", Location(str(folder / name)))
    return found


def _columns(texts: Mapping[str, bytes], folder: Path, name: str, title: str) -> dict[tuple[Port, str], int]:
    """(port, title) -> the number below a title, from a table or from JSON (-j, from 202505 on)."""
    rows: dict[Port, object] = {}
    if texts.get(name, b"").lstrip().startswith(b"{"):
        rows = {port: row.get(title) for port, row in _load(texts, folder, name, dict).items() if isinstance(row, dict)}
    else:
        titles: list[str] = []
        for words in map(str.split, _text(texts, name).splitlines()):
            if title in words:
                titles = words
            elif titles and words and words[0].startswith("Ethernet") and len(words) > titles.index(title):
                rows[words[0]] = words[titles.index(title)]
    return {(port, title): value for port, text in rows.items() if (value := _number(text)) is not None}


def _watermarks(texts: Mapping[str, bytes], folder: Path, name: str, title: str) -> dict[tuple[Port, int], int]:
    found = {}
    for row in _load(texts, folder, name, list):
        for column, text in row.items() if isinstance(row, dict) and "Port" in row else ():
            value = _number(text)
            if column.startswith(title) and column[len(title) :].isdecimal() and value is not None:
                found[str(row["Port"]), int(column[len(title) :])] = value
    return found


def _nested(texts: Mapping[str, bytes], folder: Path, name: str, member: str) -> dict[tuple[Port, int], int]:
    """Port -> queue UCn -> counters."""
    found = {}
    for port, queues in _load(texts, folder, name, dict).items():
        for queue, row in queues.items() if isinstance(queues, dict) else ():
            value = _number(row.get(member)) if isinstance(row, dict) else None
            if queue.startswith("UC") and queue[2:].isdecimal() and value is not None:
                found[port, int(queue[2:])] = value
    return found
