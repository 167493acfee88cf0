"""Scenario files, `fabricgen-scenario/1`: a small network with its buffers, routes and flows."""

from fabricgen.simulate.scenario.check import check_scenario
from fabricgen.simulate.scenario.model import (
    CongestionControl,
    Credits,
    Dcqcn,
    Ecn,
    Flow,
    Link,
    LinkFailure,
    Node,
    NodeKind,
    PauseStorm,
    Pfc,
    Scenario,
    Scheduler,
    SwitchBuffers,
    TrafficClass,
    Transport,
    Watchdog,
)
from fabricgen.simulate.scenario.read import parse_scenario, read_scenario

__all__ = [
    "CongestionControl", "Credits", "Dcqcn", "Ecn", "Flow", "Link", "LinkFailure", "Node", "NodeKind", "PauseStorm",
    "Pfc", "Scenario", "Scheduler", "SwitchBuffers", "TrafficClass", "Transport", "Watchdog", "check_scenario",
    "parse_scenario", "read_scenario",
]  # fmt: skip
