"""A NetBox in memory, with the interface of pynetbox: enough for the objects of a fabric.

Shapes of records as in tests/dcim/answers, which a real NetBox 4.6.8 gave. What it refuses is what the models refuse:
dcim/models/devices.py (Device.clean), device_components.py (Interface.clean, BaseInterface.save), cables.py
(CableTermination.clean), ipam/models/ip.py and vlans.py, and InterfaceSerializer.validate, all of
netbox-community/netbox@43fe81f9, which is 4.6.8. A VLAN of another site than the device cannot occur: fabricgen's have
none, as VLANSerializer allows. An empty `mode` can be null: ChoiceField reads it as "".
"""

import ipaddress
import itertools
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fabricgen.dcim.netbox import NetBox

CHOICES = {"status", "type", "length_unit", "face", "mode"}
REFERENCES = {
    "site": "sites", "rack": "racks", "role": "device_roles", "device_type": "device_types", "device": "devices",
    "manufacturer": "manufacturers", "lag": "interfaces",
    "group": "vlan_groups", "untagged_vlan": "vlans", "primary_ip4": "ip_addresses", "primary_ip6": "ip_addresses",
}  # fmt: skip


class RefusedError(Exception):
    """What the server refuses, or a connection that breaks."""


class Endpoint:
    """The objects of one endpoint."""

    def __init__(self, server: "Server", name: str) -> None:
        self.server, self.name = server, name
        self.stored: dict[int, dict[str, Any]] = {}

    def all(self, limit: int = 0) -> list[dict[str, Any]]:
        """All objects; the server cuts longer lists silently."""
        return self.filter(limit)

    def filter(self, limit: int = 0, **filters: Any) -> list[dict[str, Any]]:
        """The objects that the filters find."""
        return [self._shown(each) for each in self._found(filters)][: self.server.longest]

    def count(self, **filters: Any) -> int:
        """Their number."""
        return len(self._found(filters))

    def create(self, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Create all objects of a request, or none."""
        self.server.write()
        created = [{"id": next(self.server.ids), **body} for body in bodies]
        for each in created:
            self._check(each)
        self.stored |= {each["id"]: each for each in created}
        return [self._shown(each) for each in created]

    def update(self, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Change objects."""
        self.server.write()
        for body in bodies:
            old = self.stored[body["id"]]
            custom = {**old.get("custom_fields", {}), **body.get("custom_fields", {})}
            new = {**old, **body, "custom_fields": custom}
            self._check(new)
            self.stored[body["id"]] = new
        return [self._shown(self.stored[body["id"]]) for body in bodies]

    def delete(self, ids: list[int]) -> None:
        """Delete objects, and interfaces and addresses with their devices and interfaces."""
        self.server.write()
        for number in ids:
            self.server.remove(self.name, number)

    def _check(self, new: Mapping[str, Any]) -> None:
        """Names of a device in a site, and places in a rack; one cable at an interface; identities."""
        others = [each for each in self.stored.values() if each["id"] != new["id"]]
        identity = (new.get("custom_fields") or {}).get("fabricgen_identity")
        if identity and any((each.get("custom_fields") or {}).get("fabricgen_identity") == identity for each in others):
            raise RefusedError(f"fabricgen_identity {identity} is not unique")
        keys = {
            "devices": lambda each: [(each["name"], each["site"]), (each.get("rack"), each.get("position"))],
            "interfaces": lambda each: [(each["device"], each["name"])],
            "ip_addresses": lambda each: [(each["address"].partition("/")[0], 4)],
            "prefixes": lambda each: [(each["prefix"], 0)],
            "cables": lambda each: [(end, 1) for end in ends(each)],
            "vlan_groups": lambda each: [(each["name"], 0), (each["slug"], 1)],
            "vlans": lambda each: [(each["group"], each["vid"]), (each["group"], each["name"])],
        }.get(self.name, lambda each: [])
        taken = {key for each in others for key in keys(each) if None not in key}
        if clash := [key for key in keys(new) if key in taken]:
            raise RefusedError(f"{self.name}: {clash} is taken")
        if self.name == "ip_addresses":
            self._check_primary(new)
            _check_host_part(new)
        if self.name == "prefixes" and new["prefix"].endswith("/0"):
            raise RefusedError("a prefix of length 0")
        if self.name == "devices" and new.get("position") and not (new.get("rack") and new.get("face")):
            raise RefusedError(f"device {new['name']} has a position without a rack or without a face")
        for end in ends(new) if self.name == "cables" else ():
            if self.server["interfaces"].stored[end].get("type") in ("virtual", "lag", "bridge"):
                raise RefusedError("a cable at an interface without a plug")
        if self.name == "vlans" and not 1 <= new["vid"] <= 4094:
            raise RefusedError(f"no VLAN has the number {new['vid']}")
        if new.get("lag"):
            self._check_lag(new, self.stored[new["lag"]])
        if self.name == "interfaces":
            self._check_vlans(new)

    def _check_primary(self, new: Mapping[str, Any]) -> None:
        old = self.stored.get(new["id"])
        primary = {
            each.get(key) for each in self.server["devices"].stored.values() for key in ("primary_ip4", "primary_ip6")
        }
        if old and new["id"] in primary and old.get("assigned_object_id") != new.get("assigned_object_id"):
            raise RefusedError("cannot reassign the address while it is a primary one")

    def _check_lag(self, new: Mapping[str, Any], lag: Mapping[str, Any]) -> None:
        """As Interface.clean in dcim/models/device_components.py of NetBox, and the filter of the field `lag`."""
        if new["type"] == "virtual" or lag["type"] != "lag" or lag["device"] != new["device"]:
            raise RefusedError(f"interface {new['name']} cannot have the LAG {lag['name']}")

    def _check_vlans(self, new: Mapping[str, Any]) -> None:
        """As BaseInterface.save of NetBox, which drops VLANs without a mode and tagged ones of an access port. Nautobot
        refuses the first. Nothing that fabricgen sends may be dropped."""
        vlans = self.server["vlans"].stored
        native, tagged = new.get("untagged_vlan"), new.get("tagged_vlans") or []
        if {native, *tagged} - {None} - vlans.keys():
            raise RefusedError(f"interface {new['name']} has a VLAN that is not there")
        if (native and not new.get("mode")) or (tagged and new.get("mode") != "tagged"):
            raise RefusedError(f"interface {new['name']} has VLANs that its mode does not allow")

    def _found(self, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [each for each in self.stored.values() if all(self._fits(each, *one) for one in filters.items())]

    def _fits(self, each: Mapping[str, Any], name: str, value: Any) -> bool:
        values = value if isinstance(value, list) else [value]
        if name.startswith("cf_"):
            text = (each.get("custom_fields") or {}).get("fabricgen_identity") or ""
            return str(text).startswith(value)
        if name == "vrf_id":
            return True
        if name == "address":
            return each["address"].partition("/")[0] in values
        if name == "interface_id":
            return each.get("assigned_object_id") in values
        return each.get(name.removesuffix("_id")) in values

    def _shown(self, each: Mapping[str, Any]) -> dict[str, Any]:
        """An object as in an answer: choices and references are objects."""
        shown: dict[str, Any] = {}
        for name, value in each.items():
            if name in CHOICES and value is not None and self.name != "custom_fields":
                shown[name] = {"value": value, "label": str(value).title()}
            elif name == "tagged_vlans":
                shown[name] = [{"id": each, "vid": self.server["vlans"].stored[each]["vid"]} for each in value or []]
            elif name in REFERENCES and value is not None:
                shown[name] = {"id": value, "display": "", **self._brief(name, value)}
            else:
                shown[name] = value
        if self.name == "interfaces":
            at = [cable["id"] for cable in self.server["cables"].stored.values() if each["id"] in ends(cable)]
            shown["cable"] = {"id": at[0]} if at else None
            addresses = self.server["ip_addresses"].stored.values()
            shown["count_ipaddresses"] = sum(one.get("assigned_object_id") == each["id"] for one in addresses)
        return shown

    def _brief(self, name: str, number: int) -> dict[str, Any]:
        stored = self.server[REFERENCES[name]].stored[number]
        return {key: stored[key] for key in ("name", "slug", "model") if key in stored}


def _check_host_part(new: Mapping[str, Any]) -> None:
    """No interface has the address of its network, or an IPv4 broadcast address, except in a network of two or one."""
    at = ipaddress.ip_interface(new["address"])
    is_broadcast = at.version == 4 and at.ip == at.network.broadcast_address
    is_reserved = is_broadcast or at.ip == at.network.network_address
    if new.get("assigned_object_id") and at.network.num_addresses > 2 and is_reserved:
        raise RefusedError(f"{at} cannot be assigned to an interface")


def ends(cable: Mapping[str, Any]) -> list[int]:
    """The interfaces of a cable."""
    return [end["object_id"] for side in "ab" for end in cable.get(f"{side}_terminations", ())]


class Server:
    """All endpoints. It breaks before the write number `breaks_at`, and cuts lists at `longest`."""

    def __init__(self) -> None:
        self.ids = itertools.count(1)
        self.endpoints: dict[str, Endpoint] = {}
        self.writes, self.breaks_at, self.longest = 0, -1, 10**6
        self.dcim = self.ipam = self.extras = self

    def __getattr__(self, name: str) -> Endpoint:
        return self[name]

    def __getitem__(self, name: str) -> Endpoint:
        return self.endpoints.setdefault(name, Endpoint(self, name))

    def write(self) -> None:
        """Count a request that writes."""
        if self.writes == self.breaks_at:
            raise RefusedError("the connection broke")
        self.writes += 1

    def remove(self, name: str, number: int) -> None:
        """Remove an object and what NetBox removes with it."""
        del self[name].stored[number]
        children = defaultdict(
            list, devices=[("interfaces", "device")], interfaces=[("ip_addresses", "assigned_object_id")]
        )
        for below, key in children[name]:
            for each in [one for one in self[below].stored.values() if one.get(key) == number]:
                self.remove(below, each["id"])
        for cable in [one for one in self["cables"].stored.values() if name == "interfaces" and number in ends(one)]:
            cable |= {f"{side}_terminations": [] for side in "ab"}
        for member in [one for one in self["interfaces"].stored.values() if name == "interfaces"]:
            if member.get("lag") == number:
                member["lag"] = None
        for device in self["devices"].stored.values() if name == "ip_addresses" else ():
            for key in ("primary_ip4", "primary_ip6"):
                if device.get(key) == number:
                    device[key] = None

    def named(self, endpoint: str, name: str) -> dict[str, Any]:
        """The object of a name."""
        return next(each for each in self[endpoint].stored.values() if each.get("name") == name)


def netbox_of(server: Server) -> NetBox:
    """The adapter on a server in memory."""
    return NetBox(server, (RefusedError,))
