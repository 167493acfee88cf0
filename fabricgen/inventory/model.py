"""A whole inventory, typed and immutable: hosts, planes, management, devices, overrides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fabricgen.bundle.wiring import Checks, MaintenanceSet
from fabricgen.inventory.buffers import BuffersSpec
from fabricgen.inventory.host_models import OwnHostModel
from fabricgen.inventory.management import Management
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import (
    Notation,
    Part,
    any_of,
    by_name,
    key,
    list_of,
    map_of,
    notation_of,
    part_notation,
    record_of,
)
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.readings import Reading
from fabricgen.inventory.routing import PoolSpec
from fabricgen.inventory.tenants import TenantSpec
from fabricgen.inventory.traffic import LosslessSpec
from fabricgen.inventory.values import TEXT, Ends, Guid, Name, NumberOrText, Ports, TenantName, one_of
from fabricgen.sonic import releases
from fabricgen.sonic.release_models import release_number
from fabricgen.suppressions import Suppression
from fabricgen.vocabulary import DeviceState, LinkState, NicSettings, RdmaNames, Repair, Role

_RELEASES = (202305, 202311, 202405, 202411, 202505, 202511, 202605, releases.MASTER_WORD)
_INTEGER = notation_of(int)
_PATTERNS = {role.value: TEXT for role in (Role.LEAF, Role.SPINE, Role.CORE, Role.HOST)}


@dataclass(frozen=True, kw_only=True)
class HostGroup(Part):
    """A group of equal hosts."""

    name: str
    model: Annotated[str, key("A host model of `host_models` or of the catalog, for example dgx-h100.", required=True)]
    count: Annotated[int, key("The number of hosts.", required=True, minimum=1, maximum=1000000)]
    nic_settings: Annotated[
        NicSettings,
        key(
            "What writes the RoCE settings of the NICs: the script fabricgen-roce on each host, or NVIDIA's operator "
            "in Kubernetes, with roceOptimized or spectrumXOptimized.",
            page="what writes the RoCE settings of the NICs: `script` (fabricgen-roce), or NVIDIA's operator in "
            "[Kubernetes](hosts.md#nvidias-operators): `roce-optimized`, `spectrum-x`",
        ),
    ] = NicSettings.SCRIPT
    rdma_names: Annotated[
        RdmaNames,
        key(
            "What names the RDMA devices: the driver, as the host model has the names, or a rendered udev rule, after "
            "the NIC at each PCI address.",
            page="what names the RDMA devices: `driver`, as the host model has the names, or `nic`, a [udev rule]"
            "(hosts.md#names-of-rdma-devices) by PCI address",
        ),
    ] = RdmaNames.DRIVER


@dataclass(frozen=True, kw_only=True)
class DeviceNote(Part):
    """The facts of one switch that no plan can derive."""

    name: Annotated[Name, key("The name, which an entry with `identity` need not have.")] = ""
    identity: Annotated[str | None, key("The identity of the switch. With it, `name` renames the switch.")] = None
    platform: Annotated[str | None, key("The model of this switch, if it is not that of its tier.")] = None
    layout: Annotated[str | None, key("The layout of `platform`; the default is the first with enough ports.")] = None
    rack: Annotated[str, key()] = ""
    unit: Annotated[NumberOrText, key()] = ""
    serial: Annotated[str, key()] = ""
    mac: Annotated[str, key("For example 00:11:22:33:44:55.", pattern="^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$")] = ""
    management: Annotated[str | None, key("Management address with prefix length.")] = None
    state: Annotated[DeviceState, key()] = DeviceState.ACTIVE
    guid: Annotated[Guid, key()] = ""  # node GUID of an InfiniBand switch, as written
    ports: Annotated[Ports, key()] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LinkNote(Part):
    """The state of one link by its ends, each device:port, or of all links of a cable. Exactly one of both is given."""

    ends: Annotated[
        tuple[str, ...],
        key("Two ends, each written device:port. The device is a name or an identity.", notation=notation_of(Ends)),
    ]
    cable: Annotated[str | None, key("A cable of cabling.csv.")]
    state: Annotated[
        LinkState,
        key("cordoned: both ends are admin down, and every check counts without the link.", required=True),
    ]


@dataclass(frozen=True, kw_only=True)
class MoveNote(Part):
    """A NIC that is plugged into another port than that of the design."""

    nic: Annotated[str, key("host:nic, for example gpu-007:rail0. The host is a name or group/number.", required=True)]
    port: Annotated[
        str, key("A spare port of the same speed, switch:port. The switch is a name or an identity.", required=True)
    ]


@dataclass(frozen=True, kw_only=True)
class AdapterNote(Part):
    """The GUIDs of one NIC port of a host, as written."""

    host: Annotated[str, key("Name of the host, or its group and number, for example gpu/0.", required=True)]
    nic: Annotated[str, key("Name of the NIC port in the host model.", required=True)]
    node_guid: Annotated[Guid, key(required=True)]
    port_guid: Annotated[Guid, key(required=True)]


_SUBJECT = {
    "plane": TEXT, "role": one_of(Role.LEAF.value, Role.SPINE.value, Role.CORE.value),
    **dict.fromkeys(("subplane", "pod", "su", "rail", "number"), _INTEGER),
    "name": TEXT.but(description="A name or a shell pattern."), "platform": TEXT,
}  # fmt: skip
_NULL = Notation({"type": "null"})
_FIELD = any_of(Notation({"type": ["string", "integer", "null"]}), list_of(TEXT, minItems=1))
_ROWS = any_of(_NULL, map_of(_FIELD))


@dataclass(frozen=True, kw_only=True)
class Override(Part):
    """Rows to merge into the rendered tables of matching switches."""

    match: Annotated[
        Mapping[str, object],
        key(
            required=True,
            notation=record_of(_SUBJECT, minProperties=1).then(lambda match: dict(sorted(match.items()))),
        ),
    ]
    config_db: Annotated[
        Mapping[str, object],
        key(
            "TABLE: {key: {field: value}}. null removes a field, row or table. A key may be a shell pattern of "
            "existing keys.",
            required=True,
            notation=map_of(any_of(_NULL, map_of(_ROWS))).reading(lambda node, _: node.plain()),
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class SonicTarget(Part):
    """The SONiC release of the switches, and the tables that fabricgen owns (empty: all that it renders)."""

    release: Annotated[
        int,
        key(
            "SONiC release, or master. Newer tables and fields are not rendered.",
            notation=one_of(*_RELEASES).then(release_number),
        ),
    ] = releases.DEFAULT
    base: Annotated[
        str | None,
        key(
            "A config_db.json that provides all other tables, relative to the inventory. {name} is the name of the "
            "switch."
        ),
    ]
    owned_tables: Annotated[
        tuple[str, ...],
        key(
            "Tables, or shell patterns of tables, that fabricgen renders. All others come from `base`, or are not "
            "rendered.",
            minItems=1,
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class MaintenanceSpec(Part):
    """Switches and links that are out of service at the same time."""

    name: Annotated[str, key(required=True, pattern="\\S")]
    switches: Annotated[tuple[str, ...], key("Shell patterns of switch names.")]
    links: Annotated[tuple[str, ...], key('Shell patterns of link names of fabric.json, or of "cable NAME".')]


@dataclass(frozen=True, kw_only=True)
class ChecksSpec(Part):
    """The failures that `check` simulates."""

    failures: Annotated[
        int,
        key(
            "The largest number of links and cables that fail together. All sets up to this size are judged.",
            minimum=1,
            maximum=3,
        ),
    ] = 1
    switch_failures: Annotated[bool, key("Include failures of switches.")] = False
    min_busbw_after_failure: Annotated[
        float | None,
        key(
            "The least share of the bus bandwidth that must be left after any single failure.",
            exclusiveMinimum=0,
            maximum=1,
        ),
    ]
    repair: Annotated[Repair, key("local: the switches use fast reroute.")] = Repair.NONE
    maintenance: Annotated[
        tuple[MaintenanceSpec, ...],
        key("Sets of switches and links that are taken out of service together."),
    ]

    def checks(self) -> Checks:
        """As fabric.json has them."""
        least = self.min_busbw_after_failure
        return Checks(
            failures=self.failures,
            switch_failures=self.switch_failures,
            repair=self.repair,
            maintenance=tuple(MaintenanceSet(one.name, one.switches, one.links) for one in self.maintenance),
            min_busbw_after_failure=None if least is None else float(least),
        )


_SUPPRESSION = record_of(
    {
        "code": TEXT.but(pattern="^FG[0-9]{3}$", description="The code of a finding, for example FG512."),
        "device": TEXT.but(default="*", description="Shell pattern of switch names."),
        "path": TEXT.but(
            default="*", description="Shell pattern of TABLE|key|field, or of the dotted path of an inventory value."
        ),
        "reason": TEXT.but(pattern="\\S", description="The reason why the finding is accepted."),
        "expires": Notation({"description": "The last day on which the finding is accepted, for example 2027-01-31."}),
    },
    required=["code", "reason"],
)  # `suppressions` reads them, with those of comments


@dataclass(frozen=True, kw_only=True)
class Inventory(
    Part,
    meaning="The network of one AI cluster: hosts, planes, addresses, and values that differ from the defaults.",
):
    """A whole inventory. `digest` covers its content, but not its layout and comments."""

    version: Annotated[
        int,
        key(
            "Version of this file format.",
            "fabricgen",
            required=True,
            notation=Notation({"const": 1}),
            default=None,
            page="version of this format",
        ),
    ] = 1
    fabric: Annotated[
        Name, key("Name of the fabric.", required=True, page="name of the fabric; the lock file is bound to it")
    ] = "unnamed"
    sonic: Annotated[
        SonicTarget,
        key(
            "The SONiC release and configuration of the switches.",
            usual="`202505`, none, all",
            page="[target and ownership](#target-and-ownership)",
        ),
    ]
    checks: Annotated[
        Checks,
        key(
            "Additional checks of `fabricgen check`.",
            notation=part_notation(ChecksSpec).then(ChecksSpec.checks),
            usual="single failures",
            page="[additional failures that `check` covers](simulate-deadlock.md#maintenance-and-check)",
        ),
    ]
    suppressions: Annotated[
        tuple[Suppression, ...],
        key(
            "Accepted findings.",
            notation=list_of(_SUPPRESSION).reading(lambda *_: ()),
            page="[accepted findings](reports.md#suppressions)",
        ),
    ]
    platform_files: Annotated[
        tuple[str, ...],
        key(
            "Files with additional switch models, relative to the inventory.",
            "platforms",
            page="additional switch models, e.g. [imported ones](platforms.md#any-other-sku)",
        ),
    ]
    profiles: Annotated[
        Mapping[str, Node],
        key(
            "Additional lossless profiles, by name.",
            notation=map_of(part_notation(LosslessSpec), notation_of(Name)).reading(lambda node, _: node.mapping),
            page="additional [lossless profiles](#lossless)",
        ),
    ]
    host_models: Annotated[
        Mapping[str, OwnHostModel],
        key(
            "Additional host models, by name. They have priority over those of the catalog.",
            notation=by_name(OwnHostModel, notation_of(Name)),
            page="additional host models",
        ),
    ]
    hosts: Annotated[
        Mapping[str, HostGroup],
        key(
            "Groups of equal hosts.",
            notation=by_name(HostGroup, notation_of(Name)),
            page="groups of equal hosts; `model` is in `host_models` or in the [catalog](platforms.md#hosts), e.g. "
            "`dgx-h100`",
        ),
    ]
    planes: Annotated[
        Mapping[str, Plane],
        key(
            "Networks without common switches: compute, storage, ...",
            required=True,
            minProperties=1,
            notation=by_name(Plane, notation_of(Name)).reading(lambda *_: {}),
            page="networks without common switches",
        ),
    ]
    tenants: Annotated[
        Mapping[str, TenantSpec],
        key(
            "Tenants of the planes that have `isolation`, by name.",
            notation=by_name(TenantSpec, notation_of(TenantName)),
            page="[tenants](tenants.md) of the planes with `isolation`: hosts that reach each other and no others",
        ),
    ]
    management: Annotated[
        Management | None,
        key(page="[management network of the switches](#management); without it, management tables are not rendered"),
    ]
    names: Annotated[
        Mapping[str, str],
        key(
            "Name patterns by role, with the fields {fabric}, {plane}, {subplane}, {role}, {pod}, {su}, {rail}, "
            "{number}.",
            notation=record_of(_PATTERNS).then(lambda names: dict(sorted(names.items()))),
            usual="see below",
            page="[name patterns](#names) by role",
        ),
    ]
    buffers: Annotated[
        Mapping[str, BuffersSpec],  # by hwsku
        key(
            "Headroom rows, pools and profiles of SKUs, by hwsku, in place of those that the SKU does not have.",
            notation=by_name(BuffersSpec),
            page="[headroom rows, pools and profiles](platforms.md#stated-buffers) that a SKU does not ship",
        ),
    ]
    extends: Annotated[
        tuple[str, ...],  # empty: `layers` has read them
        key(
            "The inventory that this one changes, or a list of them: a path relative to this file.",
            notation=any_of(TEXT, list_of(TEXT)).reading(lambda *_: ()),
            page="[the inventory that this one changes](#layers), relative to this file",
        ),
    ] = ()
    links: Annotated[
        tuple[LinkNote, ...],
        key(
            "The state of single links. A link is given by its two ends, or all links of a cable by the cable.",
            page="[links out of service](#links)",
        ),
    ]
    devices: Annotated[
        tuple[DeviceNote, ...],
        key(
            "Facts about single switches, by name. They may also be in devices.csv beside the inventory.",
            page="[facts about single switches](#devices)",
        ),
    ]
    moves: Annotated[
        tuple[MoveNote, ...],
        key(
            "NICs of hosts that are plugged into spare ports.",
            page="[hosts at spare ports](#exceptions)",
        ),
    ]
    guids: Annotated[
        tuple[AdapterNote, ...],
        key(
            "GUIDs of InfiniBand adapters, one entry for each NIC port. They may also be in guids.csv beside the "
            "inventory.",
            page="GUIDs of InfiniBand adapters, one entry for each NIC port, also in "
            "[guids.csv](designs.md#tenants-and-guids)",
        ),
    ]
    overrides: Annotated[
        tuple[Override, ...],
        key(
            "Rows to merge into the rendered tables of matching switches. They are judged like all other rows.",
            page="[changes of rendered rows](#overrides)",
        ),
    ]
    digest: str = ""
    readings: Mapping[str, tuple[Reading, ...]] = field(default_factory=dict)  # by plane

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        planes = {name: Plane.in_inventory(name, child, found["profiles"]) for name, child in node.members("planes")}
        return {**found, "planes": planes}

    @property
    def pools(self) -> list[tuple[str, PoolSpec]]:
        """(purpose, pool) of all address pools."""
        pools = [
            (f"{name} of plane {plane.name}", pool)
            for plane in self.planes.values()
            if plane.addressing
            for name, pool in plane.addressing.pools.items()
        ]
        return [*pools, *([("management", self.management.addresses)] if self.management else [])]
