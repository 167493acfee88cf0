"""The pages of the codes that do not belong to a rule, from codes.yaml."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("codes.yaml")


@cache
def code_names() -> frozenset[str]:
    """The codes, without their texts: a hundredth of the time."""
    return frozenset(re.findall(r"^(FG\d+):", _FILE.read_text(encoding="utf-8"), re.MULTILINE))


@cache
def codes() -> Mapping[str, Mapping[str, str]]:
    """code -> title, what, fix."""
    import yaml

    found: Mapping[str, Mapping[str, str]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {code: {**entry, "title": entry["title"][:1].upper() + entry["title"][1:]} for code, entry in found.items()}


def explain_code(code: str) -> str | None:
    """The page of a code; None for an unknown code and for the codes of rules."""
    entry = codes().get(code.upper())
    if entry is None:
        return None
    return f"{code.upper()}  {entry['title']}\n\nWhat\n  {entry['what']}\n\nFix\n  {entry['fix']}"
