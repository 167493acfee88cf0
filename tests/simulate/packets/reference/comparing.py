"""Compares the packet simulator with the reference on a scenario."""

import random
from collections.abc import Mapping
from typing import Any

from tests.simulate.packets.reference.network import Network
from tests.simulate.packets.reference.scenarios import random_scenario
from tests.simulate.packets.running import outcome_of

Answer = dict[str, Any]


def of_reference(tree: Mapping[str, Any], seed: int) -> Answer:
    """What the reference counts."""
    run = Network(tree, seed).run()
    return {
        "times": run.times_ns,
        "pauses": run.pauses,
        "drops": run.drops,
        "transmissions": run.transmissions,
    }


def of_simulator(tree: Mapping[str, Any], seed: int) -> Answer:
    """The same of the simulator."""
    result = outcome_of(tree, seed)
    return {
        "times": [flow.fct_ns for flow in result.flows],
        "pauses": list(result.pfc_frames),
        "drops": result.drops,
        "transmissions": result.wire_transmissions,
    }


def shuffled(tree: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The scenario with its lists in another order."""
    draw = random.Random(seed)
    return {key: draw.sample(value, len(value)) if isinstance(value, list) else value for key, value in tree.items()}


def difference(seed: int) -> str:
    """How the two differ on the random scenario of a seed; empty if they are equal."""
    tree = random_scenario(seed)
    ours, its = of_simulator(tree, seed), of_reference(tree, seed)
    for name, value in ours.items():
        if value != its[name]:
            if isinstance(value, list):
                pairs = enumerate(zip(value, its[name], strict=False))
                first = next(((at, *pair) for at, pair in pairs if pair[0] != pair[1]), "in length")
                return f"seed {seed}: {name} differ, first {first}"
            return f"seed {seed}: {name} {value}, reference {its[name]}"
    return ""
