"""The pages of the codes that no rule has, from codes.yaml; the families of all codes, and their choice by prefix."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("codes.yaml")

PARTS = ("What", "Why", "Example", "Fix", "Source")  # of every page, in this order

FAMILIES = {
    "FG1": "inventory and templates",
    "FG2": "design and capacity: intent, identity, ports, links",
    "FG3": "addresses and BGP",
    "FG4": "SONiC schema",
    "FG5": "lossless QoS",
    "FG6": "deadlock and tenants",
    "FG7": "congestion",
    "FG8": "InfiniBand",
    "FG9": "hosts, drift and stale files",
}


def chosen(select: Sequence[str], ignore: Sequence[str]) -> Callable[[str], bool]:
    """Whether a code starts with a prefix in `select` (empty: all) and with none in `ignore`; case does not count."""
    wanted, unwanted = tuple(map(str.upper, select)) or ("",), tuple(map(str.upper, ignore))
    return lambda code: code.startswith(wanted) and not code.startswith(unwanted)


@cache
def code_names() -> frozenset[str]:
    """The codes, without their texts: a hundredth of the time."""
    return frozenset(re.findall(r"^(FG\d+):", _FILE.read_text(encoding="utf-8"), re.MULTILINE))


@cache
def codes() -> Mapping[str, Mapping[str, str]]:
    """code -> title and the parts of its page in small letters; `breaks` where its faults explain others."""
    from fabricgen.plain_yaml import load_yaml  # an eighth of the time of yaml.safe_load

    found: Mapping[str, Mapping[str, str]] = load_yaml(_FILE.read_text(encoding="utf-8"), str(_FILE))
    return {code: {**entry, "title": entry["title"][:1].upper() + entry["title"][1:]} for code, entry in found.items()}
