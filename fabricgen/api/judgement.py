"""What the verbs that judge share: their policy, their progress, and the findings that they return."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar

from fabricgen.api.places import InventoryPlaces
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.codes import code_names
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Location, has_errors
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.report.outcome import Outcome, Reporter
from fabricgen.report.summary import Counts
from fabricgen.results import IsolationResult
from fabricgen.suppressions import Suppression, Suppressions
from fabricgen.units import counted
from fabricgen.vocabulary import DeviceState, LinkState

if TYPE_CHECKING:
    from fabricgen.observed.opensm_dumps import Dumps
    from fabricgen.rules.view.fabric import LayoutLookup
    from fabricgen.simulate.packets.network import PacketNetwork
    from fabricgen.simulate.packets.simulation import Observer

T = TypeVar("T")
Layouts = Mapping[str, tuple[SwitchPlatform, Layout]]  # by hwsku
INVENTORY_FAMILIES = ("FG1", "FG2", "FG3", "FG5")  # of the codes of findings about an inventory


@dataclass(frozen=True)
class Policy:
    """How a project reports findings.

    `severities` sets error | warning | note | off by code. `suppressions` accept findings in addition to those of the
    inventory. With `expand`, equal findings of several devices are not grouped.
    """

    severities: Mapping[str, str] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()
    expand: bool = False


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Findings in the order of the JSON report. `codes` are the codes that were checked, found or not. `isolation` are
    the verdicts on planes with tenants, of the verbs that judge all files."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...] = ()
    counts: Counts = field(default_factory=Counts)
    codes: frozenset[str] = frozenset()
    isolation: tuple[IsolationResult, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether a finding is an error."""
        return has_errors(self.findings)


class Judged(TypedDict):
    """The fields of a `Judgement` that all verbs have."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    counts: Counts
    codes: frozenset[str]


class Progress:
    """Receives the progress of a call. This one ignores it; a program can override each method."""

    def step(self, name: str, text: str) -> None:
        """A step is complete, for example `validated`, `20 devices by 120 rules`."""

    def note(self, text: str) -> None:
        """A line for people."""

    def stage(self, label: str) -> AbstractContextManager[object]:  # noqa: ARG002 (for those who override it)
        """A context for work whose length is not known, for example `planning`."""
        return nullcontext()

    def track(self, items: Iterable[T], count: int, label: str) -> Iterable[T]:  # noqa: ARG002 (as above)
        """The items of a long step, about `count` of them, as they are made."""
        return items

    def watch(self, network: "PacketNetwork") -> "Sequence[Observer]":  # noqa: ARG002 (for those who override it)
        """Observers of a packet run."""
        return ()


DEFAULT_POLICY = Policy()
SILENT = Progress()


@dataclass
class Judging:
    """A bundle, and what the judges have found about it so far."""

    bundle: Bundle
    policy: Policy
    suppressions: Suppressions
    findings: list[Finding] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)
    rules: int = 0
    tables: dict[str, list["Dumps"]] = field(default_factory=dict)  # of InfiniBand planes

    @property
    def counts(self) -> Counts:
        """The numbers of devices, links and rules."""
        devices, links, wiring = len(self.bundle.devices), len(self.bundle.links), self.bundle.wiring
        if wiring is not None:  # switches without a config_db.json: those of subnet managers
            devices += sum(device.plane in wiring.infiniband_planes for device in wiring.devices)
            links += sum(link.plane in wiring.infiniband_planes for link in wiring.links)
        out, assumed = states(self.bundle)
        return Counts(devices, links, self.rules, out_of_service=out, as_in_service=assumed)

    def outcome(self, inventory: Path | None) -> Outcome:
        """The findings under the policy; places of inventory values are looked up in `inventory`."""
        return self.outcome_at(InventoryPlaces(self.bundle.root, inventory))

    def outcome_at(self, place_of: Callable[[str], Location], of_inventory: Sequence[Finding] = ()) -> Outcome:
        """The same, with the findings about the inventory itself."""
        reporting = Reporter(self.suppressions, self.policy.severities, self.codes, self.policy.expand, place_of)
        return reporting.outcome(self.findings, self.bundle, of_inventory)

    def judged(self, outcome: Outcome) -> Judged:
        """The result of a verb, with an outcome of its findings."""
        codes = frozenset(self.codes)
        return Judged(findings=outcome.findings, suppressed=outcome.suppressed, counts=self.counts, codes=codes)


def states(bundle: Bundle) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`out_of_service` and `as_in_service` of Counts. Only the files of drained switches and cordoned links say so."""
    if bundle.wiring is None:
        return (), ()
    given = [device.state for device in bundle.wiring.devices]
    found = {state: f"{counted(given.count(state), 'switch')} {state}" for state in DeviceState if state in given}
    links = len(bundle.wiring.cordoned)
    cordoned = (f"{counted(links, 'link')} {LinkState.CORDONED}",) if links else ()
    out = (*(found[state] for state in (DeviceState.DRAINED,) if state in found), *cordoned)
    return out, tuple(found[state] for state in (DeviceState.PLANNED, DeviceState.FAILED) if state in found)


def open_judging(
    paths: Sequence[Path], links: Path | None, lldp: Path | None, policy: Policy, neighbors: Path | None = None
) -> Judging:
    """Open a bundle or other files, with the suppressions of their inventory and of the policy."""
    bundle = open_observed(paths, links, lldp, neighbors)
    accepted = bundle.sources.suppressions if bundle.sources else ()
    return Judging(bundle, policy, Suppressions([*accepted, *policy.suppressions]))


def open_observed(
    paths: Sequence[Path], links: Path | None = None, lldp: Path | None = None, neighbors: Path | None = None
) -> Bundle:
    """Open files with the links of a links file, of LLDP and address tables, or of the files themselves."""
    if lldp is None and neighbors is None:
        return open_bundle(paths, links)
    if links is not None:
        option = "--lldp" if lldp else "--neighbors"
        raise UsageError(f"--links and {option} both define the links; give one of them")
    from fabricgen.observed.lldp import with_cables

    return with_cables(open_bundle(paths), lldp, neighbors)


def own_layouts(bundle: Bundle, platforms: Iterable[SwitchPlatform]) -> Layouts:
    """The layouts that are used before those of the catalog: of `platforms`, then of the bundle."""
    known = [*map(load_switch_platform, bundle.platform_files), *platforms]
    return {layout.hwsku: (platform, layout) for platform in known for layout in platform.layouts}


def lookup_in(own: Layouts) -> "LayoutLookup":
    """The look-up of a layout by hwsku: in `own`, then in the catalog."""
    return lambda hwsku: own.get(hwsku) or layout_by_hwsku(hwsku)


def outcome_of_inventory(
    findings: Sequence[Finding], accepted: Iterable[Suppression], place_of: Callable[[str], Location], policy: Policy
) -> Outcome:
    """The findings about an inventory, or a scenario, under the policy. Unused suppressions are not known here."""
    suppressions = Suppressions([*accepted, *policy.suppressions])
    reporting = Reporter(suppressions, policy.severities, expand=policy.expand, place_of=place_of)
    return reporting.outcome((), None, findings)


def codes_of(*families: str) -> frozenset[str]:
    """The codes of some families that are not codes of rules."""
    return frozenset(code for code in code_names() if code.startswith(families))
