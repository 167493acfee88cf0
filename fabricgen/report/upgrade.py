"""What an upgrade of SONiC changes: as text or markdown, and as a JSON object."""

from collections.abc import Iterator
from typing import Any

from fabricgen.diff.counts import count
from fabricgen.diff.upgrade import Upgrade
from fabricgen.report.diff_json import FORMAT_VERSION, diff_object
from fabricgen.report.diff_markdown import diff_markdown
from fabricgen.report.diff_text import diff_text
from fabricgen.report.diff_words import changes_line
from fabricgen.report.formats.json import finding_object
from fabricgen.sonic.release_models import image_of, release_word

_PHASES = {"before": "before the upgrade, by the old release", "after": "after the upgrade, by the new release"}


def upgrade_text(upgrade: Upgrade, fmt: str, *, color: bool) -> str:
    """The releases with their FRR, all changes, and when to apply them. `fmt` is text or markdown."""
    assert upgrade.whole
    body = diff_markdown(upgrade.whole) if fmt == "markdown" else diff_text(upgrade.whole, color)
    title = f"SONiC {_arrow(map(release_word, upgrade.releases))}, FRR {_arrow(map(_frr, upgrade.releases))}"
    return "\n".join([title, "", body, *_when(upgrade, "- " if fmt == "markdown" else "")])


def _when(upgrade: Upgrade, bullet: str) -> Iterator[str]:
    for name, difference in upgrade.phases.items():
        if difference.changed:
            counts = count(difference)
            yield f"{bullet}{_PHASES[name]}: {changes_line(counts)}"


def upgrade_object(tool_version: str, upgrade: Upgrade) -> dict[str, Any]:
    """format_version, tool, the releases with their FRR, and the findings."""
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "fabricgen", "version": tool_version},
        "compared": "releases",
        "source": str(upgrade.source),
        "releases": [{"release": release_word(one), "frr": _frr(one)} for one in upgrade.releases],
        "findings": [finding_object(finding) for finding in upgrade.findings],
    }


def compared(tool_version: str, upgrade: Upgrade) -> dict[str, Any]:
    """The keys of a comparison of bundles; `before` and `after` are its summary and changes in each phase."""
    if upgrade.whole is None:
        return {}
    whole = _changes(diff_object(tool_version, upgrade.whole))
    phases = {name: diff_object(tool_version, one) for name, one in upgrade.phases.items()}
    return whole | {name: {key: one[key] for key in ("summary", "cost", "changes")} for name, one in phases.items()}


def _changes(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in ("summary", "cost", "plan", "devices", "changes", "files")}


def _frr(release: int) -> str:
    return image_of(release).frr


def _arrow(names: Iterator[str]) -> str:
    return " → ".join(names)
