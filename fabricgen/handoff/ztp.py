"""Zero touch provisioning: ztp.json, a first configuration for each switch, and the configuration of DHCP servers.

Sections run in the order of their names. A configdb-json section without overwriting of device metadata keeps the
switch's platform and MAC (sonic-ztp 036c8ea, plugins/configdb-json). ZTP drops the DHCP lease with the new
configuration, so the configuration must contain the address of eth0.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricgen.bundle.names import CONFIG_NAME
from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_SWITCHES, Handoff, Option
from fabricgen.handoff.chosen import chosen_devices, refuse_strange_names
from fabricgen.handoff.management import management_addresses
from fabricgen.handoff.templates import filled
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.dump import dump
from fabricgen.sonic.secrets import without_secrets
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice

DEFAULT_URL = "http://ztp"
IDENTIFIERS = {"hostname": "hostname", "serial": "serial-number"}  # our name -> name in ztp.json
USER_CLASS = "SONiC-ZTP"
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_URL = re.compile(r"(https?|tftp|ftp)://[^\s\"'#,]+")


@dataclass(frozen=True)
class Lease:
    """The DHCP lease of a switch. `mac` and `serial` are "" if they are unknown."""

    name: str
    address: Address
    gateway: str
    mac: str
    serial: str

    @property
    def subnet(self) -> Address:
        """The subnet of eth0."""
        return self.address.network

    @property
    def netmask(self) -> str:
        """The mask of the subnet, for dnsmasq."""
        return Address(4, (1 << 32) - (1 << 32 - self.address.length), 32).ip


def ztp_files(
    bundle: "Bundle",
    only: str | None = None,
    url: str = DEFAULT_URL,
    by: str = "hostname",
) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the files of a provisioning server that serves the folder at `url`.

    `by` is the identifier with which a switch requests its file, a key of IDENTIFIERS. Raises UsageError for a switch
    without a management address, or without a serial if that is the identifier.
    """
    if not _URL.fullmatch(url):
        raise UsageError(f"--url {url}: not the URL of a folder, for example http://10.0.0.1/ztp")
    devices = chosen_devices(bundle, only)
    serials = {device.name: device.wired.serial if device.wired else "" for device in devices}
    leases = [_lease(device, serials[device.name]) for device in devices]
    _refuse_repeats(leases)
    names = serials if by == "serial" else {device.name: device.name for device in devices}
    if missing := [name for name, text in names.items() if not text]:
        raise UsageError(f"no serial of {', '.join(missing)}: add `serial` in the inventory, or use --by hostname")
    base = url.rstrip("/")
    gateways = sorted({lease.gateway for lease in leases if lease.gateway})
    yield "ztp.json", _json(_ztp(base, IDENTIFIERS[by], gateways))
    for device in devices:
        yield f"sonic/{names[device.name]}/{CONFIG_NAME}", dump(without_secrets(device.config))
    yield "kea-dhcp4.json", _json(_kea(leases, f"{base}/ztp.json"))
    subnets = {lease.subnet: lease for lease in leases}.values()
    yield (
        "dnsmasq.conf",
        filled("ztp", "dnsmasq.conf", leases=leases, subnets=subnets, url=f"{base}/ztp.json", user_class=USER_CLASS),
    )


def _lease(device: "ObservedDevice", serial: str) -> Lease:
    for address, gateway in management_addresses(device):
        if address.version == 4:
            refuse_strange_names([serial] * bool(serial), f"serial of {device.name}")
            mac = str(device.metadata.get("mac", "")).lower()
            if mac and not _MAC.fullmatch(mac):
                raise UsageError(
                    f"{device.name} has mac {mac!r} in DEVICE_METADATA, expected a form such as 02:00:00:00:00:01"
                )
            return Lease(device.name, address, gateway, mac, serial)
    raise UsageError(
        f"{device.name} has no IPv4 address in MGMT_INTERFACE: it cannot be reached after its configuration"
    )


