"""Lossless QoS: equal definitions and equal port settings are one object, which is judged once.

A fabric of thousands of ports has a handful of distinct QoS settings. `QosTables` is one distinct set of maps, pools,
profiles and schedulers with the switches that carry it; `PortClass` is one distinct set of port rows on top of one such
set, with the ports that have it.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from fabricgen.bundle.wiring import WiredPlane
from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.physics import dynamic_threshold_bytes
from fabricgen.platforms.model import BufferDefaults, Layout, SwitchPlatform
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.view.fabric import End, far_end
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL
from fabricgen.sonic.port_qos import PortQos
from fabricgen.sonic.tables import Row, Table, format_ranges, parse_priorities
from fabricgen.units import signed_number

_LARGEST_EXPONENT = 64  # of a dynamic threshold; the schema allows -8 to 8


@dataclass(eq=False)
class QosTables:
    """One distinct set of QoS and buffer definitions, and the switches that carry it."""

    tables: Mapping[str, Table]
    plane: WiredPlane | None
    platform: SwitchPlatform | None
    layout: Layout | None
    role: str
    buffer_role: str  # whose buffers of the SKU count
    is_dynamic: bool
    switches: list[Switch] = field(default_factory=list)

    @property
    def is_lossy(self) -> bool:
        """Whether no class of the switches' network is lossless."""
        return self.switches[0].is_lossy

    @property
    def is_management(self) -> bool:
        """Whether the switches belong to a plane for management traffic."""
        return self.plane is not None and self.plane.is_management

    @derived
    def defaults(self) -> BufferDefaults | None:
        """The buffer defaults of the SKU's own template for this role; None for a switch with the traditional model
        whose SKU has those of the dynamic model (FG225)."""
        if self.platform and self.platform.buffer_model == "dynamic" and not self.is_dynamic:
            return None
        return self.layout.buffers.get(self.buffer_role) if self.layout else None

    @derived
    def headroom_keys(self) -> Collection[tuple[int, int]]:
        """(Mb/s, metres) of each row of the SKU's headroom table; empty if none is known or the model is dynamic."""
        return self.layout.headroom_by_key.keys() if self.layout and not self.is_dynamic else ()

    def row(self, table: str, key: str) -> Row:
        """A definition's fields; empty if it is missing."""
        row = self.tables[table].get(key)
        return row if isinstance(row, dict) else {}

    def is_lossless_pg_profile(self, name: str) -> bool:
        """Whether a PG's profile keeps headroom: computed by the switch (NULL), or with an XOFF mark."""
        return name == "NULL" or name.startswith("pg_lossless_") or "xoff" in self.row("BUFFER_PROFILE", name)

    def is_lossless_queue_profile(self, name: str) -> bool:
        """Whether a queue's profile never drops because of a shared buffer limit."""
        if self.defaults:
            return name == self.defaults.lossless_queue_profile
        return name.startswith("egress_lossless")

    def pause_threshold_bytes(self, profile: str) -> float | None:
        """The size at which a single lossless PG pauses its sender; None if the switch computes it."""
        row = self.row("BUFFER_PROFILE", profile)
        size = number(self.row("BUFFER_POOL", str(row.get("pool"))).get("size"))
        exponent = signed_number(row.get("dynamic_th"))
        if size is None or exponent is None or abs(exponent) > _LARGEST_EXPONENT:
            return number(row.get("static_th"))
        return dynamic_threshold_bytes(size, exponent)

    def defects(
        self,
        table: str,
        key: str,
        name: str,
        message: str,
        hint: str = "",
        related: tuple[tuple[str, str, str], ...] = (),
        severity: Severity | None = None,
    ) -> Iterator[Defect]:
        """The same defect on every switch that carries these definitions. `related`: text, table, key."""
        for switch in self.switches:
            others = tuple((text, switch.place(other, row)) for text, other, row in related)
            yield Defect(switch.place(table, key, name), message, hint, others, severity)


