"""The meaning of codes that are not rules (codes.yaml), for `explain` and docs/findings.md."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml


@cache
def codes() -> Mapping[str, Mapping[str, str]]:
    """code -> title, what, fix."""
    text = Path(__file__).with_name("codes.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = yaml.safe_load(text)
    return found


def explain_code(code: str) -> str | None:
    """The page of a code; None if codes.yaml does not list it."""
    entry = codes().get(code.upper())
    if entry is None:
        return None
    return f"{code.upper()}  {entry['title']}\n\nWhat\n  {entry['what']}\n\nFix\n  {entry['fix']}"
