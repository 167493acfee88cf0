"""Miscabling for the terminal, for a pull request, and as JSON."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fabricgen.bundle.wiring import Endpoint
from fabricgen.diff.cables import CableDifference, Miscabling
from fabricgen.report.diff_words import painted, shortened
from fabricgen.units import counted

KINDS = ("missing", "extra", "misplaced", "swapped")
FORMAT_VERSION = "1"
_SIGNS = {"missing": "-", "extra": "+", "misplaced": "~", "swapped": "~"}
_DETAILS = {"other-port": "another port", "other-device": "another device"}


def cables_text(difference: CableDifference, color: bool = False) -> str:
    """A block for each miscabling, then the counts."""
    lines = []
    for item in difference.miscablings:
        first, *more = _lines(item)
        lines += [painted(_SIGNS[item.kind], first, color), *(f"    {line}" for line in more)]
    lines += [painted("~", f"~ {text}", color) for text in _strangers(difference)]
    if not lines:
        lines.append("No miscabling.")
    return "\n".join([*lines, "", *_counts(difference)] if difference.differs else [*lines, *_counts(difference)])


def cables_markdown(difference: CableDifference) -> str:
    """A list for a pull request."""
    subject = "miscabling" if difference.differs else "no miscabling"
    items = ["; ".join(_lines(item)).lstrip("+-~ ") for item in difference.miscablings]
    items += _strangers(difference)
    return "\n".join(
        [
            f"**fabricgen: {subject}**",
            "",
            *_counts(difference),
            *([""] if items else []),
            *(f"- {item}" for item in items),
        ]
    )


def cables_object(tool_version: str, difference: CableDifference) -> dict[str, Any]:
    """format_version, tool, summary, and the miscablings with the ends that were seen and meant."""
    kinds = Counter(item.kind for item in difference.miscablings)
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "fabricgen", "version": tool_version},
        "compared": "cables",
        "summary": {
            "right": difference.right,
            **{kind: kinds[kind] for kind in KINDS},
            "silent": len(difference.silent),
            "strangers": len(difference.strangers),
        },
        "cables": [
            {"kind": item.kind, "detail": item.detail, "seen": item.seen, "meant": item.meant}
            for item in difference.miscablings
        ],
        "silent": difference.silent,
        "strangers": [{"guid": one.guid, "name": one.name, "meant": one.meant} for one in difference.strangers],
    }


def _lines(item: Miscabling) -> Iterator[str]:
    pairs = item.seen or item.meant
    detail = f"two ports of {item.device}" if item.device else _DETAILS.get(item.detail, "")
    kind = f"{item.kind} ({detail})" if detail else item.kind
    yield f"{_SIGNS[item.kind]} {kind}: " + ", ".join(f"{_named(a)} – {_named(b)}" for a, b in pairs)
    if item.seen and item.meant:
        yield "meant: " + ", ".join(f"{_named(a)} – {_named(b)}" for a, b in item.meant)


def _counts(difference: CableDifference) -> Iterator[str]:
    kinds = Counter(item.kind for item in difference.miscablings)
    yield f"{counted(difference.right, 'cable')} as meant, {', '.join(f'{kinds[kind]} {kind}' for kind in KINDS)}."
    if difference.silent:
        how = "without a dump" if difference.seen_by == "lldp" else "not seen"
        yield f"{counted(len(difference.silent), 'switch', 'switches')} {how}: {shortened(difference.silent)}"


def _strangers(difference: CableDifference) -> Iterator[str]:
    for one in difference.strangers:
        yield f"unknown GUID: {one.guid} of {one.name}" + (
            f", which was meant to have {one.meant}" if one.meant else ""
        )


def _named(end: Endpoint) -> str:
    return ":".join(end)
