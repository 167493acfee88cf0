"""The comparison of fabrics: what each costs, what it carries, what failures and growth cost, and where each wins."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen.api.aside import render_aside
from fabricgen.api.candidates import Candidate, equal_hosts, read_candidates, write_candidate, write_candidates
from fabricgen.api.compared import DEFAULT_OPTIONS, CompareOptions, fabric_object
from fabricgen.api.growing import switches_of
from fabricgen.api.judgement import (
    DEFAULT_POLICY,
    SILENT,
    Judgement,
    Policy,
    Progress,
    open_judging,
)
from fabricgen.api.reporting import is_judged_as_it_is
from fabricgen.atomic import temporary_folder
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inventory.read_files import Layers
from fabricgen.report.outcome import Outcome

if TYPE_CHECKING:
    from fabricgen.simulate.bandwidth.analysis import BandwidthOptions
    from fabricgen.simulate.bandwidth.lost_time import FailureRates


@dataclass(frozen=True, kw_only=True)
class Comparison(Judgement):
    """`content` is the comparison, as in its JSON; empty if an inventory has errors, which are the findings."""

    content: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Source:
    """A fabric to compare: a bundle, or an inventory, which is that of a candidate if there is one."""

    name: str
    path: Path
    candidate: Candidate | None = None


@dataclass(frozen=True)
class _Refused:
    outcome: Outcome


def compare(
    sources: Sequence[Path],
    *,
    designs: str | None = None,
    gpus: int | None = None,
    platform: str | None = None,
    options: CompareOptions = DEFAULT_OPTIONS,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> Comparison:
    """Compare bundles and inventories, and candidates of `designs` for `gpus` GPUs on switches of a `platform`.

    `designs` are names as for `read_candidates`. The candidates have equal hosts and are made in memory; nothing is
    written. Raises UsageError, and UnreadableInputError for a path that does not exist.
    """
    if (designs is None) != (gpus is None):
        raise UsageError("--designs and --gpus belong together: --designs all --gpus 1024")
    if platform is not None and designs is None:
        raise UsageError("--platform is for --designs: bundles and inventories have their own switches")
    for path in sources:
        if not path.exists():
            raise UnreadableInputError("no such file or folder", Location(str(path)))
    traffic = options.bandwidth
    with temporary_folder("compare") as aside:
        given = [_Source(str(path), path) for path in dict.fromkeys(sources)]
        written, without = (
            write_candidates(aside, read_candidates(designs), gpus, platform) if designs and gpus else ({}, {})
        )
        made = [_Source(one.name, folder, one) for one, folder in written.items()]
        chosen = [*given, *made]
        if len(chosen) + len(without) < 2:
            raise UsageError("compare needs two fabrics or more: inventories, bundles, or --designs all --gpus N")
        compared = []
        for number, source in enumerate(chosen):
            found = _judged(source, aside / f"{number}", options, policy, progress)
            if isinstance(found, _Refused):
                return Comparison(findings=found.outcome.findings, suppressed=found.outcome.suppressed)
            compared.append(_with_new_layouts(found, source, aside / f"{number}", platform, made))
            progress.step("compared", source.name)
    return Comparison(findings=(), content=_content(compared, without, traffic, options.rates))


def _judged(
    source: _Source, aside: Path, options: CompareOptions, policy: Policy, progress: Progress
) -> dict[str, Any] | _Refused:
    """All results on a fabric as one object."""
    if is_judged_as_it_is(source.path):
        judging = open_judging([source.path], None, None, policy)
        if judging.bundle.wiring is None:
            raise UsageError(f"{source.path} has no fabric.json: compare counts the cables of bundles and inventories")
        return fabric_object(source.name, source.path, judging, options, progress)
    with progress.stage(f"rendering {source.name}"):
        inventory = Layers((source.path,), (), options.templates)
        rendered = render_aside(inventory, aside / "bundle", jobs=options.jobs, policy=policy)
    if not rendered.is_rendered:
        return _Refused(rendered.outcome)
    judging = open_judging([aside / "bundle"], None, None, policy)
    return fabric_object(source.name, source.path, judging, options, progress)


def _with_new_layouts(
    found: dict[str, Any], source: _Source, aside: Path, platform: str | None, made: Sequence[_Source]
) -> dict[str, Any]:
    """The object of a candidate with the layouts that `init` makes for its growth."""
    if source.candidate is None:
        return found
    growth, model = found["growth"], equal_hosts([one.candidate for one in made if one.candidate])
    for key, now in (("new_layout_switches", growth["gpus"]), ("room_switches", found["gpus"])):
        planned = growth["gpus"] if key == "room_switches" else 0
        try:
            folder = write_candidate(aside / key, source.candidate, model, now, platform, planned)
        except UsageError:
            continue  # the design has no such layout
        growth[key] = switches_of(folder, found["plane"])
    return found


def _content(
    compared: Sequence[dict[str, Any]],
    without: Mapping[str, str],
    options: "BandwidthOptions",
    rates: "FailureRates | None",
) -> dict[str, Any]:
    from fabricgen.report.compare_wins import unlike, wins

    return {
        "options": {
            "patterns": list(options.patterns), "size_bytes": options.size_bytes, "placement": options.placement,
            "seed": options.seed, "draws": options.draws, "failure_sets": options.failure_sets,
            "rates": asdict(rates) if rates else None,
        },
        "fabrics": list(compared),
        "without_layout": [{"name": name, "reason": reason} for name, reason in without.items()],
        "unlike": unlike(compared),
        "wins": wins(compared),
    }  # fmt: skip
