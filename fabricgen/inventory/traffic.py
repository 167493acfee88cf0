"""The traffic of a plane: lossless classes and their marking, trimming, and how switches spread packets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import (
    Notation,
    Part,
    key,
    list_of,
    map_of,
    notation_of,
    wrapped,
)
from fabricgen.inventory.profiles import DEFAULT
from fabricgen.inventory.values import (
    Bytes,
    one_of,
)
from fabricgen.vocabulary import (
    BalanceMode,
    BalanceUnit,
    WatchdogAction,
)

DEFAULT_CNP_DSCP = 48
LOSSLESS_SHARE_PERCENT = 80  # of the bandwidth that strict queues leave over, for all lossless queues together

# Adaptive routing of NVIDIA's switches selects per packet; flowlets are what Broadcom's dynamic load balancing adds.
UNIT_OF_MODE: Mapping[BalanceMode, BalanceUnit] = {
    BalanceMode.FLOWLET: BalanceUnit.FLOWLET, BalanceMode.ADAPTIVE: BalanceUnit.PACKET,
    BalanceMode.SPRAY: BalanceUnit.PACKET,
}  # fmt: skip

_DSCP = Notation({"type": "integer", "minimum": 0, "maximum": 63})


@dataclass(frozen=True, kw_only=True)
class EcnSpec(Part):
    """Marking thresholds of a 400G port, from which those of other speeds are scaled."""

    min_bytes: Annotated[Bytes | None, key(name="min")]
    max_bytes: Annotated[Bytes | None, key(name="max")]
    probability_percent: Annotated[int | None, key(name="probability", minimum=1, maximum=100)]


@dataclass(frozen=True, kw_only=True)
class WatchdogSpec(Part):
    """PFC watchdog settings. None: the lossless plan decides."""

    action: Annotated[WatchdogAction | None, key()]
    detection_ms: Annotated[int | None, key(minimum=100, maximum=5000)]
    restoration_ms: Annotated[int | None, key(minimum=100, maximum=60000)]
    poll_ms: Annotated[int | None, key(minimum=100, maximum=1000)]


@dataclass(frozen=True, kw_only=True)
class LosslessSpec(Part, definition="lossless"):
    """The lossless traffic. `classes` is priority -> DSCP values, empty on a plane without PFC."""

    profile: Annotated[
        str | None,
        key(
            "The base profile, which the other keys change: roce-lossless, roce-lossless-two-class, or one of "
            "`profiles`.",
            default=DEFAULT,
            page="the profile that the other keys change",
        ),
    ] = None
    classes: Annotated[
        Mapping[int, tuple[int, ...]],
        key(
            "Priority -> DSCP values of its traffic.",
            notation=map_of(
                wrapped("dscp", list_of(_DSCP, minItems=1), required=["dscp"]),
                Notation(
                    {"pattern": "^[0-6]$", "description": "A priority from 0 to 6. Priority 7 is for control traffic."}
                ),
                word=int,
                minProperties=1,
                maxProperties=4,
            ).then(lambda classes: dict(sorted(classes.items()))),
            usual="`3: [26]`, `4: [34]`",
            page="priority 0 to 6: its DSCPs, for up to four lossless classes; 7 is control traffic. Hosts send the "
            "first DSCP of the lowest priority (ToS of NCCL and UCX), so the order of the list counts",
        ),
    ]
    share_percent: Annotated[
        int,
        key(
            "The share of the bandwidth that all lossless queues have together, of what strict queues leave over.",
            "share",
            minimum=50,
            maximum=95,
            page="percent of the bandwidth for all lossless queues together, of what the strict queues of CNPs and "
            "control leave over; each lossless queue needs a larger weight than a lossy one (FG276, FG557)",
        ),
    ] = LOSSLESS_SHARE_PERCENT
    cnp_dscp: Annotated[
        int,
        key(
            name="cnp",
            notation=wrapped("dscp", _DSCP.but(default=DEFAULT_CNP_DSCP)),
            usual="`48`",
            page="DSCP of congestion notifications, different from those of the classes",
        ),
    ]
    ecn: Annotated[
        EcnSpec,
        key(
            "Marking thresholds of a 400G port. Those of other speeds are scaled.",
            usual="128 KiB, 256 KiB, 5 %",
            page="marking thresholds of a 400G port; other speeds are scaled",
        ),
    ]
    shared_headroom: Annotated[
        int | None,
        key(
            "Oversubscription ratio of the shared headroom pool, for switches with dynamic buffers.",
            minimum=2,
            maximum=64,
            page="oversubscription ratio of a shared headroom pool on NVIDIA switches; other switches use the value "
            "of the SKU",
        ),
    ]
    watchdog: Annotated[
        WatchdogSpec,
        key(
            usual="`drop`; times by port count",
            page="PFC watchdog: `drop`, `forward` or `alert`; 100 to 5000, 60000 and 1000 ms",
        ),
    ]

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        cnp = found["cnp_dscp"]
        return {**found, "cnp_dscp": DEFAULT_CNP_DSCP if cnp is None else cnp}


@dataclass(frozen=True, kw_only=True)
class TrimmingSpec(Part):
    """Packet trimming of a plane without PFC: the DSCP of trimmed packets, and their size."""

    dscp: Annotated[int, key("A DSCP that nothing else uses.", required=True, minimum=1, maximum=63)]
    # the default is the least size of Spectrum-4: headers of RoCE v2 over IPv6 fit
    size_bytes: Annotated[int, key("Bytes of a trimmed packet.", "size", minimum=64, maximum=9216)] = 256


_MODE = (
    notation_of(BalanceMode)
    .but(
        default=BalanceMode.ECMP.value,
        description="One path for each flow, for each flowlet, by queue depth, or for each packet.",
    )
    .named("balance_mode")
)


@dataclass(frozen=True, kw_only=True)
class BalanceSpec(Part, short="mode"):
    """How switches spread packets over equal paths. `weighted`: in proportion to the paths behind each next hop.

    Modes other than ECMP are not part of CONFIG_DB: `by_platform` states that they are configured otherwise.
    """

    mode: Annotated[
        BalanceMode,
        key(
            notation=_MODE,
            page="a path for each flow, by a hash; another one after each gap of a flow; the path with the shortest "
            "queue; another path for each packet",
        ),
    ] = BalanceMode.ECMP
    unit: Annotated[  # in the modes other than ECMP
        BalanceUnit | None,
        key(
            "Of adaptive: what keeps its path.",
            "per",
            default=BalanceUnit.PACKET.value,
            page="with `adaptive`: what keeps its path",
        ),
    ] = None
    flowlet_gap_us: Annotated[  # with flowlets; SONiC HLD doc/ARS: flowlet_idle_time of ARS_OBJECT
        int | None,
        key(
            "Idle microseconds after which a flow may change its path.",
            minimum=2,
            maximum=2047,
            default=256,
            page="with flowlets: the gap in microseconds after which a flow may change its path",
        ),
    ] = None
    weighted: Annotated[
        bool,
        key(
            "Weighted ECMP: BGP announces the number of paths behind each next hop.",
            "wcmp",
            page="weighted ECMP: `wcmp_enabled` of BGP_DEVICE_GLOBAL, from release 202411 on, with `bgp: numbered`",
        ),
    ] = False
    by_platform: Annotated[
        bool,
        key(
            "The mode is configured outside of CONFIG_DB, by means of the platform's vendor.",
            "configured_by",
            notation=one_of("platform").then(bool),
            default=None,
            page="the mode is configured outside of CONFIG_DB",
        ),
    ] = False

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        mode = found.get("mode", BalanceMode.ECMP)
        unit = UNIT_OF_MODE.get(mode)
        if mode == BalanceMode.ADAPTIVE:
            unit = found.get("unit", unit)
        gap_us = found.get("flowlet_gap_us", 256) if unit == BalanceUnit.FLOWLET else None
        return {**found, "unit": unit, "flowlet_gap_us": gap_us}
