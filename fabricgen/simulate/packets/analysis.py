"""Packet runs of a scenario, and of the planes of a bundle under a pattern."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import PacketsResult
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.packets.failed_link import FailedLink, PhaseMarks, effect, failure_of
from fabricgen.simulate.packets.fairness import with_victims
from fabricgen.simulate.packets.from_bundle import PlaneScenario, TrafficChoice, plane_scenario
from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.outcome import outcome
from fabricgen.simulate.packets.simulation import Finished, Observer, run
from fabricgen.simulate.packets.slicing import DEFAULT_MAX_HOPS
from fabricgen.simulate.packets.subnets import NO_SUBNETS, SubnetPlanes
from fabricgen.simulate.patterns import uses_storage
from fabricgen.simulate.plane.balance import asked_balance
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.plane.lossless import lossless_links
from fabricgen.simulate.plane.names import left_out, planes, planes_for
from fabricgen.simulate.plane.priority import judged_priority
from fabricgen.simulate.plane.reading import read_plane
from fabricgen.simulate.plane.steering import steering
from fabricgen.simulate.scenario import Scenario
from fabricgen.simulate.workload import PlacedJob
from fabricgen.vocabulary import BalanceMode, HashModel

DEFAULT_BYTES = 4 << 20
_DEFAULT_PRIORITY = 3  # of RoCE, in files without PFC
_BY_ROUTES = "hosts choose paths by lists of uSIDs, but packets follow the routes of BGP here"

Observers = Callable[[PacketNetwork], Sequence[Observer]]


def _none(_: PacketNetwork) -> Sequence[Observer]:
    return ()


@dataclass(frozen=True)
class PlaneRun:
    """The run of a plane, and the scenario that it was made from."""

    result: PacketsResult
    made: PlaneScenario


def simulate_scenario(scenario: Scenario, seed: int = 1, observers: Observers = _none) -> PacketsResult:
    """Run a scenario packet by packet. Raises UsageError for a scenario that cannot be simulated."""
    result = outcome(run(scenario, seed, observers), seed)
    if scenario.balance.mode is not BalanceMode.ECMP:
        return result  # a flow without a fixed path has no ideal time
    return with_victims(result, scenario, *from_scenario(scenario, seed))


def simulate_bundle(
    bundle: Bundle,
    pattern: str,
    size_bytes: float = DEFAULT_BYTES,
    plane: str | None = None,
    seed: int = 1,
    observers: Observers = _none,
    priorities: Sequence[int] = (),
    max_hops: int = DEFAULT_MAX_HOPS,
    subnets: SubnetPlanes = NO_SUBNETS,
    queue_pairs: int | None = None,
    hash_model: HashModel = HashModel.DEPLOYED,
    jobs: tuple[PlacedJob, ...] = (),
    balance: BalanceMode | None = None,
    failed: FailedLink | None = None,
) -> list[PlaneRun]:
    """One run per RoCE plane, with the pattern on each of `priorities` at once, by default on the first lossless one,
    and one for each of `subnets`.
    Above `max_hops` packet hops it is a slice of the hosts. Without `queue_pairs`, connections have those of the files.
    With `jobs` the planes are theirs, and `pattern` is a name for all of them. `balance` replaces the load balancing of
    RoCE planes that fabric.json has. With a link that `failed` only its plane runs. Raises UsageError for an unknown
    plane or link, if no plane can be simulated, and for a link that goes down after the traffic."""
    if jobs:
        used = {name for one in jobs for name in one.planes}
        chosen = [(name, switches) for name, switches in planes(bundle) if name in used]
    else:
        chosen = planes_for(bundle, plane, to_storage=uses_storage(pattern))
    if not chosen and not subnets.planes:
        others = left_out(bundle, plane, to_storage=uses_storage(pattern))
        reasons = {name: f"it {why}" for name, why in others.items()} | dict(subnets.left_out)
        why = "; ".join(f"plane {name}: {reason}" for name, reason in reasons.items())
        raise UsageError(f"{pattern} cannot run on these planes: {why or 'no switch has a config_db.json'}")
    if failed is not None:
        chosen = [(name, switches) for name, switches in chosen if failed.switch in switches]
        subnets = NO_SUBNETS
        if not chosen:
            raise UsageError(f"--fail: {failed.switch} is not a switch of a RoCE plane that {pattern} runs on")
    found = []
    for name, switches in chosen:
        traffic = TrafficChoice(pattern, size_bytes, seed, max_hops, queue_pairs, jobs)
        made = _plane_scenario(bundle, name, switches, traffic, priorities, hash_model, balance, failed)
        if made is not None:
            found.append(_run(made, pattern, seed, observers, failed))
    for subnet in subnets.planes:
        made = subnet.scenario(TrafficChoice(pattern, size_bytes, seed, max_hops, jobs=jobs))
        if made is not None:
            found.append(_run(made, pattern, seed, observers))
    if not found:
        raise UsageError(
            f"{pattern} sends no traffic over these planes, the files contain no hosts, or VRFs or ACLs block all pairs"
        )
    return found


def _plane_scenario(
    bundle: Bundle,
    name: str,
    switches: list[str],
    traffic: TrafficChoice,
    priorities: Sequence[int],
    hash_model: HashModel,
    balance: BalanceMode | None,
    failed: FailedLink | None,
) -> PlaneScenario | None:
    fabric = read_fabric(bundle, switches)
    priority = judged_priority(bundle, fabric, lossless_links(fabric).priorities)
    network = read_plane(bundle, fabric, name, priority, hash_model)
    if not network.adapters:
        return None
    judged = _DEFAULT_PRIORITY if priority is None else priority
    asked = asked_balance(network, balance)
    failure = failure_of(bundle, fabric, asked, failed) if failed else None
    made = plane_scenario(bundle, asked, judged, traffic, priorities or (judged,), failure)
    if made is None or balance is not None or steering(bundle, fabric) is None:
        return made
    return replace(made, reason="; ".join(filter(None, [_BY_ROUTES, made.reason])))


def _frame_ports(finished: Finished) -> list[int]:
    """The port that received each pause frame."""
    run = finished.network.run
    ports: list[int] = run.frames["port"][: int(run.clock["frames"][0])].tolist()
    return ports


def _run(
    made: PlaneScenario, pattern: str, seed: int, observers: Observers, failed: FailedLink | None = None
) -> PlaneRun:
    marks: list[PhaseMarks] = []

    def watch(network: PacketNetwork) -> Sequence[Observer]:
        marks.extend([PhaseMarks(network, failed)] if failed else [])
        return [*marks, *observers(network)]  # in this order: what is refused writes nothing

    finished = run(made.scenario, seed, watch)
    result = outcome(finished, seed)
    if not made.scenario.is_spread:
        result = with_victims(result, made.scenario, made.ports, made.flows)
    if failed is not None:
        whole = outcome(run(replace(made.scenario, failures=()), seed, _none), seed)
        result = replace(result, failure=effect(failed, result, whole, marks[0].read, _frame_ports(finished)))
    return PlaneRun(replace(result, pattern=pattern, reason=made.reason), made)