def _refuse_repeats(leases: list[Lease]) -> None:
    for what in ("address", "mac", "serial"):
        owners: dict[object, str] = {}
        for lease in leases:
            value = lease.address.number if what == "address" else getattr(lease, what)
            if value and owners.setdefault(value, lease.name) != lease.name:
                raise UsageError(f"{owners[value]} and {lease.name} have the same {what}")


def _ztp(base: str, identifier: str, gateways: list[str]) -> dict[str, Any]:
    source = {"prefix": f"{base}/sonic/", "identifier": identifier, "suffix": f"/{CONFIG_NAME}"}
    load = {
        "dynamic-url": {"source": source},
        "clear-config": True,
        "save-config": True,
        "overwrite-device-metadata": False,  # the switch keeps its own MAC and platform
        "halt-on-failure": True,
    }
    sections: dict[str, Any] = {"01-configdb-json": load}
    if len(gateways) == 1:
        sections["02-connectivity-check"] = {"ping-hosts": gateways}
    return {"ztp": sections}


def _kea(leases: list[Lease], url: str) -> dict[str, Any]:
    """Reservations by MAC address. If only the serial is known, a pool of one address with a client class: the client
    identifier of a switch in ZTP ends in ##SERIAL."""
    by_serial = [lease for lease in leases if lease.serial and not lease.mac]
    provisioning = {
        "name": "sonic-ztp",
        "test": f"substring(option[77].hex, -{len(USER_CLASS)}, all) == '{USER_CLASS}'",
        "option-data": [{"name": "boot-file-name", "data": url}],
    }
    classes = [provisioning]
    for lease in by_serial:
        ending = f"##{lease.serial}"
        name = [{"name": "host-name", "data": lease.name}]
        test = f"substring(option[61].hex, -{len(ending)}, all) == '{ending}'"
        classes.append({"name": f"serial-{lease.serial}", "test": test, "option-data": name})
    subnets: dict[Address, list[Lease]] = {}
    for lease in leases:
        subnets.setdefault(lease.subnet, []).append(lease)
    return {
        "Dhcp4": {
            "interfaces-config": {"interfaces": ["*"]},
            "lease-database": {"type": "memfile", "persist": True},
            "client-classes": classes,
            "subnet4": [_kea_subnet(number, net, members) for number, (net, members) in enumerate(subnets.items(), 1)],
        }
    }


def _kea_subnet(number: int, subnet: Address, leases: list[Lease]) -> dict[str, Any]:
    gateways = sorted({lease.gateway for lease in leases if lease.gateway})
    found: dict[str, Any] = {"id": number, "subnet": str(subnet)}
    if gateways:
        found["option-data"] = [{"name": "routers", "data": ", ".join(gateways)}]
    found["pools"] = [
        {"pool": f"{lease.address.ip}/32", "client-class": f"serial-{lease.serial}"}
        for lease in leases
        if lease.serial and not lease.mac
    ]
    found["reservations"] = [
        {"hw-address": lease.mac, "ip-address": lease.address.ip, "hostname": lease.name}
        for lease in leases
        if lease.mac
    ]
    return found


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _notes(files: Mapping[str, bytes]) -> Iterator[str]:
    if unknown := files["dnsmasq.conf"].count(b"# dhcp-host"):
        switches = counted(unknown, "switch", "switches")
        yield f"{switches} without a MAC address: add `mac` under `devices` in the inventory"
    yield "Rows with secrets are left out, because ZTP serves the files to anyone; `handoff ansible` deploys them."


HANDOFF = Handoff(
    "ztp",
    "Write ztp.json, a first configuration for each switch, and the files of a DHCP server (Kea, dnsmasq).",
    ztp_files,
    (
        ONLY_SWITCHES,
        Option("url", "URL of the folder, as the switches reach it.", DEFAULT_URL),
        Option("by", "Identifier by which a switch requests its configuration.", "hostname", tuple(IDENTIFIERS)),
    ),
    "serve it at {url}, and DHCP with kea-dhcp4.json or dnsmasq.conf",
    _notes,
    examples=("", "--url http://10.0.0.1/ztp"),
)
