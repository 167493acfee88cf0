"""Zero touch provisioning: ztp.json, a first configuration for each switch, and the configuration of DHCP servers.

Sections run in the order of their names. A configdb-json section without overwriting of device metadata keeps the
switch's platform and MAC (sonic-ztp 036c8ea, plugins/configdb-json). ZTP drops the DHCP lease with the new
configuration, so the configuration must contain the address of eth0. FRR of a VTEP reads frr.conf as it starts, so the
plugin `download` brings it before the configuration.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fabricgen.bundle.names import CONFIG_NAME
from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_SWITCHES, Handoff, Option
from fabricgen.handoff.chosen import chosen_devices, frr_file_of, refuse_strange_names
from fabricgen.handoff.management import management_addresses
from fabricgen.handoff.secret_rows import SecretRows
from fabricgen.handoff.templates import filled
from fabricgen.handoff.ztp_leases import Lease, dnsmasq, kea
from fabricgen.same import Same
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.dump import dump
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice
    from fabricgen.sonic.addresses import Address
    from fabricgen.sonic.tables import ConfigDb

DEFAULT_URL = "http://ztp"
_TABLES_KEPT = 256  # those used last
IDENTIFIERS = {"hostname": "hostname", "serial": "serial-number"}  # our name -> name in ztp.json
_PINGED = ("ping-hosts", "ping6-hosts")  # of IPv4 and IPv6
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
PLATFORM_IN_URL = "{platform}"
_FRR_FILE = "/etc/sonic/frr/frr.conf"
_NO_FRR_CONF = b"! FRR of this switch reads CONFIG_DB.\n"  # a switch without frr.conf would end with an error
_LONGEST_URL = 248  # with its headers in an option of 255 bytes
_URL = re.compile(r"(https?|tftp|ftp)://[^\s\"'#,]+")


def ztp_files(
    bundle: "Bundle",
    only: str | None = None,
    url: str = DEFAULT_URL,
    by: str = "hostname",
    onie_url: str | None = None,
) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the files of a provisioning server that serves the folder at `url`.

    `by` is the identifier with which a switch requests its file, a key of IDENTIFIERS. `onie_url` is the installer for
    switches in ONIE; {platform} in it is the ONIE platform of each. Raises UsageError for a switch without a management
    address, or without what the identifier or the URL needs.
    """
    if not _URL.fullmatch(url):
        raise UsageError(f"--url {url}: not the URL of a folder, for example http://10.0.0.1/ztp")
    if onie_url is not None and not (_URL.fullmatch(onie_url) and len(onie_url) <= _LONGEST_URL):
        example = f"at most {_LONGEST_URL} characters, for example http://10.0.0.1/sonic.bin"
        raise UsageError(f"--onie-url {onie_url}: not the URL of an installer, {example}")
    from fabricgen.sonic.frr_lines import FRR_CONF
    from fabricgen.sonic.updater.unparsed import refuses_files

    devices = chosen_devices(bundle, only)
    serials = {device.name: device.wired.serial if device.wired else "" for device in devices}
    names = serials if by == "serial" else {device.name: device.name for device in devices}
    if missing := [name for name, text in names.items() if not text]:
        raise UsageError(f"no serial of {', '.join(missing)}: add `serial` in the inventory, or use --by hostname")
    leases: list[Lease] = []
    installers: dict[str, str] = {}
    rendered, secrets = _rendered(bundle), SecretRows()
    frr_files = {device.name: frr_file_of(device) for device in devices}
    has_vteps = any(content is not None for content in frr_files.values())
    for device in devices:  # one read of each file, for its addresses and its content
        leases += _leases(device, serials[device.name])
        if onie_url:
            installers |= _installer(device, onie_url)
        yield f"sonic/{names[device.name]}/{CONFIG_NAME}", _served(device, rendered, secrets)
        if has_vteps:
            yield f"sonic/{names[device.name]}/{FRR_CONF}", frr_files[device.name] or _NO_FRR_CONF
    _refuse_repeats(leases)
    base = url.rstrip("/")
    gateways = sorted({lease.gateway for lease in leases if lease.gateway})
    refused = any(refuses_files(device.config, device.release) for device in devices)
    yield "ztp.json", _json(_ztp(base, IDENTIFIERS[by], gateways, is_refused=refused, has_vteps=has_vteps))
    for version in sorted({lease.address.version for lease in leases}):
        members = [lease for lease in leases if lease.address.version == version]
        yield f"kea-dhcp{version}.json", _json(kea(members, f"{base}/ztp.json", installers))
    yield "dnsmasq.conf", filled("ztp", "dnsmasq.conf", **dnsmasq(leases, f"{base}/ztp.json", installers))


def _rendered(bundle: "Bundle") -> Collection[str]:
    """The digests of the files that this version rendered: they are as `dump` writes them."""
    from fabricgen import OUTPUT_VERSION
    from fabricgen.bundle.manifest import read_manifest

    manifest = read_manifest(bundle.root) if bundle.root else None
    return set(manifest.files.values()) if manifest and manifest.output_version == OUTPUT_VERSION else ()


def _served(device: "ObservedDevice", rendered: Collection[str], secrets: SecretRows) -> bytes:
    """The file of a switch as ZTP serves it. A rendered file without secrets is served as it is."""
    from fabricgen.sonic.secrets import PLACEHOLDER

    signs, text = device.signs, device.text
    is_plain = signs.digest in rendered and not signs.secrets and PLACEHOLDER.encode() not in text
    if is_plain and not secrets.are_in(device.config, has_forms=False):
        return text
    return _without_secrets(device.config)


