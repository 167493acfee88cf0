"""The files of the switches of a plane, read for their BGP sessions."""

from collections.abc import Mapping
from dataclasses import replace

from fabricgen.bundle.forgetful import shut_of
from fabricgen.bundle.outside import read_speaker
from fabricgen.bundle.read import Bundle
from fabricgen.routing.answers import find_answers
from fabricgen.routing.spoken_rows import AddressColumns, NeighborColumns
from fabricgen.sonic.acl import dropped_bgp
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.evpn import vteps_of
from fabricgen.sonic.image import Speaker
from fabricgen.sonic.srv6 import LOCATORS
from fabricgen.sonic.tables import ConfigDb

_KEPT_TABLES = (
    "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
    "PORTCHANNEL_MEMBER", "VLAN_MEMBER", LOCATORS,
)  # fmt: skip


class SpokenFiles:
    """What the files of `names` have, by switch, and which row answers which. Each file is read once.

    Raises UnreadableInputError if a file is not JSON.
    """

    def __init__(self, bundle: Bundle, names: list[str]) -> None:
        self.bundle, self.names = bundle, names
        self.speakers: dict[str, Speaker] = {}
        self.ports_down: dict[str, Mapping[str, tuple[str, ...]]] = {}  # interface -> the field that shuts it down
        self.acl: dict[str, dict[tuple[str, str, int, bool], str]] = {}
        self.tables: dict[str, ConfigDb] = {}
        self.vteps: dict[tuple[str, str], Address] = {}
        self.addresses, self.neighbors = AddressColumns(), NeighborColumns()
        for name in names:
            config = bundle.devices[name].content.peek()
            one = read_speaker(config, bundle.release)
            addresses, neighbors = self.addresses.add(one.addresses), self.neighbors.add(one.neighbors)
            self.speakers[name] = replace(one, addresses=addresses, neighbors=neighbors)
            self.ports_down[name] = shut_of(bundle.devices[name])
            self.acl[name] = dropped_bgp(config)
            self.vteps.update(((name, vrf), vtep) for vrf, vtep in vteps_of(config))
            self.tables[name] = {table: config[table] for table in _KEPT_TABLES if table in config}
        self.found = find_answers(self.addresses, self.neighbors)
