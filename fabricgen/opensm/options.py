"""Facts about OpenSM: its options with their types, and the codes of rates, MTUs and virtual lanes.

OpenSM starts with a file that it does not understand: it reports an unknown option on stdout and ignores it, and every
boolean other than the word TRUE is FALSE. Therefore options are checked against this table before they are written.

Sources: the head of opensm-options.tsv; include/iba/ib_types.h of the same commit (IB_PATH_RECORD_RATE_*, MTU).
"""

import csv
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fabricgen.c_numbers import c_number

VERSION = "3.3.23"
MAX_LINE_BYTES = 1022  # of opensm.conf, without the newline; the rest of a longer line becomes another line
MAX_PARTITION_LINE_BYTES = 4094  # of partitions.conf; a longer line is cut, even inside a GUID

MTU_CODES: Mapping[int, int] = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
VL_CODES: Mapping[int, int] = {1: 1, 2: 2, 4: 3, 8: 4, 15: 5}
# Mb/s -> code. Codes are not sorted by rate. 800G (23) is newer than 3.3.23, whose last code is 22.
RATE_CODES: Mapping[int, int] = {
    2_500: 2, 5_000: 5, 10_000: 3, 20_000: 6, 30_000: 4, 40_000: 7, 60_000: 8, 80_000: 9, 120_000: 10, 14_000: 11,
    56_000: 12, 112_000: 13, 168_000: 14, 25_000: 15, 100_000: 16, 200_000: 17, 300_000: 18, 28_000: 19, 50_000: 20,
    400_000: 21, 600_000: 22,
}  # fmt: skip
MTU_OF: Mapping[int, int] = {code: size for size, code in MTU_CODES.items()}
RATE_OF: Mapping[int, int] = {code: mbps for mbps, code in RATE_CODES.items()}
BOOLEANS = ("TRUE", "FALSE")
NULL = "(null)"  # of an option without a value
LAST_VL = 14  # of data; lane 15 is for management, and an SL that is mapped to it is dropped
LAST_SL = 15
LAST_LIFETIME = 0x13  # of packet and head-of-queue lifetimes; with 0x14 and more, packets never expire
# 4.096 us x 2^12 = 17 ms. Where two tiers of 64-port switches send to one port of 400G, a packet of 4096 bytes waits at
# the head of a queue for 64 x 64 x 32 others, which is 11 ms.
FIRST_LIFETIME = 0x0C


def lifetime_ms(code: int) -> float:
    """The time of a code of a lifetime, or of a timeout of a subnet: 4.096 us times a power of two."""
    return 4.096e-3 * 2.0**code


class OpensmEngine(enum.StrEnum):
    """The routing engines, in the order of `opensm --help`."""

    MINHOP = "minhop"
    UPDN = "updn"
    DNUP = "dnup"
    FILE = "file"
    FTREE = "ftree"
    LASH = "lash"
    DOR = "dor"
    TORUS_2QOS = "torus-2QoS"
    NUE = "nue"
    DFSSSP = "dfsssp"
    SSSP = "sssp"


NO_FALLBACK = "no_fallback"  # the last word of routing_engine: OpenSM does not fall back to minhop

