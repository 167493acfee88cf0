"""Traffic moved away from a running switch for maintenance, and back.

bgpcfgd has a command for both directions, TSA and TSB. frrcfgd does not read what they write, so the rows of a route
map that permits only the loopbacks do the same: those that `state: drained` renders, under a separate name. A later
change of the switch keeps them until the switch is put back.

The rows are written as TSA writes its own, by `sonic-cfggen -a … -w`: the updater of 202405 to 202505 cannot parse the
tables and would need a reload.

Source: sonic-buildimage dockers/docker-fpm-frr/base_image_files/TSA; src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py
(PREFIX needs its PREFIX_SET, and a match of ROUTE_MAP both, when they arrive; sub_msg_handler reads rows in the order
in which they are written).
"""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..sonic.tables import ConfigDb, Table
from .frr import reads_frr_conf, with_isolation
from .restore import FRR_FILE, Device, DeviceError, put_frr, text_of

Tables = dict[str, dict[str, dict[str, Any]]]

ISOLATED = "ISOLATED"  # the route map and the prefix lists of a switch that was isolated by hand
DRAINED = "DRAINED"  # the route map that templates/sonic/bgp.json.j2 renders for `state: drained`
_SESSIONS = ("BGP_PEER_GROUP_AF", "BGP_NEIGHBOR_AF")
_DEFINITIONS = ("PREFIX_SET", "PREFIX", "ROUTE_MAP_SET", "ROUTE_MAP")  # in the order in which frrcfgd needs them
_WAIT_S, _PAUSE_S = 30, 1


def isolation(config: ConfigDb) -> Mapping[str, Table]:
    """The rows that isolate a switch of frrcfgd: a route map for its loopbacks, in place of all outbound ones. A route
    map of a drained switch stays."""
    found: Tables = {"PREFIX_SET": {}, "PREFIX": {}, "ROUTE_MAP_SET": {ISOLATED: {}}, "ROUTE_MAP": {}}
    loopbacks = [key.partition("|")[2] for key in config.get("LOOPBACK_INTERFACE", {}) if key.startswith("Loopback0|")]
    for sequence, (mode, mark) in enumerate((("IPv4", "."), ("IPv6", ":")), 1):
        if prefixes := sorted(prefix for prefix in loopbacks if mark in prefix):
            name = f"{ISOLATED}-{mode}"
            found["PREFIX_SET"][name] = {"mode": mode}
            found["PREFIX"] |= {f"{name}|{prefix}|exact": {"action": "permit"} for prefix in prefixes}
            permitted = {"match_prefix_set": name, "route_operation": "permit"}
            found["ROUTE_MAP"][f"{ISOLATED}|{sequence}0"] = permitted
    for table in _SESSIONS:
        rows = {
            key: {"route_map_out": [ISOLATED]}
            for key, row in config.get(table, {}).items()
            if ("route_map_out" in row or table == _SESSIONS[0]) and _outbound(row) != [DRAINED]
        }
        found |= {table: rows} if rows else {}
    return {table: rows for table, rows in found.items() if rows} if any(map(found.get, _SESSIONS)) else {}


def is_isolated(config: ConfigDb) -> bool:
    """Whether a switch of frrcfgd was isolated by hand."""
    return next(_isolated(config), None) is not None


def _isolated(config: ConfigDb) -> Iterator[tuple[str, str]]:
    """(table, key) of the sessions with our route map."""
    for table in _SESSIONS:
        for key, row in config.get(table, {}).items():
            if _outbound(row) == [ISOLATED]:
                yield table, key


def _outbound(row: Mapping[str, Any]) -> list[str]:
    given = row.get("route_map_out", [])
    return [given] if isinstance(given, str) else list(given)


