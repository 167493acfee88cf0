"""A comparison of cables for the terminal, for a pull request, and as JSON."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fabricgen.bundle.cables import CableFault, Detail, Miscabling
from fabricgen.bundle.wiring import Endpoint
from fabricgen.diff.cables import CableDifference, CableSource
from fabricgen.report.diff_words import painted, shortened
from fabricgen.units import counted
from fabricgen.visible import markdown, visible

FORMAT_VERSION = "1"
_SIGNS = {CableFault.MISSING: "-", CableFault.EXTRA: "+", CableFault.MISPLACED: "~", CableFault.SWAPPED: "~"}
_DETAILS = {Detail.OTHER_PORT: "another port", Detail.OTHER_DEVICE: "another device"}


def cables_text(difference: CableDifference, color: bool = False) -> str:
    """A block for each miscabling, then the counts."""
    lines = []
    for item in difference.miscablings:
        first, *more = map(visible, _lines(item))
        lines += [painted(_SIGNS[item.kind], first, color), *(f"    {line}" for line in more)]
    lines += [painted("~", f"~ {visible(text)}", color) for text in _unknown(difference)]
    if not lines:
        lines.append("No miscabling.")
    return "\n".join([*lines, "", *_counts(difference)] if difference.differs else [*lines, *_counts(difference)])


def cables_markdown(difference: CableDifference) -> str:
    """A list for a pull request."""
    subject = "miscabling" if difference.differs else "no miscabling"
    items = [markdown("; ".join(_lines(item)).lstrip("+-~ ")) for item in difference.miscablings]
    items += map(markdown, _unknown(difference))
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
    """format_version, tool, summary, and the miscablings with observed and expected ends."""
    kinds = Counter(item.kind for item in difference.miscablings)
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "fabricgen", "version": tool_version},
        "compared": "cables",
        "summary": {
            "right": difference.correct,
            **{kind.value: kinds[kind] for kind in CableFault},
            "silent": len(difference.silent),
            "strangers": len(difference.unknown),
        },
        "cables": [
            {"kind": item.kind, "detail": item.detail, "seen": item.seen, "meant": item.expected}
            for item in difference.miscablings
        ],
        "silent": difference.silent,
        "strangers": [{"guid": one.guid, "name": one.name, "meant": one.expected} for one in difference.unknown],
    }


def _lines(item: Miscabling) -> Iterator[str]:
    pairs = item.seen or item.expected
    detail = f"two ports of {item.device}" if item.device else _DETAILS.get(item.detail, "")
    kind = f"{item.kind} ({detail})" if detail else item.kind
    yield f"{_SIGNS[item.kind]} {kind}: " + ", ".join(f"{_named(a)} – {_named(b)}" for a, b in pairs)
    if item.seen and item.expected:
        yield "expected: " + ", ".join(f"{_named(a)} – {_named(b)}" for a, b in item.expected)


def _counts(difference: CableDifference) -> Iterator[str]:
    kinds = Counter(item.kind for item in difference.miscablings)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in CableFault)
    yield f"{counted(difference.correct, 'cable')} as planned, {counts}."
    if difference.silent:
        how = "without a dump" if difference.observer is CableSource.LLDP else "not in the output"
        yield f"{counted(len(difference.silent), 'switch')} {how}: {shortened(difference.silent)}"


def _unknown(difference: CableDifference) -> Iterator[str]:
    for one in difference.unknown:
        yield f"unknown GUID: {one.guid} of {one.name}" + (f", expected {one.expected}" if one.expected else "")


def _named(end: Endpoint) -> str:
    return ":".join(end)
