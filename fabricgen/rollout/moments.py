"""What is out of service on a switch during each step of its plan, and which routing the step leaves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricgen.diff.changes import Change, Op
from fabricgen.diff.step import applied
from fabricgen.diff.work import Work
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater.verdicts import is_create_only

# Tables that decide neither a route nor a session: QoS, buffers, and the services of a switch.
_SILENT = frozenset({
    "BREAKOUT_CFG", "BUFFER_PG", "BUFFER_POOL", "BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PROFILE", "BUFFER_QUEUE", "CABLE_LENGTH", "CRM", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "DEVICE_NEIGHBOR",
    "DEVICE_NEIGHBOR_METADATA", "DNS_NAMESERVER", "DSCP_TO_TC_MAP", "FEATURE", "FLEX_COUNTER_TABLE", "LOGGER",
    "LOSSLESS_TRAFFIC_PATTERN", "MAP_PFC_PRIORITY_TO_QUEUE", "MGMT_INTERFACE", "MGMT_PORT", "NTP", "NTP_SERVER",
    "PFC_WD", "PORT_QOS_MAP", "QUEUE", "SCHEDULER", "SNMP", "SNMP_COMMUNITY", "SYSLOG_SERVER",
    "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "VERSIONS", "WRED_PROFILE",
})  # fmt: skip
_SESSIONS = "BGP_NEIGHBOR"
_SILENT_FIELDS = ("holdtime", "keepalive", "name")  # of a session; it is down while they change


@dataclass(frozen=True, slots=True)
class Moment:
    """One step: the `ports` and `sessions` (keys of BGP_NEIGHBOR) that are out of service during it, all of the switch
    if it is `whole`, and the ports that are still `down` after it. `reroutes`: the routing of the switch is another one
    after the step. `done` are all changes of the plan up to this step."""

    ports: frozenset[str]
    sessions: frozenset[str]
    down: frozenset[str]
    whole: bool
    reroutes: bool
    done: Sequence[Sequence[Change]]

    def after(self, old: ConfigDb) -> ConfigDb:
        """The configuration after the step, with the ports up that are down for a batch only."""
        config: Mapping[str, Any] = applied(old, (change for changes in self.done for change in changes))
        if not self.down:
            return config
        rows = config["PORT"]
        return {**config, "PORT": {**rows, **{port: {**rows[port], "admin_status": "up"} for port in self.down}}}


def moments(work: Work) -> list[Moment]:
    """The moments of a switch: one for each step of its plan, one for a reload or a reboot."""
    steps = work.plan.steps
    if not steps:
        nothing: frozenset[str] = frozenset()
        reroutes = _reroutes(work.changes, nothing)
        return [Moment(nothing, nothing, nothing, whole=True, reroutes=reroutes, done=(work.changes,))]
    returning = frozenset(port for step in steps for port in step.down)
    found = []
    before: frozenset[str] = frozenset()
    done: list[Sequence[Change]] = []
    for step in steps:
        done = [*done, [*step.changes, *step.made]]
        down = frozenset(step.down)
        sessions = frozenset(change.key for change in step.changes if _takes_away(change, work.plan.release))
        reroutes = _reroutes(step.changes, returning)
        found.append(Moment(before | down, sessions, down, whole=False, reroutes=reroutes, done=done))
        before = down
    return found


def _takes_away(change: Change, release: int) -> bool:
    """Whether a session is down during the step: its row is removed, or removed and added again."""
    if change.table != _SESSIONS:
        return False
    removed = change.field is None and change.op is Op.REMOVE
    return removed or is_create_only(_SESSIONS, change.field, release)


def _reroutes(changes: Sequence[Change], returning: frozenset[str]) -> bool:
    """Whether routes or sessions differ after the changes, apart from ports that come back."""
    return any(_is_routing(change, returning) for change in changes)


def _is_routing(change: Change, returning: frozenset[str]) -> bool:
    if change.table == "PORT":
        return change.field in (None, "admin_status") and change.key not in returning
    if change.table == _SESSIONS and change.field in _SILENT_FIELDS:
        return False
    return change.table not in _SILENT
