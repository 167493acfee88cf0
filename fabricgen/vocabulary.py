"""The closed words of the field that several rooms share. Each prints as its value: files and JSON contain plain text.

A word that belongs to one room alone is defined in that room.
"""

import enum


class Technology(enum.StrEnum):
    """What a plane, a switch or a NIC port runs. Planes are RoCE or InfiniBand; hardware is Ethernet or InfiniBand."""

    ROCE = "roce"
    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    ANY = "any"  # a generic platform


class Role(enum.StrEnum):
    """What a device is in its fabric."""

    LEAF = "leaf"
    SPINE = "spine"
    CORE = "core"
    HOST = "host"
    EXTERNAL = "external"
    UNKNOWN = ""  # loose files that do not say


class Purpose(enum.StrEnum):
    """What traffic a plane carries."""

    COMPUTE = "compute"
    STORAGE = "storage"
    IN_BAND = "in-band"
    OUT_OF_BAND = "out-of-band"


class LinkKind(enum.StrEnum):
    """The tiers that a link connects."""

    HOST_LEAF = "host-leaf"
    LEAF_SPINE = "leaf-spine"
    SPINE_CORE = "spine-core"
    PEER = "peer"  # two switches of one tier
    GLOBAL = "global"  # two groups of a dragonfly
    EXTERNAL = "external"  # a router outside the fabric
    UNKNOWN = ""  # loose files that do not say


class Medium(enum.StrEnum):
    """What a cable is made of."""

    DAC = "dac"
    AEC = "aec"
    AOC = "aoc"
    UTP = "utp"
    MMF = "mmf"
    SMF = "smf"


class DeviceState(enum.StrEnum):
    """The life cycle of a device."""

    PLANNED = "planned"
    ACTIVE = "active"
    DRAINED = "drained"
    FAILED = "failed"


class BufferModel(enum.StrEnum):
    """Who computes a switch's lossless buffers: the configuration, or buffermgrd on the switch."""

    TRADITIONAL = "traditional"
    DYNAMIC = "dynamic"


class BgpAddressing(enum.StrEnum):
    """Whether BGP sessions of a plane run between addresses or on interfaces."""

    NUMBERED = "numbered"
    UNNUMBERED = "unnumbered"


class WatchdogAction(enum.StrEnum):
    """What the PFC watchdog does with a queue in a storm."""

    DROP = "drop"
    FORWARD = "forward"
    ALERT = "alert"
