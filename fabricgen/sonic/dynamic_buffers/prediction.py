"""The buffers of one switch of the dynamic model, predicted from its file.

The switch reads the size of its memory from the SAI; no public source states it. Without a figure from the platform the
prediction assumes the size of egress_lossless_pool, which is what the switch itself does if the SAI has no answer.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabricgen.engine.derived import derived
from fabricgen.physics import DEFAULT_MTU_BYTES
from fabricgen.sonic.dynamic_buffers.asics import Asic, asic_of
from fabricgen.sonic.dynamic_buffers.headroom import (
    FIRST_RELEASE,
    PredictedHeadroom,
    TrafficPattern,
    WiredPort,
    computed_headroom,
    profile_name,
)
from fabricgen.sonic.dynamic_buffers.pools import Pool, PoolSizes, Reserved, SharedHeadroom, computed_pools, total
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.port_qos import DEFINITION_TABLES, PORT_TABLES, PortRows, rows_of_ports
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.tables import ConfigDb, Row, parse_priorities
from fabricgen.units import format_length, parse_length_m, signed_number, whole_number

LOSSLESS_POOL = "ingress_lossless_pool"
_MEMORY_POOL = "egress_lossless_pool"  # its size in SONiC's templates is that of the whole memory
PREDICTED = "predicted, by SONiC's own script"  # how every output names these values
TABLES = ("DEVICE_METADATA", "PORT", "CABLE_LENGTH", *PORT_TABLES, *DEFINITION_TABLES)  # what the buffers depend on
_LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")


@dataclass(frozen=True)
class DynamicBuffers:
    """What the switch computes. `memory_source` says where `mmu_bytes` is from."""

    platform: str
    asic: Asic
    pattern: TrafficPattern
    shared: SharedHeadroom
    config: ConfigDb
    mmu_bytes: int
    memory_source: str
    release: int = MASTER

    def headroom(self, port: str) -> PredictedHeadroom | None:
        """The profile that the switch computes for a port; None without a speed or a cable length."""
        wired = self.wired_port(port)
        return self._computed(wired) if wired else None

    def wired_port(self, port: str) -> WiredPort | None:
        """What the headroom of a port depends on; None if the file does not have it."""
        row = self._ports.get(port, {})
        speed, cable_m = whole_number(text(row, "speed")), self._lengths.get(port)
        if not speed or not cable_m:
            return None
        mtu = whole_number(text(row, "mtu")) or DEFAULT_MTU_BYTES
        return WiredPort(speed, cable_m, _lanes(row), mtu)

    @derived
    def profiles(self) -> Mapping[str, tuple[PredictedHeadroom, list[str]]]:
        """Name in APPL_DB -> the computed profile and the ports that are up and use it."""
        return {
            profile_name(self.platform, wired): (self._computed(wired), ports) for wired, ports in self._wired.items()
        }

    @derived
    def _wired(self) -> Mapping[WiredPort, list[str]]:
        """Equal ports that are up and have a computed profile."""
        found: dict[WiredPort, list[str]] = {}
        for port in self._up:
            wired = self.wired_port(port)
            if wired and any(map(self._is_computed, self._rows_of(port)["BUFFER_PG"].values())):
                found.setdefault(wired, []).append(port)
        return found

    @derived
    def sizes(self) -> PoolSizes:
        """The pools of the switch."""
        return computed_pools(
            self.mmu_bytes, self.asic.cell_bytes, self.asic.descriptor_bytes, self._pools, self.reserved, self.shared
        )

    @property
    def headroom_bytes(self) -> int:
        """What lossless groups reserve together, with the headroom that they share."""
        return self.reserved.headroom_bytes + self.sizes.headroom_bytes

    @property
    def stated_pools_bytes(self) -> int:
        """The sizes of ingress pools that the file states, so that the switch does not compute them."""
        return sum(pool.size_bytes or 0 for pool in self._pools.values() if pool.direction == "ingress")

    @derived
    def longest_cable(self) -> tuple[float, str]:
        """Metres of the longest cable of a lossless group that is up, and its first port; (0, "") without any."""
        cables = ((wired.cable_m, ports[0]) for wired, ports in self._wired.items())
        return max(cables, key=lambda one: one[0], default=(0, ""))

    def with_cables_up_to(self, length_m: float) -> "DynamicBuffers":
        """The same switch with no cable longer than `length_m`."""
        lengths = {port: format_length(min(length_m, own_m)) for port, own_m in self._lengths.items()}
        return replace(self, config={**self.config, "CABLE_LENGTH": {"AZURE": lengths}})

    @derived
    def reserved(self) -> Reserved:
        """What all ports reserve that are up."""
        parts: Counter[Reserved] = Counter()
        known: dict[object, Reserved] = {}
        for port in self._up:
            held = self._rows_of(port)
            kind = (
                self.wired_port(port), _lanes(self._ports[port]),
                *(tuple((rest, self._profile_name(row)) for rest, row in held[name].items())
                  for name in ("BUFFER_PG", "BUFFER_QUEUE")),
                *(text(held[name].get("", {}), "profile_list") for name in _LISTS),
            )  # fmt: skip
            if kind not in known:
                known[kind] = self._reserved_of(port, held)
            parts[known[kind]] += 1
        return total(parts)

    def _reserved_of(self, port: str, held: PortRows) -> Reserved:
        """What one port reserves."""
        lanes, profiles, lacking, groups, own = _lanes(self._ports[port]), 0, 0, 0, 0
        for rest, row in held["BUFFER_PG"].items():
            count = len(parse_priorities(rest))
            headroom = self._headroom_of(port, row)
            if headroom:
                own += headroom.size_bytes * count
                lacking += max(0, headroom.xon_bytes + headroom.xoff_bytes - headroom.size_bytes) * count
                groups += count
            elif not self._is_computed(row):
                profiles += (self._size(self._profile_name(row)) + self.asic.lossy_group_bytes(lanes)) * count
        for rest, row in held["BUFFER_QUEUE"].items():
            profiles += self._size(self._profile_name(row)) * len(parse_priorities(rest))
        for table in _LISTS:
            for name in text(held[table].get("", {}), "profile_list").split(","):
                profiles += 0 if self._is_lossy_ingress(name) else self._size(name)
        management = self.asic.lossy_group_bytes(lanes) + self.asic.mirror_bytes
        return Reserved(profiles + own, lacking, management, int(groups > 0), groups, own)

    def _headroom_of(self, port: str, row: Row) -> PredictedHeadroom | None:
        """The lossless profile of a row of BUFFER_PG, computed or the file's own; None if it is lossy or missing."""
        if self._is_computed(row):
            return self.headroom(port)
        own = self._profiles_of_file.get(self._profile_name(row), {})
        if "xoff" not in own:
            return None
        return PredictedHeadroom(*(whole_number(text(own, field)) or 0 for field in ("xon", "xoff", "size")))

    def is_computed(self, profile: str) -> bool:
        """Whether the switch computes a profile that a row of BUFFER_PG names."""
        return profile == "NULL" or text(self._profiles_of_file.get(profile, {}), "headroom_type") == "dynamic"

    def _is_computed(self, row: Row) -> bool:
        return self.is_computed(self._profile_name(row))

    def _is_lossy_ingress(self, name: str) -> bool:
        row = self._profiles_of_file.get(name, {})
        pool = self._pools.get(reference_name(text(row, "pool")))
        return pool is not None and pool.direction == "ingress" and "xoff" not in row

    def _size(self, profile: str) -> int:
        return whole_number(text(self._profiles_of_file.get(profile, {}), "size")) or 0

    def _computed(self, wired: WiredPort) -> PredictedHeadroom:
        known = self._known
        if wired not in known:
            known[wired] = computed_headroom(
                self.asic, wired, self.pattern, shared=self.shared.is_on, release=self.release
            )
        return known[wired]

    def _rows_of(self, port: str) -> PortRows:
        return self._rows_by_port.get(port, _NO_ROWS)

    @staticmethod
    def _profile_name(row: Row) -> str:
        return reference_name(text(row, "profile"))

    @derived
    def _known(self) -> dict[WiredPort, PredictedHeadroom]:
        return {}

    @derived
    def _ports(self) -> Mapping[str, Row]:
        return rows(self.config, "PORT")

    @derived
    def _up(self) -> list[str]:
        return [port for port, row in self._ports.items() if text(row, "admin_status") == "up"]

    @derived
    def _rows_by_port(self) -> Mapping[str, PortRows]:
        return rows_of_ports(self.config)

    @derived
    def _profiles_of_file(self) -> Mapping[str, Row]:
        return rows(self.config, "BUFFER_PROFILE")

    @derived
    def _pools(self) -> Mapping[str, Pool]:
        return {
            name: Pool(text(row, "type"), whole_number(text(row, "size")), whole_number(text(row, "percentage")))
            for name, row in rows(self.config, "BUFFER_POOL").items()
        }

    @derived
    def _lengths(self) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for row in rows(self.config, "CABLE_LENGTH").values():
            for port in row:
                try:
                    found.setdefault(port, parse_length_m(text(row, port)))
                except ValueError:
                    continue  # the rules report it
        return found