# Options whose type is wider than their legal range. OpenSM replaces some values by the default, with a message on
# stdout, and uses others (max_op_vls 9) unchanged.
RANGES: Mapping[str, tuple[int, int]] = {
    "sm_priority": (0, 15), "lmc": (0, 7), "max_op_vls": (1, 5), "subnet_timeout": (0, 31), "sm_sl": (0, 15),
    "packet_life_time": (0, 31), "head_of_queue_lifetime": (0, 31), "leaf_head_of_queue_lifetime": (0, 31),
    "m_key_protection_level": (0, 3), "nue_max_num_vls": (0, 15), "lash_start_vl": (0, 15), "fdr10": (0, 2),
    "perfmgr_sweep_time_s": (1, 0xFFFF), "perfmgr_max_outstanding_queries": (1, 0xFFFFFFFF),
    "vl_stall_count": (0, 7), "leaf_vl_stall_count": (0, 7),  # OpenSM writes the last three bits
    "local_phy_errors_threshold": (0, 15), "overrun_errors_threshold": (0, 15),  # the last four
    "max_wire_smps": (0, 0x7FFFFFFF), "max_wire_smps2": (0, 0x7FFFFFFF),
    **{f"qos_{ports}high_limit": (-1, 255) for ports in ("", "ca_", "sw0_", "swe_", "rtr_")},
    **{f"qos_{ports}max_vls": (0, 15) for ports in ("", "ca_", "sw0_", "swe_", "rtr_")},
}  # fmt: skip
CHOICES: Mapping[str, tuple[str, ...]] = {
    "part_enforce": ("both", "in", "out", "off"),
    "console": ("off", "local", "loopback", "socket"),
    "force_link_speed_ext": ("0", "1", "2", "3", "4", "5", "6", "7", "30", "31"),  # NDR (8) is newer than 3.3.23
    "force_link_speed": ("0", "1", "2", "3", "4", "5", "6", "7", "15"),
    "force_link_width": (*map(str, range(32)), "255"),
}
_BITS = {"uint8": 8, "uint16": 16, "net16": 16, "uint32": 32, "net32": 32, "int32": 32, "net64": 64}
SECRET = "${secret:"  # deployment replaces it by a number


@dataclass(frozen=True, slots=True)
class OptionFact:
    """One option: its C type, its default, and whether SIGHUP changes it while OpenSM runs. `breaks` is what a value
    does that OpenSM accepts and no subnet should have."""

    name: str
    type: str
    default: str
    reloadable: bool
    breaks: "Breakage | None" = None


@dataclass(frozen=True, slots=True)
class Breakage:
    """A value that OpenSM accepts, and its effect on the subnet."""

    value: str
    is_error: bool
    effect: str


def _breakage(text: str) -> Breakage | None:
    if not text:
        return None
    value, severity, effect = text.split(" ", 2)
    return Breakage(value, severity == "error", effect)


@cache
def option_facts() -> Mapping[str, OptionFact]:
    """Name -> option, for every option of opensm.conf."""
    text = Path(__file__).with_name("opensm-options.tsv").read_text(encoding="ascii")
    rows = csv.DictReader((line for line in text.splitlines() if not line.startswith("#")), delimiter="\t")
    return {
        row["option"]: OptionFact(
            row["option"],
            row["type"],
            row["default"],
            row["reloadable_on_HUP"] == "1",
            _breakage(row["what_it_breaks"]),
        )
        for row in rows
    }


def option_problem(name: str, text: str) -> str | None:
    """Why OpenSM reads a line of opensm.conf differently than written; None if it does not."""
    fact = option_facts().get(name)
    if fact is None:
        return f"opensm {VERSION} has no option {name!r}"
    if fact.type == "boolean" and text not in BOOLEANS:
        return f"OpenSM reads {name} {text} as FALSE: only TRUE in capitals is true"
    if text.startswith("="):
        return f"{name}: OpenSM reads the `=` as part of the value; separate name and value by a blank"
    if len(f"{name} {text}".encode()) > MAX_LINE_BYTES:
        return f"{name} has more than {MAX_LINE_BYTES} bytes; OpenSM reads the rest as another line"
    if name in CHOICES and text == NULL:
        return f"{name} is {NULL}: OpenSM ends with a segmentation fault"
    if name in CHOICES and text not in CHOICES[name] and str(c_number(text)) not in CHOICES[name]:
        return f"{name} must be one of {', '.join(CHOICES[name])}: OpenSM uses its default for other values"
    if fact.type in _BITS and not text.startswith(SECRET):
        return _number_problem(name, fact.type, text)
    return None


def _number_problem(name: str, kind: str, text: str) -> str | None:
    """What is wrong with a number. The message does not show the value, because it can be a key."""
    number = c_number(text)
    if number is None:
        return f"{name} is not a number"
    least, most = RANGES.get(name, (-1 if kind == "int32" else 0, (1 << _BITS[kind]) - 1))
    if least <= number <= most:
        return None
    return f"{name} is outside the range {least} to {most if most < 1 << 32 else hex(most)}"


def rate_at_most(speed_mbps: int) -> int:
    """The code of the fastest rate in OpenSM's table that a port of this speed supports."""
    return RATE_CODES[max(rate for rate in RATE_CODES if rate <= max(speed_mbps, min(RATE_CODES)))]
