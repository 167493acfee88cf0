"""Scenario files, `fabricgen-scenario/1`: a small network with its buffers, routes and flows."""

from fabricgen.simulate.scenario.balance import Balance, SprayOrder, Trimming
from fabricgen.simulate.scenario.buffers import Ecn, Scheduler, SwitchBuffers, Watchdog
from fabricgen.simulate.scenario.check import check_scenario
from fabricgen.simulate.scenario.model import (
    CongestionControl,
    Credits,
    Dcqcn,
    Flow,
    Hops,
    Link,
    LinkFailure,
    Node,
    NodeKind,
    PauseStorm,
    Pfc,
    Scenario,
    TrafficClass,
    Transport,
)
from fabricgen.simulate.scenario.read import parse_scenario, read_scenario
from fabricgen.simulate.scenario.spread_mistakes import require_one_path

__all__ = [
    "Balance", "CongestionControl", "Credits", "Dcqcn", "Ecn", "Flow", "Hops", "Link", "LinkFailure", "Node",
    "NodeKind", "PauseStorm", "Pfc", "Scenario", "Scheduler", "SprayOrder", "SwitchBuffers", "TrafficClass",
    "Transport", "Trimming", "Watchdog", "check_scenario", "parse_scenario", "read_scenario",
    "require_one_path",
]  # fmt: skip
