"""A bundle of three small switches: two rails and a spine."""

from pathlib import Path
from typing import Any

from fabricgen.bundle.fabric_file import dump_wiring
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.bundle.wiring import WiredDevice, WiredLink, WiredPlane, Wiring
from fabricgen.sonic.dump import dump

SECRET_NAME, SECRET = "snmp/read", 'c0mm"unity\\'


def config(name: str, address: str = "10.255.0.5/20") -> dict[str, Any]:
    """A config_db.json with a secret in a key and a change for either route within reach."""
    return {
        "BUFFER_POOL": {"ingress_lossless_pool": {"mode": "dynamic", "size": "1000", "type": "ingress"}},
        "DEVICE_METADATA": {"localhost": {"hostname": name, "hwsku": "X"}},
        "MGMT_INTERFACE": {f"eth0|{address}": {"gwaddr": "10.255.0.1"}, "eth0|fd00::5/64": {}},
        "PORT": {f"Ethernet{n}": {"lanes": str(n), "mtu": "9100"} for n in range(3)},
        "SNMP_COMMUNITY": {f"${{secret:{SECRET_NAME}}}": {"TYPE": "RO"}},
        "TACPLUS": {"global": {"passkey": f"${{secret:{SECRET_NAME}}}"}},
    }


def device(name: str, role: str = "leaf", **more: Any) -> WiredDevice:
    """A switch as fabric.json has it."""
    plane = more.pop("plane", "compute")
    return WiredDevice(name, f"{plane}/{name}", plane, role, "platform", "layout", "X", **more)


DEVICES = (
    device("leaf-r0", rail=0, su=0),
    device("leaf-r1", rail=1, su=0),
    device("spine-0", role="spine"),
)


def cabled(folder: Path) -> Path:
    """A bundle with a leaf, a spine with aliases, and a spine that is planned; cables to both."""
    devices = (DEVICES[0], DEVICES[2], device("spine-1", "spine", state="planned"))
    links = tuple(
        WiredLink(
            f"link{n}",
            "compute",
            "leaf-spine",
            ("leaf-r0", f"Ethernet{n}"),
            (f"spine-{n - 1}", "Ethernet0"),
            400000,
            "",
        )
        for n in (1, 2)
    )
    spine = config("spine-0")
    spine["PORT"]["Ethernet0"]["alias"] = "etp1"
    return write_bundle(folder, devices, links, spine_0=spine)


def write_bundle(
    folder: Path,
    devices: tuple[WiredDevice, ...] = DEVICES,
    links: tuple[WiredLink, ...] = (),
    **configs: dict[str, Any],
) -> Path:
    """Write the bundle; `configs` replace single devices' tables, by name with _ for -."""
    planes = tuple(WiredPlane(name, "roce", "explicit") for name in sorted({each.plane for each in devices}))
    for each in devices:
        file = folder / "sonic" / each.name / "config_db.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(dump(configs.get(each.name.replace("-", "_"), config(each.name))))
    (folder / "fabric.json").write_bytes(dump_wiring(Wiring("small", planes, devices, (), links, ())))
    return folder


def make_bundle(folder: Path, devices: tuple[WiredDevice, ...] = DEVICES) -> Bundle:
    """The bundle, written and read back."""
    return open_bundle([write_bundle(folder, devices)])
