"""High-frequency telemetry: rows that stream the buffers of lossless traffic, and alarms from the same files.

Source: sonic-buildimage 4bdc0cd7, sonic-high-frequency-telemetry.yang (from release 202505 on), whose musts require a
port with a row in BUFFER_PG or BUFFER_QUEUE. It has the interval in milliseconds, the HLD (sonic-net/SONiC, doc/
high-frequency-telemetry) in microseconds: the default is moderate in both.
"""

import csv
import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_SWITCHES, Handoff, Option
from fabricgen.handoff.chosen import chosen_devices
from fabricgen.handoff.watched import Watches
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.tables import split_key
from fabricgen.units import whole_number

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice
    from fabricgen.handoff.watched import Watched

_PROFILE, _GROUP, _NAME = "HIGH_FREQUENCY_TELEMETRY_PROFILE", "HIGH_FREQUENCY_TELEMETRY_GROUP", "lossless"
_SINCE = 202505
_INTERVAL = "1000"  # one second by the model, one millisecond by the design
_PG_COUNTERS = ("CURR_OCCUPANCY_BYTES", "XOFF_ROOM_CURR_OCCUPANCY_BYTES")
_QUEUE_COUNTERS = ("CURR_OCCUPANCY_BYTES", "WRED_ECN_MARKED_PACKETS")
COLUMNS = ("device", "group", "object", "counter", "alarm_bytes", "source")


def telemetry_files(
    bundle: "Bundle", only: str | None = None, poll_interval: str = _INTERVAL, endpoint: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """(path, bytes): hft/DEVICE.json with the rows of each switch, and alarms.csv. A priority group has the alarm xoff
    on the bytes in its headroom, a queue that marks has Kmin on its length.

    Raises UsageError for an interval that is not a number, for switches before release 202505, and if no switch has
    lossless groups.
    """
    interval = whole_number(poll_interval)
    if not interval:
        raise UsageError(
            f"--poll-interval: {poll_interval!r} is not a number above 0. The YANG model has it in milliseconds and "
            "the design in microseconds: compare the times of two samples on one switch before you enable all"
        )
    watches, alarms = Watches(), []
    for device in chosen_devices(bundle, only):
        if device.known_release is not None and device.known_release < _SINCE:
            raise UsageError(f"{device.name}: {release_name(device.known_release)} has no high-frequency telemetry")
        found = list(_objects(device, watches.of(device)))
        if not found:
            continue
        profile = {"stream_state": "enabled", "poll_interval": str(interval)}
        profile |= {"otel_endpoint": endpoint} if endpoint else {}
        groups = {}
        for group, counters in (("INGRESS_PRIORITY_GROUP", _PG_COUNTERS), ("QUEUE", _QUEUE_COUNTERS)):
            names = [name for own, name, _, _ in found if own == group]
            if names:
                groups[f"{_NAME}|{group}"] = {"object_names": names, "object_counters": list(counters)}
        yield f"hft/{device.name}.json", _json({_GROUP: groups, _PROFILE: {_NAME: profile}})
        for group, name, alarm_bytes, source in found:
            counter = _PG_COUNTERS[1] if group != "QUEUE" else _QUEUE_COUNTERS[0]
            alarms.append((device.name, group, name, counter, alarm_bytes, source))
    if not alarms:
        raise UsageError("no switch has lossless priority groups with xoff, or queues that mark")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *alarms])
    yield "alarms.csv", text.getvalue().encode()


def _objects(device: "ObservedDevice", watched: "Watched") -> Iterator[tuple[str, str, int, str]]:
    """(group, object, alarm in bytes, where the file has it): the ports of both tables as the musts require."""
    buffered = {name: {split_key(key)[0] for key in device.table(name)} for name in ("BUFFER_PG", "BUFFER_QUEUE")}
    for part in watched.headrooms:
        source = "xoff" if not part.source else f"xoff, {part.source}"
        for port in part.ports:
            for number in part.groups if port in buffered["BUFFER_PG"] else ():
                yield "INGRESS_PRIORITY_GROUP", f"{port}|{number}", part.xoff_bytes, source
    for marking in watched.markings:
        for port in marking.ports:
            for number in marking.queues if port in buffered["BUFFER_QUEUE"] else ():
                yield "QUEUE", f"{port}|{number}", marking.kmin_bytes, "Kmin"


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=4) + "\n").encode()


HANDOFF = Handoff(
    "telemetry",
    "Write rows of high-frequency telemetry for lossless groups and queues, with alarms from the same files.",
    telemetry_files,
    options=(
        ONLY_SWITCHES,
        Option(
            "poll-interval", "Interval in the unit of the image: milliseconds, or microseconds.", _INTERVAL, metavar="N"
        ),
        Option("endpoint", "OpenTelemetry collector; without it, that of the switch.", metavar="HOST:PORT"),
    ),
    next_step="load {output}/hft/DEVICE.json on one switch with `config load`; the alarms are in {output}/alarms.csv",
    examples=("", "--endpoint 10.255.15.9:4318"),
)