def move(device: Device, rendered: ConfigDb, frr_file: Path = Path(FRR_FILE), *, away: bool, check: bool) -> bool:
    """Move the traffic away from the switch, or back to it, and save that for the next boot, for which a VTEP has
    `frr_file`. Returns whether that was or, with `check`, would be a change. Raises DeviceError."""
    with device.locked():
        if device.pending():
            raise DeviceError(
                "a change of the switch was interrupted: complete it with apply.yml, or wait for its timer"
            )
        running = device.running()
        uses_framework = _localhost(running).get("frr_mgmt_framework_config") == "true"
        was_away = is_isolated(running) if uses_framework else _has_shifted(running)
        if was_away == away:
            return False
        if uses_framework and not away:
            _refuse_a_drained_file(rendered)
        if not check:
            (_move_framework if uses_framework else _shift)(device, running, rendered, away)
            if reads_frr_conf(running) and (frr_conf := text_of(frr_file)) is not None:
                rows = isolation(running) if away else {}
                put_frr(frr_file, with_isolation(frr_conf, running, rows).encode())
            device.run("config", "save", "-y")
        return True


def _localhost(config: ConfigDb) -> Mapping[str, Any]:
    return config.get("DEVICE_METADATA", {}).get("localhost", {})


def _has_shifted(config: ConfigDb) -> bool:
    return config.get("BGP_DEVICE_GLOBAL", {}).get("STATE", {}).get("tsa_enabled") == "true"


def _shift(device: Device, _running: ConfigDb, _rendered: ConfigDb, away: bool) -> None:
    command = "TSA" if away else "TSB"
    device.run(command)
    if _has_shifted(device.running()) != away:
        raise DeviceError(f"{command} did not change tsa_enabled of BGP_DEVICE_GLOBAL|STATE")


def _refuse_a_drained_file(rendered: ConfigDb) -> None:
    drained = [
        key for table in _SESSIONS for key, row in rendered.get(table, {}).items() if _outbound(row) == [DRAINED]
    ]
    if drained:
        raise DeviceError("the file of this switch drains it: set its state to active, render, and run apply.yml")


def _move_framework(device: Device, running: ConfigDb, rendered: ConfigDb, away: bool) -> None:
    rows = isolation(running)
    sessions = list(_isolated(running))
    if away:
        if not rows:
            raise DeviceError("the switch has no address family of a BGP session that a route map could isolate")
        _write(device, {table: rows[table] for table in _DEFINITIONS if table in rows})
        _write(device, {table: rows[table] for table in _SESSIONS if table in rows})
    else:
        for table, key in sessions:
            wanted = rendered.get(table, {}).get(key, {}).get("route_map_out")
            if wanted:
                _write(device, {table: {key: {"route_map_out": wanted}}})
            else:
                device.run("sonic-db-cli", "CONFIG_DB", "HDEL", f"{table}|{key}", "route_map_out@")
        for table in reversed(_DEFINITIONS):
            for key in running.get(table, {}):
                if key.split("|")[0] in (ISOLATED, f"{ISOLATED}-IPv4", f"{ISOLATED}-IPv6"):
                    device.run("sonic-db-cli", "CONFIG_DB", "DEL", f"{table}|{key}")
    _await_frr(device, {key.split("|")[1] for _, key in list(_isolated(device.running())) or sessions}, away)


def _write(device: Device, rows: ConfigDb) -> None:
    device.run("sonic-cfggen", "-a", json.dumps(rows), "-w")


def _await_frr(device: Device, peers: set[str], away: bool) -> None:
    """Until FRR has the route map at these neighbors and peer groups, or has it no longer."""
    end = time.monotonic() + _WAIT_S
    while True:
        lines = {line.strip() for line in device.run("vtysh", "-c", "show running-config").splitlines()}
        with_map = {peer for peer in peers if f"neighbor {peer} route-map {ISOLATED} out" in lines}
        defined = any(line.startswith(f"route-map {ISOLATED} permit ") for line in lines)
        if (with_map == peers and defined) if away else not with_map:
            return
        if time.monotonic() > end:
            wrong = ", ".join(sorted(peers - with_map if away else with_map)) or ISOLATED
            state = "has no" if away else "still has the"
            raise DeviceError(f"after {_WAIT_S} s FRR {state} outbound route map {ISOLATED} for {wrong}")
        time.sleep(_PAUSE_S)
