"""fabricgen for programs: render, validate, simulate, check and diff as typed functions.

Inputs are paths and typed options, results are frozen. A mistake in a file of a user is a `Finding` of the result.
Errors are subclasses of `FabricgenError`: `UsageError` for a request that cannot be fulfilled, `UnreadableInputError`
for a file that is missing or cannot be parsed. An import of this package loads no numerical library.
"""

from fabricgen.api.checking import Check, check
from fabricgen.api.comparison import diff, rehearse
from fabricgen.api.congestion import CongestionSimulation, simulate_congestion, simulate_congestion_of_scenario
from fabricgen.api.deadlock import DeadlockSimulation, FailureOptions, simulate_deadlock
from fabricgen.api.judgement import Judgement, Policy, Progress
from fabricgen.api.packets import PacketSimulation, simulate_packets, simulate_packets_of_scenario
from fabricgen.api.rendering import FileCounts, Rendering, render
from fabricgen.api.validation import validate
from fabricgen.observed.running import InputForm

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
    "simulate_congestion",
    "simulate_congestion_of_scenario",
    "simulate_deadlock",
    "simulate_packets",
    "simulate_packets_of_scenario",
    "validate",
]
