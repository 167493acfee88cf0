"""fabricgen for programs: render, validate, simulate, check and diff as typed functions.

Inputs are paths and typed options, results are frozen. A mistake in a file of a user is a `Finding` of the result.
Errors are subclasses of `FabricgenError`: `UsageError` for a request that cannot be fulfilled, `UnreadableInputError`
for a file that is missing or cannot be parsed. An import of this package loads no numerical library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricgen.api.checking import Check, check
    from fabricgen.api.comparison import diff, rehearse, roll_out
    from fabricgen.api.congestion import CongestionSimulation, simulate_congestion, simulate_congestion_of_scenario
    from fabricgen.api.deadlock import DeadlockSimulation, FailureOptions, simulate_deadlock
    from fabricgen.api.judgement import Judgement, Policy, Progress
    from fabricgen.api.packets import PacketSimulation, simulate_packets, simulate_packets_of_scenario
    from fabricgen.api.rendering import FileCounts, Rendering, render
    from fabricgen.api.validation import validate
    from fabricgen.vocabulary import InputForm

__all__ = [
    "Check",
    "CongestionSimulation",
    "DeadlockSimulation",
    "FailureOptions",
    "FileCounts",
    "InputForm",
    "Judgement",
    "PacketSimulation",
    "Policy",
    "Progress",
    "Rendering",
    "check",
    "diff",
    "rehearse",
    "render",
    "roll_out",
    "simulate_congestion",
    "simulate_congestion_of_scenario",
    "simulate_deadlock",
    "simulate_packets",
    "simulate_packets_of_scenario",
    "validate",
]

_MODULES = {
    "Check": "fabricgen.api.checking",
    "CongestionSimulation": "fabricgen.api.congestion",
    "DeadlockSimulation": "fabricgen.api.deadlock",
    "FailureOptions": "fabricgen.api.deadlock",
    "FileCounts": "fabricgen.api.rendering",
    "InputForm": "fabricgen.vocabulary",
    "Judgement": "fabricgen.api.judgement",
    "PacketSimulation": "fabricgen.api.packets",
    "Policy": "fabricgen.api.judgement",
    "Progress": "fabricgen.api.judgement",
    "Rendering": "fabricgen.api.rendering",
    "check": "fabricgen.api.checking",
    "diff": "fabricgen.api.comparison",
    "rehearse": "fabricgen.api.comparison",
    "roll_out": "fabricgen.api.comparison",
    "render": "fabricgen.api.rendering",
    "simulate_congestion": "fabricgen.api.congestion",
    "simulate_congestion_of_scenario": "fabricgen.api.congestion",
    "simulate_deadlock": "fabricgen.api.deadlock",
    "simulate_packets": "fabricgen.api.packets",
    "simulate_packets_of_scenario": "fabricgen.api.packets",
    "validate": "fabricgen.api.validation",
}


def __getattr__(name: str) -> object:
    """Each name is imported when it is first used, so that a verb imports only what it needs."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
