"""What OpenSM knows: its options with their types, and the codes of rates, MTUs and virtual lanes. Facts only.

OpenSM takes a file that it does not understand: an unknown option is named on stdout and left out, every boolean but
the word TRUE is FALSE. So what is written for it is held against this table first.

Sources: the head of opensm-options.tsv; include/iba/ib_types.h of the same commit (IB_PATH_RECORD_RATE_*, MTU).
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VERSION = "3.3.23"
MAX_LINE_BYTES = 1022  # of opensm.conf, without its end: the rest of a longer line is another line
MAX_PARTITION_LINE_BYTES = 4094  # of partitions.conf: a longer line is cut, in the middle of a GUID if need be

MTU_CODES: Mapping[int, int] = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
VL_CODES: Mapping[int, int] = {1: 1, 2: 2, 4: 3, 8: 4, 15: 5}
# Mb/s -> code. Codes are in no order, and 800G (23) came after 3.3.23, whose last is 22.
RATE_CODES: Mapping[int, int] = {
    2_500: 2, 5_000: 5, 10_000: 3, 20_000: 6, 30_000: 4, 40_000: 7, 60_000: 8, 80_000: 9, 120_000: 10, 14_000: 11,
    56_000: 12, 112_000: 13, 168_000: 14, 25_000: 15, 100_000: 16, 200_000: 17, 300_000: 18, 28_000: 19, 50_000: 20,
    400_000: 21, 600_000: 22,
}  # fmt: skip
BOOLEANS = ("TRUE", "FALSE")


@dataclass(frozen=True, slots=True)
class OptionFact:
    """One option: its C type, what it is by default, and whether SIGHUP changes it while OpenSM runs."""

    name: str
    type: str
    default: str
    reloadable: bool


@cache
def option_facts() -> Mapping[str, OptionFact]:
    """Name -> option, for every option of opensm.conf."""
    text = Path(__file__).with_name("opensm-options.tsv").read_text(encoding="ascii")
    rows = csv.DictReader((line for line in text.splitlines() if not line.startswith("#")), delimiter="\t")
    return {
        row["option"]: OptionFact(row["option"], row["type"], row["default"], row["reloadable_on_HUP"] == "1")
        for row in rows
    }


def option_problem(name: str, text: str) -> str | None:
    """Why OpenSM would not take a line of opensm.conf as it was meant; None where it does."""
    fact = option_facts().get(name)
    if fact is None:
        return f"opensm {VERSION} has no option {name!r}"
    if fact.type == "boolean" and text not in BOOLEANS:
        return f"{name} {text} is FALSE to OpenSM: only TRUE, in capitals, is true"
    if len(f"{name} {text}".encode()) > MAX_LINE_BYTES:
        return f"{name} has more than {MAX_LINE_BYTES} bytes, the rest would be read as a line of its own"
    return None


def rate_at_most(speed_mbps: int) -> int:
    """The code of the fastest rate that a port of that speed has, as far as OpenSM knows one."""
    return RATE_CODES[max(rate for rate in RATE_CODES if rate <= max(speed_mbps, min(RATE_CODES)))]
