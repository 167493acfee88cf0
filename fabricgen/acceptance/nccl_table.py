"""The table of nccl-tests and rccl-tests: where its columns are depends on the version and on the options.

Sources: nccl-tests a0b82b2, src/util.cu, writeResultHeader; v2.10.0, print_header and print_line_header of
src/all_reduce.cu and src/all_gather.cu: up to 2.12 each program has the leading columns that it needs, and the column
`error` is the largest difference, not a number of elements. rccl-tests ae3e635, src/common.cu: no half out of place
with -O 1.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fabricgen.acceptance.nccl_log import NcclLog, read_log

_TITLES = re.compile(r"#?\s+size\s+count\s+type\s.*\bbusbw\b")
_LEADS = (3, 4, 5)  # size, count and type; redop and root, which can be blank or missing
_ROW = re.compile(r"\s*\d+\s+\d+\s+[a-z]\w*\s")
_RANK = re.compile(r"#?\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s)?.*?\bon\s+(\S+)\s+device\b")
_BOUNDS = re.compile(r"# Out of bounds values\s*:\s*(\d+)")
_NUMBER = re.compile(r"-?[\d.]+(?:e[+-]?\d+)?|N/A|-?nan|-?inf", re.IGNORECASE)
_CLOCK = re.compile(r"\d\d:\d\d:\d\d")  # of -T: two words at the end of a row


@dataclass
class NcclTable:
    """What one run printed. `speeds` are (bytes, GB/s) as text; `ranks` are the hosts of the ranks, `numbers` the ranks
    and `groups` those of NCCL_TESTS_SPLIT."""

    ranks: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    groups: set[str] = field(default_factory=set)
    speeds: list[tuple[int, str]] = field(default_factory=list)
    wrong: int = 0
    log: NcclLog | None = None

    @property
    def problem(self) -> str:
        """Why the table is not one of all its ranks; "" if it is."""
        if (alone := self.numbers.count("0")) > 1:
            return f"{alone} processes ran alone, each as rank 0: build the tests with MPI=1"
        if len(self.groups) > 1:
            return in_groups(len(self.groups))
        return ""


def in_groups(count: int) -> str:
    """Why the bandwidth of groups of ranks is not judged: it is that of one of them."""
    return f"its ranks ran in {count} groups at the same time (NCCL_TESTS_SPLIT): run it without groups"


def read_table(lines: Iterable[str]) -> NcclTable:
    """The table in the lines of one run: size, count, type, redop and root, then time, algbw, busbw and #wrong, out of
    place and in place. A row into which another line is mixed is left out."""
    found = NcclTable()
    columns, counts_elements = 4, True
    lines = list(lines)
    for line in lines:
        if rank := _RANK.match(line):
            found.numbers.append(rank[1])
            found.groups.add(rank[2] or "0")
            found.ranks.append(rank[3])
        elif _TITLES.match(line):
            columns, counts_elements = (8 if "i_min" in line else 4), " error" not in line
        elif "(+ per-iteration)" in line:  # a log that is cut behind it
            columns = 8
        elif bounds := _BOUNDS.match(line):
            found.wrong = found.wrong or int(bounds[1])
        elif _ROW.match(line):
            values = _values(line.split(), columns)
            found.speeds += [(int(line.split()[0]), speed) for speed in values[2::columns]]
            if counts_elements:
                found.wrong += sum(int(float(word)) for word in values[3::columns] if word != "N/A")
    found.log = read_log(lines)
    return found


def _values(words: list[str], columns: int) -> list[str]:
    """The values of both halves of a row, or of the only one, without the words in front of them."""
    words = words[:-2] if _CLOCK.fullmatch(words[-1]) else words
    lead = next((len(words) - halves * columns for halves in (2, 1) if len(words) - halves * columns in _LEADS), None)
    values = words[lead:] if lead else []
    return values if all(map(_NUMBER.fullmatch, values)) else []
