"""Scenario files, `fabricgen-scenario/1`: a small network with its buffers, routes and flows."""

from fabricgen.simulate.scenario.balance import Balance, SprayOrder, TrimSettings
from fabricgen.simulate.scenario.buffers import Ecn, Scheduler, SwitchBuffers, WatchdogTimers
from fabricgen.simulate.scenario.check import check_scenario
from fabricgen.simulate.scenario.model import (
    CongestionControl,
    Credits,
    Dcqcn,
    Flow,
    Hops,
    LinkFailure,
    NodeKind,
    PauseStorm,
    Pfc,
    Scenario,
    ScenarioLink,
    ScenarioNode,
    TrafficClass,
    Transport,
)
from fabricgen.simulate.scenario.read import parse_scenario, read_scenario
from fabricgen.simulate.scenario.spread_mistakes import require_one_path

__all__ = [
    "Balance",
    "CongestionControl",
    "Credits",
    "Dcqcn",
    "Ecn",
    "Flow",
    "Hops",
    "LinkFailure",
    "NodeKind",
    "PauseStorm",
    "Pfc",
    "Scenario",
    "ScenarioLink",
    "ScenarioNode",
    "Scheduler",
    "SprayOrder",
    "SwitchBuffers",
    "TrafficClass",
    "Transport",
    "TrimSettings",
    "WatchdogTimers",
    "check_scenario",
    "parse_scenario",
    "read_scenario",
    "require_one_path",
]  # fmt: skip
