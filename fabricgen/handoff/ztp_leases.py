"""What a DHCP server knows about switches in zero touch provisioning: leases by MAC address or serial.

sonic-ztp 036c8ea reads the URL of ztp.json from option 67 (DHCPv4) or 59 (DHCPv6), and sends its user class in option
77 or 15. Only its DHCPv4 client identifier has the serial.

ONIE asks by DHCPv4 only (onie, rootconf/default/bin/discover: DHCPv6 is not implemented). Its exact URLs of an
installer are, in its order: option 125 of enterprise 42623, sub-option 1; option 114; options 150 or 66 with 67. The
first two are written. Option 67 is that of ztp.json, and both take tftp:// URLs, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabricgen.sonic.addresses import Address

USER_CLASS = "SONiC-ZTP"
ONIE_CLASS = "onie_vendor:"  # how the vendor class of ONIE begins (option 60), before the platform
ONIE_ENTERPRISE = 42623  # the name space of ONIE in option 125
_INSTALLER_URL = 1  # its sub-option
_USER_CLASS_OPTION = {4: 77, 6: 15}
_BOOT_FILE = {4: "boot-file-name", 6: "bootfile-url"}


_ONIE_SPACE = f"vendor-{ONIE_ENTERPRISE}"

Installers = Mapping[str, str]  # ONIE platform -> URL of its installer; the platform "" is any


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
    def mask(self) -> str:
        """The mask of the subnet for dnsmasq: a netmask, or the length of an IPv6 prefix."""
        if self.address.version == 6:
            return str(self.address.length)
        return Address(4, (1 << 32) - (1 << 32 - self.address.length), 32).ip

    @property
    def bracketed(self) -> str:
        """The address as dnsmasq reads it."""
        return f"[{self.address.ip}]" if self.address.version == 6 else self.address.ip


def dnsmasq(leases: list[Lease], url: str, installers: Installers) -> dict[str, Any]:
    """The values of the template of dnsmasq.conf."""
    return {
        "leases": leases,
        "subnets": {lease.subnet: lease for lease in leases}.values(),
        "versions": {lease.address.version for lease in leases},
        "url": url,
        "user_class": USER_CLASS,
        "onie_class": ONIE_CLASS,
        "onie_enterprise": ONIE_ENTERPRISE,
        "installers": installers,
    }


def kea(leases: list[Lease], url: str, installers: Installers) -> dict[str, Any]:
    """The configuration of kea-dhcp4 or kea-dhcp6 for leases of one version of IP: reservations by MAC address. If only
    the serial is known, a pool of one address with a client class: the client identifier of a switch in ZTP ends in
    ##SERIAL."""
    version = leases[0].address.version
    by_serial = [lease for lease in leases if version == 4 and lease.serial and not lease.mac]
    option = f"option[{_USER_CLASS_OPTION[version]}].hex"
    classes: list[dict[str, Any]] = [
        {
            "name": "sonic-ztp",
            "test": f"substring({option}, -{len(USER_CLASS)}, all) == '{USER_CLASS}'",
            "option-data": [{"name": _BOOT_FILE[version], "data": url}],
        }
    ]
    onie = installers if version == 4 else {}
    classes += [_onie_class(platform, installer) for platform, installer in onie.items()]
    for lease in by_serial:
        ending = f"##{lease.serial}"
        name = [{"name": "host-name", "data": lease.name}]
        test = f"substring(option[61].hex, -{len(ending)}, all) == '{ending}'"
        classes.append({"name": f"serial-{lease.serial}", "test": test, "option-data": name})
    subnets: dict[Address, list[Lease]] = {}
    for lease in leases:
        subnets.setdefault(lease.subnet, []).append(lease)
    code = {"name": "onie-installer-url", "space": _ONIE_SPACE, "code": _INSTALLER_URL, "type": "string"}
    return {
        f"Dhcp{version}": {
            **({"option-def": [code]} if onie else {}),
            "interfaces-config": {"interfaces": ["*"]},
            "lease-database": {"type": "memfile", "persist": True},
            "client-classes": classes,
            f"subnet{version}": [_subnet(number, *one) for number, one in enumerate(subnets.items(), 1)],
        }
    }


def _onie_class(platform: str, installer: str) -> dict[str, Any]:
    """The class of switches in ONIE: of one platform, or of all platforms."""
    begin = f"{ONIE_CLASS}{platform}"
    is_one = f"option[60].hex == '{begin}'" if platform else f"substring(option[60].hex, 0, {len(begin)}) == '{begin}'"
    return {
        "name": f"onie-{platform}" if platform else "onie",
        "test": is_one,
        "option-data": [
            {"name": "v4-captive-portal", "data": installer},  # Kea's name of option 114
            {"name": "vivso-suboptions", "data": str(ONIE_ENTERPRISE)},
            {"name": "onie-installer-url", "space": _ONIE_SPACE, "data": installer, "always-send": True},
        ],
    }


def _subnet(number: int, subnet: Address, leases: list[Lease]) -> dict[str, Any]:
    """One subnet. Kea 2.6 requires `id`. IPv6 hosts learn their router from its advertisements, not by DHCP."""
    found: dict[str, Any] = {"id": number, "subnet": str(subnet)}
    reserved = [lease for lease in leases if lease.mac]
    if subnet.version == 6:
        found["reservations"] = [
            {"hw-address": lease.mac, "ip-addresses": [lease.address.ip], "hostname": lease.name} for lease in reserved
        ]
        return found
    gateways = sorted({lease.gateway for lease in leases if lease.gateway})
    if gateways:
        found["option-data"] = [{"name": "routers", "data": ", ".join(gateways)}]
    found["pools"] = [
        {"pool": f"{lease.address.ip}/32", "client-class": f"serial-{lease.serial}"}
        for lease in leases
        if lease.serial and not lease.mac
    ]
    found["reservations"] = [
        {"hw-address": lease.mac, "ip-address": lease.address.ip, "hostname": lease.name} for lease in reserved
    ]
    return found
