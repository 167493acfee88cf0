"""A switch of a bundle for rules: what many of them use, derived once."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from fabricgen.bundle.read import ObservedDevice
from fabricgen.engine.derived import derived, forget
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.rules.defects import Place
from fabricgen.rules.view.addresses import HeldAddress, held_address
from fabricgen.sonic.device_types import OUTSIDE_ROLE, OUTSIDE_TYPE, ROLES, SERVER_TYPE, buffer_role
from fabricgen.sonic.tables import Row, channel_of, vlans_of
from fabricgen.units import whole_number
from fabricgen.vocabulary import DeviceState

ADDRESS_TABLES = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE")
UNTAGGED = "untagged"  # tagging_mode of VLAN_MEMBER
_QOS_TABLES = ("PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "QUEUE", "BUFFER_PG", "WRED_PROFILE", "PFC_WD")
Network = tuple[str, int, bool]  # plane, part, is_lossy: see Switch.network


Model = tuple[SwitchPlatform, Layout]


class OfFabric(Protocol):
    """What a switch has by its fabric."""

    @property
    def parts(self) -> Mapping[str, int]:
        """See `Switch.part`."""

    @property
    def lossy(self) -> Collection[str]:
        """See `Switch.is_lossy`."""

    def model_of(self, device: ObservedDevice) -> Model | None:
        """See `Switch.model`."""


def number(text: object) -> int | None:
    """The value of a decimal string; None for anything else. The schema rules report other values."""
    return _number(text) if type(text) is str else whole_number(text)


@lru_cache(maxsize=1 << 14)  # most numbers of a fabric are one of a few
def _number(text: str) -> int | None:
    return whole_number(text)


@dataclass(eq=False)
class Switch:
    """One switch with the properties that many rules use."""

    device: ObservedDevice
    fabric: OfFabric = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the device."""
        return self.device.name

    @property
    def of_switch(self) -> str:
        """Values of a switch are derived from its own tables first: see `derived`."""
        return self.device.name

    @derived
    def model(self) -> Model | None:
        """The platform and the layout of its HwSKU, with its ports as they are in its file; None if unknown."""
        return self.fabric.model_of(self.device)

    @derived
    def platform(self) -> SwitchPlatform | None:
        """The platform of its HwSKU."""
        return self.model[0] if self.model else None

    @derived
    def layout(self) -> Layout | None:
        """The layout of its HwSKU, with its ports as they are in its file."""
        return self.model[1] if self.model else None

    @derived
    def is_lossy(self) -> bool:
        """Whether no class of its network is lossless."""
        return self.name in self.fabric.lossy

    @property
    def has_qos(self) -> bool:
        """Whether the file has any row of QoS. Labs of routing have none, so nothing of theirs has a wrong class."""
        return any(map(self.device.table, _QOS_TABLES))

    @derived
    def part(self) -> int:
        """For loose files, the number of the network that cables form; 0 without such cables."""
        return self.fabric.parts.get(self.name, 0)

    @derived
    def role(self) -> str:
        """leaf | spine | core; "" if neither fabric.json nor the type defines it."""
        wired = self.device.wired
        return wired.role if wired else ROLES.get(self.type, "")

    @derived
    def buffer_role(self) -> str:
        """The role whose buffers of the SKU it has: SONiC selects them by the type."""
        return buffer_role(self.type, self.role)

    def declared_role(self, neighbor: str) -> str:
        """The role of a neighbour by DEVICE_NEIGHBOR_METADATA: leaf | spine | core | host | external, or ""."""
        found = self.device.text_of("DEVICE_NEIGHBOR_METADATA", neighbor, "type")
        return {SERVER_TYPE: "host", OUTSIDE_TYPE: OUTSIDE_ROLE}.get(found) or ROLES.get(found, "")

    @derived
    def plane(self) -> str:
        """Plane by fabric.json, or ""."""
        return self.device.wired.plane if self.device.wired else ""

    @property
    def is_drained(self) -> bool:
        """Whether fabric.json says that the switch carries no traffic of hosts for the time being."""
        return self.device.wired is not None and self.device.wired.state == DeviceState.DRAINED

    @property
    def is_in_service(self) -> bool:
        """Whether fabric.json says that the switch carries traffic: it is not planned, drained or failed."""
        return self.device.wired is None or self.device.wired.state == DeviceState.ACTIVE

    @property
    def network(self) -> Network:
        """What comparable switches have in common: the plane, the network that cables form if no plane is known, and
        whether the network has no PFC."""
        return self.plane, self.part, self.is_lossy

    @derived
    def hwsku(self) -> str:
        """DEVICE_METADATA.hwsku."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "hwsku")

    @derived
    def type(self) -> str:
        """DEVICE_METADATA.type."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "type")

    @derived
    def port_set(self) -> str:
        """The name of its layout: the planned one of fabric.json, else that of the ports in its file; "" if unknown."""
        wired = self.device.wired
        return wired.layout if wired else self.layout.name if self.layout else ""

    @derived
    def is_dynamic(self) -> bool:
        """Whether buffermgrd computes the buffers (dynamic model)."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "buffer_model") == "dynamic"

    @derived
    def asn(self) -> str:
        """DEVICE_METADATA.bgp_asn."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "bgp_asn")

    def place(self, table: str, key: str = "", field: str = "") -> Place:
        """A place in this switch's file."""
        return Place(self.device, table, key, field)

    def speed_mbps(self, port: str) -> int | None:
        """PORT.speed."""
        return number(self.device.row("PORT", port).get("speed"))

    @derived
    def port_rows(self) -> Mapping[str, Row]:
        """The rows of PORT."""
        return self.device.table("PORT")

    @derived
    def _row_of_cable(self) -> Mapping[str, str]:
        """Port -> the key of the first row of CABLE_LENGTH that has it."""
        found: dict[str, str] = {}
        for key, row in self.device.table("CABLE_LENGTH").items():
            for port in row:
                found.setdefault(port, key)
        return found

    def cable_row(self, port: str) -> str:
        """The key of the row of CABLE_LENGTH that has a port, else of the first row, usually AZURE."""
        return self._row_of_cable.get(port) or next(iter(self.device.table("CABLE_LENGTH")), "AZURE")

    def cable_text(self, port: str) -> str:
        """CABLE_LENGTH of a port, or ""."""
        return self.cable_texts.get(port, "")

    @derived
    def cable_texts(self) -> Mapping[str, str]:
        """Port -> its text in the first row of CABLE_LENGTH that has it."""
        return {port: self.device.text_of("CABLE_LENGTH", key, port) for port, key in self._row_of_cable.items()}

    @derived
    def addresses(self) -> tuple[HeldAddress, ...]:
        """Every address of an interface, a VLAN, a port channel and a loopback; other values are left out."""
        return tuple(
            held
            for table in ADDRESS_TABLES
            for key in self.device.table(table)
            if "|" in key and (held := held_address(table, key))
        )

    @derived
    def addresses_of(self) -> Mapping[str, tuple[HeldAddress, ...]]:
        """interface -> its addresses."""
        found: dict[str, tuple[HeldAddress, ...]] = {}
        for held in self.addresses:
            others = found.get(held.interface)
            found[held.interface] = (*others, held) if others else (held,)
        return found

    @derived
    def channel_of(self) -> Mapping[str, str]:
        """Port -> the port channel that it is a member of."""
        return channel_of(self.device.table("PORTCHANNEL_MEMBER"))

    @derived
    def vlans_of(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Port or port channel -> (VLAN, tagging_mode) of each VLAN that it is a member of."""
        return {member: tuple(vlans.items()) for member, vlans in vlans_of(self.device.table("VLAN_MEMBER")).items()}

    def interface_of(self, port: str) -> str:
        """The interface that has the addresses for a port: itself, its port channel, or its untagged VLAN."""
        if port in self.addresses_of:
            return port
        upper = self.channel_of.get(port, port)
        if upper in self.addresses_of:
            return upper
        vlans = self.vlans_of.get(upper, ())
        return next((vlan for vlan, mode in vlans if mode == UNTAGGED), port)

    def addresses_for(self, port: str) -> tuple[HeldAddress, ...]:
        """The addresses that the far end of a port has as gateways."""
        return self.addresses_of.get(port) or self.addresses_of.get(self.interface_of(port), ())

    @derived
    def _vrfs(self) -> Mapping[str, str]:
        return {
            interface: str(vrf)
            for table in ADDRESS_TABLES
            for interface, row in self.device.table(table).items()
            if isinstance(row, dict) and (vrf := row.get("vrf_name") or row.get("vnet_name"))
        }

    def address_space(self, interface: str) -> tuple[str, int]:
        """Where the addresses of an interface are unique: the VRF or VNET ("" for the default one), and the part of
        loose files that cables form. Equal names of VRFs on several switches are one VRF."""
        return self._vrfs.get(interface, ""), self.part

    def forget(self) -> None:
        """Free what fills the memory; it is derived again if it is needed."""
        names = ("port_rows", "_row_of_cable", "cable_texts", "addresses", "addresses_of", "_vrfs")
        forget(self, (*names, "channel_of", "vlans_of"))
