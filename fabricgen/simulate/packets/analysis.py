"""A scenario run and judged."""

from collections.abc import Callable, Sequence

from fabricgen.results import PacketsResult
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.packets.fairness import with_victims
from fabricgen.simulate.packets.network import Network
from fabricgen.simulate.packets.outcome import outcome
from fabricgen.simulate.packets.simulation import Observer, run
from fabricgen.simulate.scenario import Scenario


def simulate_scenario(
    scenario: Scenario, seed: int = 1, observers: Callable[[Network], Sequence[Observer]] = lambda _: ()
) -> PacketsResult:
    """Run a scenario packet by packet. Raises UsageError for one that cannot be simulated."""
    result = outcome(run(scenario, seed, observers), seed)
    return with_victims(result, scenario, *from_scenario(scenario))
