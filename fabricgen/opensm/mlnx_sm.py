"""Facts about NVIDIA's subnet manager (MLNX_SM 5, as in UFM): its options, and the paths of its files in UFM.

It is not OpenSM 3.3: OpenSM refuses 250 of its options, and it does not have some of OpenSM's. It is not freely
available, so the table has only what public sources state. The head of the table names them.

Source of the paths: UFM Enterprise User Manual v6.24, Appendix SM Default Files.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fabricgen.c_numbers import c_number
from fabricgen.opensm.options import BOOLEANS, MAX_LINE_BYTES, SECRET

DIALECT = "mlnx-sm-5"
CONFIG_DIR = "/opt/ufm/files/conf/opensm"
NODE_NAME_MAP = "ib-node-name-map"


@dataclass(frozen=True, slots=True)
class SourcedOption:
    """One option: its type (boolean | number | net64 | string), its default ("" if not stated) and its source."""

    name: str
    type: str
    default: str
    source: str


@cache
def option_facts() -> Mapping[str, SourcedOption]:
    """Name -> option, for every option that a public source names."""
    text = Path(__file__).with_name("mlnx-sm-options.tsv").read_text(encoding="ascii")
    rows = csv.DictReader((line for line in text.splitlines() if not line.startswith("#")), delimiter="\t")
    return {row["option"]: SourcedOption(row["option"], row["type"], row["default"], row["source"]) for row in rows}


def option_problem(name: str, text: str) -> str | None:
    """What is wrong with a line of its opensm.conf; None if it is valid."""
    fact = option_facts().get(name)
    if fact is None:
        return f"no public source of {DIALECT} has an option {name!r}"
    if fact.type == "boolean" and text not in BOOLEANS:
        return f"{name} is {text}, expected TRUE or FALSE in capitals"
    if len(f"{name} {text}".encode()) > MAX_LINE_BYTES:
        return f"{name} has more than {MAX_LINE_BYTES} bytes"
    if fact.type in ("number", "net64") and text and not text.startswith(SECRET) and c_number(text) is None:
        return f"{name} is not a number"
    return None
