"""Bad cases of the rules in fabricgen/rules/bundle."""

from collections.abc import Callable
from pathlib import Path

from tests.rules.case import ERROR, NOTE, WARNING, Case, HostFiles, Switches
from tests.rules.changes import both, drop, edit, put
from tests.rules.fabrics import META, everywhere, without_wiring
from tests.rules.hosts.inventories import DGX

CABLING = "../../cabling.csv"  # from the folder of the hosts
RAIL0 = "compute/gpu/0/rail0"
ROW = f"{RAIL0},compute,host-leaf,gpu-000,rail0,,,compute-su00-r0-leaf,Ethernet0,,,5m,mmf,400G\n"


def _cabling(change: Callable[[Path], object], place: str, message: str) -> Case:
    hint = "run `fabricgen render` again; to change a cable, change the inventory"
    return Case("FG258", change, f":cabling.csv{place}", ERROR, message, hint, clean=HostFiles(DGX), also=("FG258",))


CASES = [
    _cabling(edit(CABLING, ROW, ""), f"|{RAIL0}", "the row of the cable to compute-su00-r0-leaf is missing"),
    _cabling(
        edit(CABLING, "cable,plane", f"{'x' * 200_000},plane"),
        "",
        "the file is not CSV: field larger than field limit (131072)",
    ),
    _cabling(
        edit(CABLING, "cable,plane", "cables,plane"),
        "",
        "the first row is not cable,plane,kind,a_device,a_ports,a_rack,a_unit,b_device,b_ports,b_rack,b_unit,length,medium,speed",
    ),
    _cabling(edit(CABLING, ROW, ROW.replace(",400G", "")), f"|{RAIL0}", "the row has 13 cells, expected 14"),
    _cabling(edit(CABLING, ROW, 2 * ROW), f"|{RAIL0}", "a second row for the end at compute-su00-r0-leaf"),
    _cabling(edit(CABLING, ROW, ROW.replace("5m", "50m")), f"|{RAIL0}|length", "length is 50m, expected 5m"),
    _cabling(
        edit(CABLING, ROW, ROW + ROW.replace("gpu/0", "gpu/9")), "|compute/gpu/9/rail0", "fabric.json has no such cable"
    ),
    Case(
        "FG227",
        everywhere("DEVICE_METADATA", "", type="SpineRouter"),
        "leaf1:DEVICE_METADATA|localhost|type",
        ERROR,
        "type is SpineRouter, so this leaf uses the same hash as the spines",
        "set type to ToRRouter",
        lenient=True,
    ),
    Case(
        "FG430",
        put("a-passkey", "leaf1", "TACPLUS", "global", "passkey"),
        "leaf1:TACPLUS|global|passkey",
        WARNING,
        "passkey contains a literal secret",
        "refer to it with `!secret` in the inventory, render again, and change the secret",
        lenient=True,
    ),
    Case(
        "FG430",
        put("RO", "leaf1", "SNMP_COMMUNITY", "a-community", "TYPE"),
        "leaf1:SNMP_COMMUNITY|***",
        WARNING,
        "the row key is a literal secret",
        "refer to it with `!secret` in the inventory, render again, and change the secret",
        lenient=True,
    ),
    Case(
        "FG221",
        put("leaf9", "leaf1", *META, "hostname"),
        "leaf1:DEVICE_METADATA|localhost|hostname",
        ERROR,
        "hostname is 'leaf9', but the device is leaf1",
        "set hostname to leaf1",
    ),
    Case(
        "FG221",
        drop("leaf1", *META, "hostname"),
        "leaf1:DEVICE_METADATA|localhost|hostname",
        WARNING,
        "hostname is missing: the switch calls itself sonic",
        "set hostname to leaf1",
        lenient=True,
    ),
    Case(
        "FG222",
        put("02:00:00:00:00:02", "leaf1", *META, "mac"),
        "leaf1:DEVICE_METADATA|localhost|mac",
        ERROR,
        "leaf2 has the same mac 02:00:00:00:00:02",
        "set mac to the base MAC of this switch, or remove it",
        also_at=("leaf2",),
    ),
    Case(
        "FG263",
        put("01:00:5e:00:00:01", "leaf1", *META, "mac"),
        "leaf1:DEVICE_METADATA|localhost|mac",
        ERROR,
        "mac 01:00:5e:00:00:01 is a group address",
        "set mac to the base MAC of this switch, or remove it",
    ),
    Case(
        "FG263",
        put("00:00:00:00:00:00", "leaf1", *META, "mac"),
        "leaf1:DEVICE_METADATA|localhost|mac",
        ERROR,
        "mac 00:00:00:00:00:00 is zero",
        "set mac to the base MAC of this switch, or remove it",
    ),
    Case(
        "FG223",
        put("DellEMC-Z9664f-O64", "leaf1", *META, "hwsku"),
        "leaf1:DEVICE_METADATA|localhost|hwsku",
        ERROR,
        "hwsku is DellEMC-Z9664f-O64, but Arista-7060X6-64PE-O128S2 is planned",
        "set hwsku to Arista-7060X6-64PE-O128S2",
        lenient=True,
    ),
    Case(
        "FG224",
        put("x86_64-mlnx_msn4700-r0", "leaf1", *META, "platform"),
        "leaf1:DEVICE_METADATA|localhost|platform",
        ERROR,
        "platform is x86_64-mlnx_msn4700-r0, but hwsku Arista-7060X6-64PE-O128S2 belongs to x86_64-arista_7060x6_64pe",
        "set platform to x86_64-arista_7060x6_64pe",
    ),
    Case(
        "FG225",
        put("dynamic", "leaf1", *META, "buffer_model"),
        "leaf1:DEVICE_METADATA|localhost|buffer_model",
        ERROR,
        "buffer_model is dynamic, but arista-7060x6-64pe uses traditional",
        "set buffer_model to traditional",
        lenient=True,
    ),
    Case(
        "FG225",
        put("traditional", "spine1", *META, "buffer_model"),
        "spine1:DEVICE_METADATA|localhost|buffer_model",
        ERROR,
        "buffer_model is traditional, but nvidia-sn5600 uses dynamic",
        "set buffer_model to dynamic",
        clean=Switches("dynamic"),
        lenient=True,
    ),
    Case(
        "FG225",
        both(
            put("traditional", "spine1", *META, "buffer_model"),
            *[
                put("1048576", "spine1", "BUFFER_POOL", pool, "size")
                for pool in ("egress_lossy_pool", "ingress_lossless_pool", "ingress_lossy_pool")
            ],
        ),
        "spine1:DEVICE_METADATA|localhost|buffer_model",
        WARNING,
        "buffer_model is traditional: the catalog has pools and profiles of dynamic only",
        "compare pools and profiles with the SKU's buffers_defaults template",
        clean=Switches("dynamic", without_wiring),
        lenient=True,
    ),
    Case(
        "FG226",
        put("Unheard-Of", "leaf1", *META, "hwsku"),
        "leaf1:DEVICE_METADATA|localhost|hwsku",
        NOTE,
        "hwsku Unheard-Of is unknown: lanes, aliases, breakout, pools, profiles, headroom and buffer model are not checked",
        "import the SKU's device folder with `fabricgen import sonic-device`",
        lenient=True,
    ),
    Case(
        "FG227",
        put("ToRRouter", "spine1", *META, "type"),
        "spine1:DEVICE_METADATA|localhost|type",
        ERROR,
        "type is ToRRouter, so this spine accepts routes with its own ASN",
        "set type to LeafRouter",
        lenient=True,
    ),
    Case(
        "FG227",
        put("LeafRouter", "leaf1", *META, "type"),
        "leaf1:DEVICE_METADATA|localhost|type",
        ERROR,
        "type is LeafRouter, so this leaf uses the same hash as the spines",
        "set type to ToRRouter",
        lenient=True,
    ),
    Case(
        "FG227",
        drop("leaf1", *META, "type"),
        "leaf1:DEVICE_METADATA|localhost|type",
        ERROR,
        "type is missing, so no BGP session starts",
        "set type to ToRRouter",
        lenient=True,
    ),
    Case(
        "FG227",
        both(put("split", "leaf1", *META, "docker_routing_config_mode"), drop("leaf1", *META, "type")),
        "leaf1:DEVICE_METADATA|localhost|type",
        WARNING,
        "type is missing: it selects the buffers and the seed of the hash",
        "set type to ToRRouter",
        lenient=True,
    ),
]