_NO_ROWS: PortRows = {name: {} for name in ("BUFFER_PG", "BUFFER_QUEUE", *_LISTS)}


def predict(
    config: ConfigDb, platform: str = "", mmu_bytes: int | None = None, release: int = MASTER
) -> DynamicBuffers | None:
    """What the switch of a file computes; None if it computes nothing, or if its ASIC or a parameter is unknown, or the
    script of its release (before 202405, whose script differs).

    `platform` replaces a missing DEVICE_METADATA.platform. `mmu_bytes` is the memory of the ASIC where it is known.
    """
    metadata = rows(config, "DEVICE_METADATA").get("localhost", {})
    name = text(metadata, "platform") or platform
    asic = asic_of(name)
    pattern = _first(config, "LOSSLESS_TRAFFIC_PATTERN")
    mtu, small = (whole_number(text(pattern, field)) for field in ("mtu", "small_packet_percentage"))
    lossless_pool, memory_pool = (rows(config, "BUFFER_POOL").get(key, {}) for key in (LOSSLESS_POOL, _MEMORY_POOL))
    memory = mmu_bytes or whole_number(text(memory_pool, "size"))
    if text(metadata, "buffer_model") != "dynamic" or asic is None or mtu is None or small is None or not memory:
        return None
    if release < FIRST_RELEASE:
        return None
    ratio = signed_number(text(_first(config, "DEFAULT_LOSSLESS_BUFFER_PARAMETER"), "over_subscribe_ratio"))
    shared = SharedHeadroom(max(0, ratio or 0), whole_number(text(lossless_pool, "xoff")) or 0)
    source = "the platform's mmu_bytes" if mmu_bytes else f"assumed: the size of {_MEMORY_POOL}"
    return DynamicBuffers(name, asic, TrafficPattern(mtu, small), shared, config, memory, source, release)


def _lanes(port: Row) -> int:
    """The number of lanes of a row of PORT."""
    return text(port, "lanes").count(",") + 1


def _first(config: ConfigDb, table: str) -> Row:
    return next(iter(rows(config, table).values()), {})
