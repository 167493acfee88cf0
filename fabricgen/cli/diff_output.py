"""The output of a comparison of rows or of cables, in each format of `fabricgen diff`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen import __version__
from fabricgen.cli.output import json_text
from fabricgen.cli.settings import Settings
from fabricgen.cli.streams import write

if TYPE_CHECKING:
    from fabricgen.diff.cables import CableDifference
    from fabricgen.diff.difference import Difference


def rows(difference: "Difference", fmt: str, color: bool) -> str:
    """text | json | markdown."""
    if fmt == "json":
        from fabricgen.report.diff_json import diff_object

        return json_text(diff_object(__version__, difference))
    if fmt == "markdown":
        from fabricgen.report.diff_markdown import diff_markdown

        return diff_markdown(difference)
    from fabricgen.report.diff_text import diff_text

    return diff_text(difference, color)


def invalid_targets(settings: Settings, difference: "Difference") -> bool:
    """Report what is not valid in the new configurations, on standard error; whether there is anything."""
    from fabricgen.diff.target_findings import target_findings
    from fabricgen.report.formats.concise import concise_report

    if findings := target_findings(difference):
        settings.say(concise_report(findings).rstrip())
        settings.say("the target is not valid: the switches load neither the patches nor the files")
    return bool(findings)


def cables(difference: "CableDifference", fmt: str, color: bool) -> str:
    """text | json | markdown."""
    from fabricgen.report.diff_cables import cables_markdown, cables_object, cables_text

    if fmt == "json":
        return json_text(cables_object(__version__, difference))
    return cables_markdown(difference) if fmt == "markdown" else cables_text(difference, color)


def write_order(old: Path, difference: "CableDifference", file: Path | None) -> None:
    """Write the work order of the cables that differ, if a file for it is given."""
    if file is not None:
        from fabricgen.bundle.read import open_bundle
        from fabricgen.handoff.work_order import write_work_order

        write_work_order(file, open_bundle([old]), difference.miscablings)


def plans(
    settings: Settings, difference: "Difference", output: Path | None, *, safe: bool
) -> tuple[Mapping[str, Any] | None, bool]:
    """The plans as one object, and their text on standard error; with `output`, files and the text instead. Also
    whether no safe order was found."""
    from fabricgen.api.comparison import roll_out
    from fabricgen.atomic.folder import write_files
    from fabricgen.report.formats.concise import concise_report
    from fabricgen.report.plan_json import plan_files, plan_object
    from fabricgen.report.plan_text import plan_text
    from fabricgen.rollout.findings import rollout_findings

    rollout = roll_out(difference, safe=safe)
    findings = rollout_findings(difference, rollout)
    plan = plan_object(__version__, difference, rollout, findings)
    text = plan_text(difference, rollout)
    if findings:
        settings.say(concise_report(findings).rstrip())
    if output is None:
        settings.say(text)
        return plan, bool(findings)
    write_files(output, plan_files(plan))
    write(text, wraps=True)
    return None, bool(findings)


def patches(settings: Settings, difference: "Difference", output: Path | None) -> Mapping[str, Any] | None:
    """The patches as one object; with `output`, a file for each device instead."""
    from fabricgen.atomic.folder import write_files
    from fabricgen.diff.counts import count
    from fabricgen.report.diff_json import patch_files, patch_object
    from fabricgen.report.diff_words import patch_lines
    from fabricgen.units import counted

    counts = count(difference)
    for line in patch_lines(counts):
        settings.say(line)
    if counts.withheld:
        secrets = counted(counts.withheld, "change")
        settings.say(f"{secrets} of secrets are not in the patches: copy them to the switches from your secret store")
    for device in difference.changed:
        if device.work.problem:
            settings.say(f"no patch for {device.name}: {device.work.problem}; see --format plan")
    if output is None:
        return patch_object(__version__, difference, counts)
    write_files(output, patch_files(difference))
    return None
