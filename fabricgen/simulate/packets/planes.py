"""All planes of a bundle that a pattern is for, run packet by packet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import PacketsResult
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.congestion.analysis import Options, is_meant, judged_priority
from fabricgen.simulate.congestion.plane import read_plane
from fabricgen.simulate.packets.fairness import with_victims
from fabricgen.simulate.packets.from_bundle import PlaneScenario, plane_scenario
from fabricgen.simulate.packets.network import Network
from fabricgen.simulate.packets.outcome import outcome
from fabricgen.simulate.packets.simulation import Observer, run
from fabricgen.simulate.plane.lossless import lossless_links
from fabricgen.simulate.plane.names import planes, require_plane

DEFAULT_BYTES = 4 << 20
USUAL_PRIORITY = 3  # of RoCE, in files without PFC


@dataclass(frozen=True)
class PlaneRun:
    """A plane's run and what it was made from."""

    result: PacketsResult
    made: PlaneScenario


def simulate_bundle(
    bundle: Bundle,
    pattern: str,
    size_bytes: float = DEFAULT_BYTES,
    plane: str | None = None,
    seed: int = 1,
    observers: Callable[[Network], Sequence[Observer]] = lambda _: (),
    priorities: Sequence[int] = (),
) -> list[PlaneRun]:
    """One run per RoCE plane, with the pattern on each of `priorities` at once; without any, on the first lossless one.
    Raises UsageError for an unknown plane and where nothing can be simulated."""
    options = Options(pattern, size_bytes, seed=seed)
    require_plane(bundle, plane)
    chosen = [(name, switches) for name, switches in planes(bundle) if is_meant(bundle, name, plane, options)]
    if not chosen:
        raise UsageError(f"{pattern} runs on no plane here that config_db files configure: InfiniBand is not simulated")
    found = [
        one for name, switches in chosen if (one := _simulate(bundle, name, switches, options, observers, priorities))
    ]
    if not found:
        raise UsageError(f"{pattern} sends nothing over these planes, or no file tells of any host")
    return found


def _simulate(
    bundle: Bundle,
    name: str,
    switches: list[str],
    options: Options,
    observers: Callable[[Network], Sequence[Observer]],
    priorities: Sequence[int],
) -> PlaneRun | None:
    fabric = read_fabric(bundle, switches)
    priority = judged_priority(bundle, fabric, lossless_links(fabric).priorities)
    network = read_plane(bundle, fabric, name, priority)
    if not network.adapters:
        return None
    judged = USUAL_PRIORITY if priority is None else priority
    made = plane_scenario(
        bundle, network, judged, options.pattern, options.size_bytes, options.seed, priorities or (judged,)
    )
    if made is None:
        return None
    result = outcome(run(made.scenario, options.seed, observers), options.seed)
    result = with_victims(result, made.scenario, network.ports, made.flows)
    return PlaneRun(replace(result, pattern=options.pattern, reason=made.reason), made)