def _without_secrets(config: "ConfigDb") -> bytes:
    """The file of a switch. Tables that switches share are written once."""
    tables = sorted(config, key=natural_key)
    pieces = [piece for name in tables if (piece := _table(name, Same(config[name])))]
    return b"{\n%s\n}" % b",\n".join(pieces) if pieces else b"{}"


@lru_cache(_TABLES_KEPT)
def _table(name: str, rows: Same[object]) -> bytes:
    """A table as in the file, without the brackets around it; empty if it consists of secrets."""
    from fabricgen.sonic.secrets import without_secrets  # its expressions take 3 ms

    return dump(without_secrets({name: rows.of})).removeprefix(b"{").removesuffix(b"}").strip(b"\n")


def _leases(device: "ObservedDevice", serial: str) -> Iterator[Lease]:
    """The first IPv4 and the first IPv6 address of eth0."""
    by_version: dict[int, tuple[Address, str]] = {}
    for address, gateway in management_addresses(device):
        by_version.setdefault(address.version, (address, gateway))
    if not by_version:
        raise UsageError(
            f"{device.name} has no address in MGMT_INTERFACE: it cannot be reached after its configuration"
        )
    refuse_strange_names([serial] * bool(serial), f"serial of {device.name}")
    mac = str(device.metadata.get("mac", "")).lower()
    if mac and not _MAC.fullmatch(mac):
        raise UsageError(f"{device.name} has mac {mac!r} in DEVICE_METADATA, expected a form such as 02:00:00:00:00:01")
    for address, gateway in by_version.values():
        yield Lease(device.name, address, gateway, mac, serial)


def _installer(device: "ObservedDevice", onie_url: str) -> dict[str, str]:
    """ONIE platform -> URL of the installer, for the platform of a switch, or for all."""
    if PLATFORM_IN_URL not in onie_url:
        return {"": onie_url}
    platform = device.text_of("DEVICE_METADATA", "localhost", "platform")
    if not platform:
        raise UsageError(f"{device.name} has no platform in DEVICE_METADATA, which --onie-url {onie_url} needs")
    refuse_strange_names([platform], f"platform of {device.name}")
    url = onie_url.replace(PLATFORM_IN_URL, platform)
    if len(url) > _LONGEST_URL:
        raise UsageError(f"--onie-url is {url} for {device.name}: more than {_LONGEST_URL} characters")
    return {platform: url}


def _refuse_repeats(leases: list[Lease]) -> None:
    for what in ("address", "mac", "serial"):
        owners: dict[object, str] = {}
        for lease in leases:
            value = (lease.address.version, lease.address.number) if what == "address" else getattr(lease, what)
            if value and owners.setdefault(value, lease.name) != lease.name:
                raise UsageError(f"{owners[value]} and {lease.name} have the same {what}")


def _ztp(base: str, identifier: str, gateways: list[str], *, is_refused: bool, has_vteps: bool) -> dict[str, Any]:
    """ztp.json. Where the release refuses `config reload FILE` (sonic/updater/unparsed.py), ZTP runs `config load`,
    which does not validate the file, saves the result, and reboots."""
    source = {"prefix": f"{base}/sonic/", "identifier": identifier, "suffix": f"/{CONFIG_NAME}"}
    load = {
        "dynamic-url": {"source": source},
        "clear-config": not is_refused,
        "save-config": True,
        "overwrite-device-metadata": False,  # the switch keeps its own MAC and platform
        "halt-on-failure": True,
    }
    if is_refused:
        load["reboot-on-success"] = True
    sections: dict[str, Any] = {"01-configdb-json": load}
    if has_vteps:
        from fabricgen.sonic.frr_lines import FRR_CONF

        frr = {"source": source | {"suffix": f"/{FRR_CONF}"}, "destination": _FRR_FILE}
        sections = {"00-download": {"files": [{"dynamic-url": frr}], "halt-on-failure": True}, **sections}
    by_version = {key: [one for one in gateways if (":" in one) == (key == "ping6-hosts")] for key in _PINGED}
    if hosts := {key: found for key, found in by_version.items() if len(found) == 1}:
        sections["02-connectivity-check"] = hosts
    return {"ztp": sections}


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _notes(files: Mapping[str, bytes]) -> Iterator[str]:
    if unknown := len(set(re.findall(rb"# dhcp-host=MAC,.*,(.*)", files["dnsmasq.conf"]))):
        switches = counted(unknown, "switch")
        yield f"{switches} without a MAC address: add `mac` under `devices` in the inventory"
    yield "Rows with secrets are left out, because ZTP serves the files to anyone; `handoff ansible` deploys them."


HANDOFF = Handoff(
    "ztp",
    "Write ztp.json, a first configuration for each switch, and the files of a DHCP server (Kea, dnsmasq).",
    ztp_files,
    (
        ONLY_SWITCHES,
        Option("url", "URL of the folder, as the switches reach it.", DEFAULT_URL),
        Option("onie-url", "URL of the installer, for switches in ONIE; {platform} is theirs.", metavar="URL"),
        Option("by", "Identifier by which a switch requests its configuration.", "hostname", tuple(IDENTIFIERS)),
    ),
    "serve it at {url}, and DHCP with kea-dhcp4.json, kea-dhcp6.json or dnsmasq.conf",
    _notes,
    examples=("", "--url http://10.0.0.1/ztp", "--onie-url 'http://10.0.0.1/{platform}'"),
)
