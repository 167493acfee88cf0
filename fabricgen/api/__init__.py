"""fabricgen for programs: render, validate, simulate, check and diff as typed functions.

Inputs are paths and typed options, results are frozen. A mistake in a file of a user is a `Finding` of the result.
Errors are subclasses of `FabricgenError`: `UsageError` for a request that cannot be fulfilled, `UnreadableInputError`
for a file that is missing or cannot be parsed. An import of this package loads no numerical library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricgen.api.acceptance import Acceptance, accept
    from fabricgen.api.checking import Check, check
    from fabricgen.api.compared import CompareOptions
    from fabricgen.api.comparing import Comparison, compare
    from fabricgen.api.comparison import diff, rehearse, roll_out
    from fabricgen.api.congestion import (
        CongestionRequest,
        CongestionSimulation,
        simulate_congestion,
        simulate_congestion_of_scenario,
    )
    from fabricgen.api.deadlock import DeadlockRequest, DeadlockSimulation, FailureOptions, simulate_deadlock
    from fabricgen.api.judgement import Judgement, Policy, Progress
    from fabricgen.api.packets import PacketSimulation, PacketsRequest, simulate_packets, simulate_packets_of_scenario
    from fabricgen.api.paths import PathsSimulation, simulate_paths
    from fabricgen.api.rendering import FileCounts, Rendering, render
    from fabricgen.api.reporting import Report, report
    from fabricgen.api.tune import Tuning, tune
    from fabricgen.api.validation import validate
    from fabricgen.inventory.read_files import Layers
    from fabricgen.vocabulary import InputForm

__all__ = [
    "Acceptance",
    "Check",
    "CompareOptions",
    "Comparison",
    "CongestionRequest",
    "CongestionSimulation",
    "DeadlockRequest",
    "DeadlockSimulation",
    "FailureOptions",
    "FileCounts",
    "InputForm",
    "Judgement",
    "Layers",
    "PacketSimulation",
    "PacketsRequest",
    "PathsSimulation",
    "Policy",
    "Progress",
    "Rendering",
    "Report",
    "Tuning",
    "accept",
    "check",
    "compare",
    "diff",
    "rehearse",
    "render",
    "report",
    "roll_out",
    "simulate_congestion",
    "simulate_congestion_of_scenario",
    "simulate_deadlock",
    "simulate_packets",
    "simulate_packets_of_scenario",
    "simulate_paths",
    "tune",
    "validate",
]

_MODULES = {
    "PacketsRequest": "fabricgen.api.packets",
    "DeadlockRequest": "fabricgen.api.deadlock",
    "CongestionRequest": "fabricgen.api.congestion",
    "Acceptance": "fabricgen.api.acceptance",
    "accept": "fabricgen.api.acceptance",
    "Check": "fabricgen.api.checking",
    "CompareOptions": "fabricgen.api.compared",
    "Comparison": "fabricgen.api.comparing",
    "CongestionSimulation": "fabricgen.api.congestion",
    "DeadlockSimulation": "fabricgen.api.deadlock",
    "FailureOptions": "fabricgen.api.deadlock",
    "FileCounts": "fabricgen.api.rendering",
    "InputForm": "fabricgen.vocabulary",
    "Judgement": "fabricgen.api.judgement",
    "Layers": "fabricgen.inventory.read_files",
    "PacketSimulation": "fabricgen.api.packets",
    "PathsSimulation": "fabricgen.api.paths",
    "Policy": "fabricgen.api.judgement",
    "Progress": "fabricgen.api.judgement",
    "Rendering": "fabricgen.api.rendering",
    "Report": "fabricgen.api.reporting",
    "Tuning": "fabricgen.api.tune",
    "check": "fabricgen.api.checking",
    "compare": "fabricgen.api.comparing",
    "diff": "fabricgen.api.comparison",
    "rehearse": "fabricgen.api.comparison",
    "roll_out": "fabricgen.api.comparison",
    "render": "fabricgen.api.rendering",
    "report": "fabricgen.api.reporting",
    "simulate_congestion": "fabricgen.api.congestion",
    "simulate_congestion_of_scenario": "fabricgen.api.congestion",
    "simulate_deadlock": "fabricgen.api.deadlock",
    "simulate_packets": "fabricgen.api.packets",
    "simulate_packets_of_scenario": "fabricgen.api.packets",
    "simulate_paths": "fabricgen.api.paths",
    "tune": "fabricgen.api.tune",
    "validate": "fabricgen.api.validation",
}


def __getattr__(name: str) -> object:
    """Each name is imported when it is first used, so that a verb imports only what it needs."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
