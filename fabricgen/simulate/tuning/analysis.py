"""The tuning of one plane: the search, and the best setting on other draws."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.platforms.nccl import parse_version, splits_by_default, uses_pxn_by_default
from fabricgen.results import Confirmed, Gain, LibrarySettings, Setting, TuningResult
from fabricgen.routing.fabric import read_fabric
from fabricgen.rules.run import run
from fabricgen.simulate.bandwidth.analysis import gpus_of_node
from fabricgen.simulate.bandwidth.bus import bus_bytes
from fabricgen.simulate.packets.ensemble import interval
from fabricgen.simulate.packets.from_bundle import PlaneScenario
from fabricgen.simulate.patterns import make_job, uses_storage
from fabricgen.simulate.plane.balance import asked_balance
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.lossless import lossless_links
from fabricgen.simulate.plane.names import infiniband_planes, planes_for
from fabricgen.simulate.plane.priority import judged_priority
from fabricgen.simulate.plane.queue_pairs import Connections
from fabricgen.simulate.plane.reading import read_plane
from fabricgen.simulate.tuning.files import TunedFiles, changed_rows, present_setting
from fabricgen.simulate.tuning.measure import Item, MeasuredRun, Runner, Spread
from fabricgen.simulate.tuning.race import ROUNDS, Race, trial_of
from fabricgen.simulate.tuning.space import space_around
from fabricgen.vocabulary import BalanceMode, Goal

DEFAULT_BYTES = 4 << 20
DEFAULT_BUDGET = 400_000_000  # packet hops: about two minutes
_RUNS = 200  # that a budget allows at least: of more hops a run takes a slice of the hosts
_HOPS_OF_A_START = 50_000  # that take as long as the start of a run
_SEARCHED = 0.4  # share of the budget for the first round
BEST = "best"
SPREAD = "packets over all links"
_FEWEST, _MOST = 12, 160  # settings of the first round


@dataclass(frozen=True)
class TuningOptions:
    """`goal` is what `pattern` is tuned for, with `size_bytes` for each rank. `draws` are those of the confirmation,
    after those of the search, which begin with `seed`. `queue_pairs` are the numbers to try. `budget_hops` is about the
    number of packet hops of all runs. Two NICs have `channels`, each with the queue pairs of a setting."""

    pattern: str
    goal: Goal
    size_bytes: float = DEFAULT_BYTES
    draws: int = 12
    seed: int = 1
    queue_pairs: tuple[int, ...] = (1, 2, 4, 8)
    budget_hops: int = DEFAULT_BUDGET
    channels: int = 1


@dataclass(frozen=True)
class Tunable:
    """A plane that can be tuned: its network, the lossless priority that is judged, and the files of its switches."""

    plane: HostNetwork
    priority: int
    files: TunedFiles


def tunable_plane(bundle: Bundle, plane: str | None, pattern: str) -> tuple[Tunable, dict[str, str]]:
    """The plane with a name, or the first one that can be tuned, and why the others before it cannot be. Raises
    UsageError if no plane can be tuned."""
    to_storage = uses_storage(pattern)
    chosen = planes_for(bundle, plane, to_storage=to_storage)
    reasons = dict.fromkeys(
        infiniband_planes(bundle, plane, to_storage=to_storage), "InfiniBand has credits, and no marking thresholds"
    )
    for name, switches in chosen:
        found = _tunable(bundle, name, switches)
        if not isinstance(found, str):
            return found, reasons
        reasons[name] = found
    listed = "; ".join(f"plane {name}: {why}" if name else why for name, why in reasons.items())
    raise UsageError(f"nothing to tune: {listed or 'no switch has a config_db.json'}")


def _tunable(bundle: Bundle, name: str, switches: list[str]) -> Tunable | str:
    """The plane, or why it cannot be tuned."""
    fabric = read_fabric(bundle, switches)
    priority = judged_priority(bundle, fabric, lossless_links(fabric).priorities)
    if priority is None:
        return "no PFC: it has no lossless priority (`lossless` of the inventory)"
    network = read_plane(bundle, fabric, name, priority)
    if not network.adapters:
        return "the files contain no hosts"
    present = present_setting(bundle, switches, network.queue_pairs)
    if present is None:
        return "no queue marks with ECN: QUEUE rows need a WRED profile with `ecn`"
    return Tunable(network, priority, TunedFiles(bundle, switches, present))


def tune(bundle: Bundle, tunable: Tunable, options: TuningOptions, spread: Spread) -> TuningResult:
    """Search and confirm. The result depends on the files and the options only, not on how runs are `spread`.

    Raises UsageError if the pattern sends no traffic over the plane.
    """
    present = tunable.files.present
    runner = Runner(
        tunable.files, tunable.plane, tunable.priority, options.pattern, options.size_bytes,
        max(1, options.budget_hops // _RUNS), options.channels,
    )  # fmt: skip
    made = runner.scenario(present, options.seed)
    bus = _bus_bytes(bundle, tunable.plane, made, options)
    rate_bytes = bus or float(sum(flow.bytes for flow in made.scenario.flows))
    if options.goal is Goal.BUSBW and bus is None:
        raise UsageError(f"{options.pattern} has no bus bandwidth; use --for p99, or the pattern of a collective")
    allowed = Allowed(tunable.files)
    space, fixed = space_around(present, options.queue_pairs, allowed.refusals)
    race = Race(space, options.goal, lambda items: spread(runner, items), options.seed, rate_bytes)
    race.run([present], ROUNDS[0])
    cost = race.hops + ROUNDS[0] * _HOPS_OF_A_START
    count = int(options.budget_hops * _SEARCHED / cost)
    tried = space.sample(min(max(count, _FEWEST), _MOST), options.seed) if race.can_improve else []
    best, front = race.search(tried)
    unseen = range(race.seeds[-1] + 1, race.seeds[-1] + 1 + options.draws)
    named = {best: BEST} | {one: f"with the present {parts}" for parts, one in space.with_parts_of_present(best)}
    named.pop(present, None)
    again = _again(runner, [present, *named], unseen, spread)
    base = trial_of(present, again[present], rate_bytes)
    spreading = _spreading(runner, present, again[present], unseen, spread, options.goal, rate_bytes)
    found = [confirmed(name, one, again[one], again[present], options.goal, rate_bytes) for one, name in named.items()]
    return TuningResult(
        plane=tunable.plane.name,
        pattern=options.pattern,
        goal=options.goal,
        size_bytes=round(options.size_bytes),
        flows=len(made.scenario.flows),
        hosts=tuple(sorted({one.host for one in tunable.plane.adapters})),
        searched_seeds=race.seeds,
        unseen_seeds=tuple(unseen),
        present=base,
        confirmed=tuple(found),
        is_better=bool(found) and is_worth_it(found[0], base.faults),
        front=tuple(front),
        tried=len(race.measured),
        runs=race.runs + sum(map(len, again.values())),
        hops=race.hops + sum(one.hops for runs in again.values() for one in runs),
        has_bus=bus is not None,
        refused=dict(sorted(allowed.refused.items())),
        limits=tuple(space.limits(best)),
        fixed=fixed,
        alpha_rows=changed_rows(tunable.files, best),
        spreading=spreading,
        reason="; ".join(part for part in made.reason.split("; ") if "--max-hops" not in part),  # it has a budget
    )


def _spreading(
    runner: Runner, present: Setting, runs: Sequence[MeasuredRun], seeds: Sequence[int], spread: Spread, goal: Goal,
    rate_bytes: float,
) -> Confirmed | None:  # fmt: skip
    """The present setting if switches spread packets over all equal links; None where they do, or where no switch has
    a choice."""
    if runner.plane.is_sprayed or not runner.plane.network.links:
        return None
    sprayed = replace(runner, plane=asked_balance(runner.plane, BalanceMode.SPRAY))
    found = list(spread(sprayed, [(present, seed) for seed in seeds]))
    return confirmed(SPREAD, present, found, runs, goal, rate_bytes)


def _again(
    runner: Runner, settings: Sequence[Setting], seeds: Sequence[int], spread: Spread
) -> dict[Setting, list[MeasuredRun]]:
    """The runs of each setting, all with the same seeds."""
    items: list[Item] = [(setting, seed) for setting in settings for seed in seeds]
    found: dict[Setting, list[MeasuredRun]] = {}
    for (setting, _), one in zip(items, spread(runner, items), strict=True):
        found.setdefault(setting, []).append(one)
    return found


def _bus_bytes(bundle: Bundle, plane: HostNetwork, made: PlaneScenario, options: TuningOptions) -> float | None:
    """The bytes whose rate is the bus bandwidth of the hosts that take part; None for patterns without one."""
    taking_part = {name for flow in made.scenario.flows for name in (flow.src, flow.dst)}
    hosts = {one.host for one in plane.adapters if one.name in taking_part}
    part = replace(plane, adapters=[one for one in plane.adapters if one.host in hosts])
    job = make_job(part.adapters, seed=options.seed)
    return bus_bytes(options.pattern, job, options.size_bytes, gpus_of_node(bundle, part, job))


def library_settings(result: TuningResult, connections: Connections, bundle: Bundle) -> tuple[LibrarySettings, ...]:
    """What each library of the hosts needs for the settings that the tuning proposes, beyond its defaults in this
    version. All versions that `parse_version` knows read these variables: NCCL_IB_QPS_PER_CONNECTION since 2.10.3,
    NCCL_PXN_DISABLE 2.12.7, NCCL_IB_ADAPTIVE_ROUTING 2.16.2, NCCL_IB_SPLIT_DATA_ON_QPS 2.18."""
    proposed = result.best.trial.setting if result.best and result.is_better else result.present.setting
    models = {model.name: model for model in bundle.wiring.host_models} if bundle.wiring else {}
    of_host = {host.name: host.model for host in bundle.wiring.hosts} if bundle.wiring else {}
    ranks = sum(models[of_host[host]].gpus for host in result.hosts if of_host.get(host) in models)
    found = []
    for library in dict.fromkeys(name for _, name in connections.models):
        number = parse_version(connections.version, library)
        variables = {}
        if proposed.queue_pairs != connections.queue_pairs:
            variables["NCCL_IB_QPS_PER_CONNECTION"] = str(proposed.queue_pairs)
        if result.is_spreading_better:
            variables["NCCL_IB_ADAPTIVE_ROUTING"] = "1"
            if proposed.queue_pairs > 1 and not splits_by_default(library, number):
                variables["NCCL_IB_SPLIT_DATA_ON_QPS"] = "1"
        of_library = [model for model, name in connections.models if name == library]
        # The runs move data inside hosts to the NIC on the rail of its receiver.
        if result.pattern == "all-to-all" and not all(
            uses_pxn_by_default(library, number, model, ranks) for model in of_library
        ):
            variables["NCCL_PXN_DISABLE"] = "0"
        found.append(
            LibrarySettings(
                library, connections.version, connections.channels, proposed.queue_pairs, variables, connections.assumed
            )
        )
    return tuple(found)


# Whether the rules on lossless QoS allow a setting: they must not add findings to those of the files.

_RULES = ("FG52", "FG54")  # buffers, marking


@dataclass
class Allowed:
    """The verdicts of the rules on settings, each judged once."""

    files: TunedFiles
    _known: dict[Setting, tuple[str, ...]] = field(default_factory=dict)

    def refusals(self, setting: Setting) -> tuple[str, ...]:
        """The codes that a setting adds to those of the present files; empty if it is allowed."""
        key = replace(setting, queue_pairs=self.files.present.queue_pairs)  # no rule on switches depends on these
        if key not in self._known:
            found = self._codes(key)
            self._known[key] = tuple(sorted(code for code, count in found.items() if count > self._now[code]))
        return self._known[key]

    @property
    def refused(self) -> Counter[str]:
        """How many of the judged settings each code refuses."""
        return Counter(code for codes in self._known.values() for code in codes)

    @cached_property
    def _now(self) -> Counter[str]:
        return self._codes(self.files.present)

    def _codes(self, setting: Setting) -> Counter[str]:
        found = run(self.files.with_setting(setting), _RULES)
        return Counter(finding.code for finding in found for _ in range(finding.count))


# The best setting against the present one on draws that the search did not see.

LEAST_GAIN = 0.01  # a smaller one is not worth a change of all switches
_PER_UNIT = 1_000_000_000  # intervals are of whole numbers


def confirmed(
    name: str,
    setting: Setting,
    runs: Sequence[MeasuredRun],
    present: Sequence[MeasuredRun],
    goal: Goal,
    rate_bytes: float,
) -> Confirmed:
    """A setting with its gain over the present one; both have the runs of the same seeds, in their order."""
    costs = [_cost(one, goal) for one in present]
    scale = abs(sum(costs) / len(costs)) or 1.0
    gains = [(before - _cost(after, goal)) / scale for before, after in zip(costs, runs, strict=True)]
    found = interval("gain", [round(gain * _PER_UNIT) for gain in gains])
    median, low, high = (value / _PER_UNIT for value in (found.median_ns, found.low_ns, found.high_ns))
    return Confirmed(name, trial_of(setting, runs, rate_bytes), Gain(median, low, high, found.confidence))


def is_worth_it(best: Confirmed, present_faults: int) -> bool:
    """Whether a setting is better than the present one beyond chance and by enough, without more faults."""
    return best.gain.low > 0 and best.gain.median >= LEAST_GAIN and best.trial.faults <= present_faults


def _cost(one: MeasuredRun, goal: Goal) -> float:
    """A number that is smaller for a better run."""
    if goal is Goal.BUSBW:
        return -1 / one.time_ns
    return float(one.p99_ns if goal is Goal.P99 else one.pauses)