@dataclass(eq=False)
class PortClass(PortQos):
    """One distinct set of QoS rows of a port, and the ports that have it. `end` is None for ports without a cable."""

    qos: QosTables
    members: list[tuple[Switch, str, End | None]] = field(default_factory=list)

    @property
    def is_wired(self) -> bool:
        """Whether the ports have cables; a class never mixes the two."""
        return self.members[0][2] is not None

    @property
    def is_external(self) -> bool:
        """Whether the cables lead out of the fabric, where no PFC is used; a class never mixes the two."""
        end = self.members[0][2]
        return end is not None and end.far_role == OUTSIDE_ROLE

    @property
    def is_used(self) -> bool:
        """Whether the port carries traffic: it has a cable or priorities with PFC."""
        return self.is_wired or bool(self.pfc)

    @property
    def idle_severity(self) -> Severity | None:
        """WARNING for a fault without effect until somebody uses the ports: they have no cable and are down."""
        is_idle = not self.is_wired and all(
            switch.device.text_of("PORT", port, "admin_status") == "down" for switch, port, _ in self.members
        )
        return Severity.WARNING if is_idle else None

    @derived
    def lossless_pgs(self) -> frozenset[int]:
        """The priority groups that keep headroom."""
        found = self.profiles("BUFFER_PG").items()
        return frozenset(pg for pg, (_, profile) in found if self.qos.is_lossless_pg_profile(profile))

    @derived
    def made_pgs(self) -> frozenset[int]:
        """The priority groups that have no row, and that buffermgrd of the traditional model binds to headroom: those
        of pfc_enable. It needs the lossless pool; the length of the cable and the SKU's table are judged by port."""
        if self.qos.is_dynamic or "mode" not in self.qos.row("BUFFER_POOL", LOSSLESS_POOL):
            return frozenset()
        bound = self.profiles("BUFFER_PG").keys()
        runs = map(parse_priorities, format_ranges(self.pfc))  # a row for each run of numbers
        return frozenset(number for run in runs if not run & bound for number in run)

    @derived
    def lossless_queues(self) -> frozenset[int]:
        """The queues with the lossless egress profile."""
        found = self.profiles("BUFFER_QUEUE").items()
        return frozenset(queue for queue, (_, profile) in found if self.qos.is_lossless_queue_profile(profile))

    @derived
    def lossless(self) -> frozenset[int]:
        """The expected lossless priorities: those of the plane, which may be none; without fabric.json
        those that most of PFC, groups, queues and watchdog have; none on ports that lead out of the fabric."""
        if self.is_external:
            return frozenset()
        if self.qos.plane:
            return frozenset(self.qos.plane.lossless)
        said = [self.pfc, self.lossless_pgs | self.made_pgs, self.lossless_queues, self.watchdog]
        return max(said, key=lambda one: (said.count(one), bool(one)))  # of two, the one that needs more

    def group_of(self, priority: int) -> int:
        """The priority group of a lossless class: the one that most of its maps and its own number give."""
        return _agreed(self.tc_to_pg.get(priority), self.pfc_to_pg.get(priority), priority)

    def queue_of(self, priority: int) -> int:
        """The queue of a lossless class, found in the same way."""
        return _agreed(self.tc_to_queue.get(priority), self.pfc_to_queue.get(priority), priority)

    @derived
    def used_queues(self) -> Mapping[int, int]:
        """Queue -> a TC that it carries, for the TCs that a DSCP maps to."""
        tcs = sorted(set(self.dscp_to_tc.values()), reverse=True)
        return {self.tc_to_queue[tc]: tc for tc in tcs if tc in self.tc_to_queue}

    def defects(
        self,
        table: str,
        rest: str,
        name: str,
        message: str,
        hint: str = "",
        related: tuple[tuple[str, str, str], ...] = (),
        severity: Severity | None = None,
    ) -> Iterator[Defect]:
        """The same defect on every port of the class. `related` lists definitions of the same switch; for a setting
        that both ends of a link must share, the far end is shown as well."""
        for switch, port, end in self.members:
            others = tuple((text, switch.place(other, key)) for text, other, key in related)
            others += far_end(end, table) if end and table == "PORT_QOS_MAP" else ()
            yield Defect(port_place(switch, table, port, rest, name), message, hint, others, severity)


def _agreed(*votes: int | None) -> int:
    """The most frequent vote; the last one if there is a tie."""
    cast = [vote for vote in votes if vote is not None]
    return max(reversed(cast), key=cast.count)


def port_place(switch: Switch, table: str, port: str, rest: str, name: str = "") -> Place:
    """The row of a port, even if an old file lists several ports in one key."""
    rows = switch.device.table(table)
    key = f"{port}|{rest}" if rest else port
    if key not in rows:
        shared = (k for k in rows if "," in k and port in k.split("|")[0].split(",") and k.partition("|")[2] == rest)
        key = next(shared, key)
    return switch.place(table, key, name)


def priorities(numbers: frozenset[int]) -> str:
    """{3, 4} to '3,4', and the empty set to 'none'."""
    return ",".join(map(str, sorted(numbers))) or "none"
