"""Deadlock: whether lossless traffic can wait for itself in a cycle, from the configuration files only."""

from fabricgen.simulate.deadlock.analysis import PlaneDeadlock, analyse_deadlock, from_worst
from fabricgen.simulate.deadlock.failures.verdict import Failures
from fabricgen.simulate.deadlock.findings import deadlock_findings

__all__ = ["Failures", "PlaneDeadlock", "analyse_deadlock", "deadlock_findings", "from_worst"]
