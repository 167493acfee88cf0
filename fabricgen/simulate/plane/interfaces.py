"""The QoS of an interface: of a port, or of the members of a port channel or VLAN."""

from collections.abc import Iterable

from fabricgen.same import Same
from fabricgen.sonic.image import rows
from fabricgen.sonic.port_qos import DEFINITION_TABLES, PORT_TABLES, PortQos, SwitchQos
from fabricgen.sonic.tables import ConfigDb, split_key

MEMBER_TABLES = {"PortChannel": "PORTCHANNEL_MEMBER", "Vlan": "VLAN_MEMBER"}
_TABLES = (*PORT_TABLES, *DEFINITION_TABLES, *MEMBER_TABLES.values())


class PlaneQos:
    """The QoS of the switches of a plane. Switches with the same tables are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Same[object], ...], InterfaceQos] = {}

    def of(self, config: ConfigDb) -> "InterfaceQos":
        """The QoS of the interfaces of one switch."""
        tables = tuple([Same(config.get(name)) for name in _TABLES])
        if tables not in self._known:
            self._known[tables] = InterfaceQos(config)
        return self._known[tables]


class InterfaceQos:
    """The QoS of the interfaces of one switch. `config` is the switch's tables."""

    def __init__(self, config: ConfigDb) -> None:
        self._config, self._ports = config, SwitchQos(config)
        self._known: dict[str, PortQos] = {}

    @property
    def ports(self) -> Iterable[str]:
        """The ports with rows in the QoS tables."""
        return self._ports.rows_of

    def of(self, interface: str) -> PortQos:
        """The QoS of an interface: of a port channel or VLAN, that of the first member with PFC."""
        if interface not in self._known:
            members = (self._ports.port(name) for name in member_ports(self._config, interface))
            with_pfc = (qos for qos in members if "pfc_enable" in qos.port_map)
            self._known[interface] = next(with_pfc, self._ports.port(interface))
        return self._known[interface]


def member_ports(config: ConfigDb, interface: str) -> list[str]:
    """The ports of an interface: itself, or the members of a port channel or VLAN."""
    for prefix, table in MEMBER_TABLES.items():
        if interface.startswith(prefix):
            keys = map(split_key, rows(config, table))
            return [key[1] for key in keys if len(key) == 2 and key[0] == interface]
    return [interface]
