"""`buffers` of an inventory: headroom rows, pools and profiles of SKUs that ship none, and who states them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fabricgen.inventory.part import Notation, Part, key, list_of, map_of, record_of
from fabricgen.inventory.values import TEXT, ByteCount, Speed, one_of
from fabricgen.units import parse_length_m
from fabricgen.vocabulary import Role

_METRES = Notation(
    {"type": "string", "pattern": "^[0-9]{1,5}m$", "description": "A length in whole metres, for example 40m."},
    lambda node, _: int(parse_length_m(str(node.value))),
)
_ROLES = list_of(one_of(Role.LEAF.value, Role.SPINE.value, Role.CORE.value).then(Role), minItems=1)
_ROWS = map_of(
    map_of(Notation({"type": ["string", "integer"]}).then(str), minProperties=1),
    minProperties=1,
    description="Rows of CONFIG_DB by name.",
).named("buffer_rows")

Rows = Annotated[Mapping[str, Mapping[str, str]], _ROWS]


@dataclass(frozen=True, kw_only=True)
class HeadroomSpec(Part):
    """One row of headroom; the fields are those of pg_profile_lookup.ini."""

    speed_mbps: Annotated[Speed, key(name="speed", required=True)]
    cable_m: Annotated[int, key(name="cable", required=True, notation=_METRES)]
    size_bytes: Annotated[ByteCount, key(name="size", required=True)]
    xon_bytes: Annotated[ByteCount, key(name="xon", required=True)]
    xoff_bytes: Annotated[ByteCount, key(name="xoff", required=True)]
    dynamic_th: Annotated[int, key("alpha = 2^dynamic_th.", required=True, minimum=-8, maximum=7)]
    xon_offset_bytes: Annotated[ByteCount | None, key(name="xon_offset")]


@dataclass(frozen=True, kw_only=True)
class BufferTablesSpec(Part):
    """Pools, profiles and the names of the usual profiles, for switches of these roles."""

    roles: Annotated[tuple[Role, ...], key(required=True, notation=_ROLES)]
    pools: Annotated[Rows, key(required=True)]
    profiles: Annotated[Rows, key(required=True)]
    lossless_queue_profile: Annotated[str, key("Profile of lossless queues.", required=True)]
    lossy_queue_profile: Annotated[str, key("Profile of the other queues.", required=True)]
    lossy_pg_profile: Annotated[str, key("Profile of priority groups without PFC.", required=True)]
    port_profile_lists: Annotated[
        Mapping[str, str],
        key(
            "Profiles of the lists that each port has, on NVIDIA switches.",
            notation=record_of({"ingress": TEXT, "egress": TEXT}),
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class BuffersSpec(Part, definition="buffers"):
    """The buffers of one hwsku."""

    stated_by: Annotated[
        str,
        key(
            "Who states these numbers: a document of the vendor, a file with its commit, or a measurement.",
            "source",
            required=True,
            minLength=8,
        ),
    ]
    headroom: Annotated[tuple[HeadroomSpec, ...], key("Rows of headroom, as in the SKU's pg_profile_lookup.ini.")]
    tables: Annotated[tuple[BufferTablesSpec, ...], key("Pools and profiles for the roles of a switch.")]
