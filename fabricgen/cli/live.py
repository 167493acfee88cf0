"""Handoffs that also write to a server: `fabricgen handoff netbox --plan` and `--apply`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricgen.cli.options import policy_of
from fabricgen.cli.output import fail_on_option, format_option, json_text, report
from fabricgen.cli.settings import Settings, several
from fabricgen.errors import UsageError

if TYPE_CHECKING:
    from fabricgen.dcim.changes import DcimPlan

PLAN = "plan.json"
Options = Sequence[Callable[..., Any]]

connection_options = several(
    click.option(
        "--software", type=click.Choice(["netbox", "nautobot"]), default="netbox", show_default=True,
        help="The program that runs there. Its token is NETBOX_TOKEN or NAUTOBOT_TOKEN in the environment.",
    ),
    click.option("--url", metavar="URL", help="URL of the source of truth.  [default: NETBOX_URL or NAUTOBOT_URL]"),
)  # fmt: skip


@dataclass(frozen=True)
class Live:
    """The options of a handoff about its server, their names, and what runs if `is_wanted`.

    `run(settings, bundle, put, **options)` returns the exit code; `put` writes the files of the handoff, and more.
    """

    options: Options
    names: Sequence[str]
    is_wanted: Callable[[Mapping[str, Any]], bool]
    run: Callable[..., int]


def _netbox(
    settings: Settings,
    bundle: Path,
    put: Callable[[Mapping[str, bytes]], int],
    *,
    plan: bool,
    apply: bool,
    adopt_objects: bool,
    software: str,
    url: str | None,
    fmt: str,
    fail_on: str,
    site: str | None,
    only: str | None,
) -> int:
    from fabricgen.api.source_of_truth import source_of_truth
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.dcim.connecting import Software, connect
    from fabricgen.dcim.drift import plan_json, plan_lines

    if plan and apply:
        raise UsageError("choose --plan, which changes nothing, or --apply")

    def planned(found: "DcimPlan") -> None:
        put({PLAN: f"{json_text({'format_version': '1', **plan_json(found)})}\n".encode()})

    found = source_of_truth(
        bundle,
        connect(Software(software), url),
        site=site,
        only=only,
        adopt=adopt_objects,
        apply=apply,
        before=planned,
        policy=policy_of(settings),
        progress=TerminalProgress(settings),
    )
    done = "applied" if found.applied else "not applied" if apply else "planned"
    lines = [f"{software:<10}{done}", *plan_lines(found.plan)]
    own = {"source_of_truth": {"software": software, "applied": found.applied, **plan_json(found.plan)}}
    fails = "error" if found.applied and fail_on == "warning" else fail_on  # what was applied no longer differs
    return report(settings, found, verb="handoff netbox", fmt=fmt, output=None, fail_on=fails, own=own, lines=lines)


LIVE: Mapping[str, Live] = {
    "netbox": Live(
        (
            click.option("--plan", is_flag=True, help="Compare with the source of truth, and change nothing there."),
            click.option("--apply", is_flag=True, help="Make the changes. The plan is written to the folder first."),
            click.option(
                "--adopt-objects",
                is_flag=True,
                help="Take over objects of the same name. They become equal to the bundle, and are never deleted.",
            ),
            connection_options,
            format_option,
            fail_on_option,
        ),
        ("plan", "apply", "adopt_objects", "software", "url", "fmt", "fail_on"),
        lambda options: bool(options["plan"] or options["apply"]),
        _netbox,
    )
}
