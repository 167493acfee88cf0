"""Platform entries for models that the catalog does not have: profiles of Hedgehog, and virtual switches of labs.

An entry has ports and modes of cages, and no headroom: nothing public states it for these switches.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fabricgen.adopt.foreign.described import DescribedSwitch
from fabricgen.platforms.model import IMPORTED, Cage, Layout, PlatformPort, SwitchPlatform
from fabricgen.units import format_speed, parse_speed_mbps


@dataclass(frozen=True)
class _Cages:
    """`count` cages from Ethernet`first` on, every `step` numbers; the first mode is the one of the layout.

    A mode such as 1x100G[40G] is that of BREAKOUT_CFG; a cage with one mode cannot be split.
    """

    count: int
    first: int
    step: int
    modes: tuple[str, ...]


def _of(count: int, first: int, *modes: str) -> _Cages:
    return _Cages(count, first, 1, modes)


def _qsfp28(count: int, first: int, *, by_two: bool = True) -> _Cages:
    modes = ("1x100G[50G,40G]", "2x50G", "4x25G[10G]") if by_two else ("1x100G[40G]", "4x25G[10G]")
    return _Cages(count, first, 4, modes)


_SFP28, _SFP = "1x25G[10G]", "1x10G[1G]"
_DS3000 = (_qsfp28(32, 0), _of(1, 128, _SFP))
# githedgehog/fabric 78827deb, pkg/ctrl/switchprofile: Ports (NOSName, BaseNOSName), PortProfiles and Platform of each
# profile. The SKU is that of the platform's folder in sonic-buildimage 086b03bd70f9, else the name of the product.
# profile -> (ONIE platform, SKU, cages)
PROFILES: dict[str, tuple[str, str, tuple[_Cages, ...]]] = {
    "celestica-ds2000": ("x86_64-cel_ds2000-r0", "DS2000", (_of(48, 0, _SFP28), _qsfp28(8, 48, by_two=False))),
    "celestica-ds3000": ("x86_64-cel_seastone_2-r0", "Seastone_2", _DS3000),
    "celestica-ds4101": (
        "x86_64-cel_ds4101-r0",
        "DS4101",
        (
            _Cages(32, 0, 8, ("2x400G[200G,100G,40G]", "1x400G[200G,100G]", "4x200G[100G,50G]", "8x100G[50G,25G,10G]")),
            _of(2, 256, _SFP),
        ),
    ),
    "celestica-ds5000": (
        "x86_64-cls-ds5000-r0",
        "DS5000",
        (
            _Cages(64, 0, 8, ("1x800G[400G,100G,50G]", "2x400G[200G,100G]", "4x200G[100G]", "8x100G")),
            _of(1, 512, "1x25G[10G,1G]"),
        ),
    ),
    "dell-s5248f-on": ("x86_64-dellemc_s5248f_c3538-r0", "DellEMC-S5248f-P-25G", (_of(48, 0, _SFP28), _qsfp28(8, 48))),
    "edgecore-dcs203": (
        "x86_64-accton_as7326_56x-r0",
        "Accton-AS7326-56X",
        (_of(48, 0, _SFP28), _qsfp28(8, 48, by_two=False), _of(2, 80, _SFP)),
    ),
    "edgecore-dcs204": ("x86_64-accton_as7726_32x-r0", "Accton-AS7726-32X", _DS3000),
    "edgecore-dcs240": (
        "x86_64-accton_as9726_32d-r0",
        "Accton-AS9726-32D",
        (
            _Cages(32, 0, 8, ("1x400G[100G,50G,40G,25G,10G]", "2x200G[100G,40G]", "4x100G", "8x50G[25G,10G]")),
            _of(2, 256, _SFP),
        ),
    ),
    "edgecore-dcs501": ("x86_64-accton_as7712_32x-r0", "Accton-AS7712-32X", (_qsfp28(32, 0, by_two=False),)),
    "edgecore-eps202": (
        "x86_64-accton_as4630_54pe-r0",
        "Accton-AS4630-54PE",
        (_of(48, 0, "1x1G"), _of(4, 48, "1x25G[10G,1G]"), _qsfp28(2, 52, by_two=False)),
    ),
    "edgecore-eps203": (
        "x86_64-accton_as4630_54npe-r0",
        "Accton-AS4630-54NPE",  # its first 36 ports also have 2.5G, for which there is no mode
        (_of(36, 0, "1x1G"), _of(12, 36, _SFP), _of(4, 48, "1x25G[10G,1G]"), _qsfp28(2, 52, by_two=False)),
    ),
    "supermicro-sse-c4632sb": ("x86_64-cel_seastone_2-r0", "Seastone_2", _DS3000),
    "vs": ("x86_64-kvm_x86_64-r0", "Force10-S6000", (_of(48, 0, _SFP28),)),
}
_LAB = re.compile(r"(?:arista-?)?(?:c|v)eos(?:[-_ ]?lab)?", re.IGNORECASE)
_LAB_MODES = ("1x100G[50G,40G,25G,10G,1G]", "4x25G[10G]")
_FEWEST_LAB_CAGES = 8


def made_platform(model: str, switches: Iterable[DescribedSwitch]) -> SwitchPlatform | None:
    """The platform of a profile of Hedgehog, or of the virtual switch of a lab with as many cages as its files use;
    None for another model."""
    if known := PROFILES.get(model.lower()):
        onie, hwsku, cages = known
        return _platform(model.lower(), onie, hwsku, cages, "githedgehog/fabric pkg/ctrl/switchprofile")
    if _LAB.fullmatch(model):
        used = max((port.cage for switch in switches for port in switch.ports.values()), default=0)
        cages = (_Cages(max(used, _FEWEST_LAB_CAGES), 0, 4, _LAB_MODES),)
        name = re.sub(r"[^a-z0-9]+", "-", model.lower())
        return _platform(name, "x86_64-kvm_x86_64-r0", model, cages, "ports of the imported files, 100G each")
    return None


def _platform(name: str, onie: str, hwsku: str, cages: tuple[_Cages, ...], source: str) -> SwitchPlatform:
    found = list(_cages(cages))
    ports = tuple(port for cage, text in found for port in _ports(cage, text))
    counts = Counter(port.speed_mbps for port in ports)
    layout = "+".join(f"{count}x{format_speed(speed).lower()}" for speed, count in sorted(counts.items()))
    return SwitchPlatform(
        name=name,
        vendor=IMPORTED,
        asic=None,
        asic_vendor=None,
        onie_platform=onie,
        buffer_model="traditional",
        capabilities={},
        layouts=(Layout(layout, hwsku, ports, headroom=(), buffers={}, sources={"ports": source}),),
        sources={"all": source},
        cages=tuple(cage for cage, _ in found if len(cage.modes) > 1 or "[" in next(iter(cage.modes))),
    )


def _cages(groups: Iterable[_Cages]) -> Iterator[tuple[Cage, str]]:
    """Each cage with its mode in the layout. Lanes count from 1, over all cages."""
    index, lane = 1, 1
    for group in groups:
        for place in range(group.count):
            lanes = tuple(range(lane, lane + group.step))
            modes = {mode: _aliases(index, int(mode.partition("x")[0])) for mode in group.modes}
            yield Cage(f"Ethernet{group.first + place * group.step}", (index,), lanes, modes), group.modes[0]
            index, lane = index + 1, lane + group.step


def _aliases(index: int, count: int) -> tuple[str, ...]:
    return tuple(f"Eth{index}/{part}" for part in range(1, count + 1)) if count > 1 else (f"Eth{index}",)


def _ports(cage: Cage, mode: str) -> Iterator[PlatformPort]:
    """The ports of a cage in a mode."""
    count, _, speed = mode.partition("[")[0].partition("x")
    first, aliases = int(cage.parent.removeprefix("Ethernet")), cage.modes[mode]
    each = len(cage.lanes) // int(count)
    for part in range(int(count)):
        yield PlatformPort(
            name=f"Ethernet{first + part * each}",
            lanes=cage.lanes[part * each : (part + 1) * each],
            alias=aliases[part],
            index=cage.indexes[0],
            subport=part + 1 if int(count) > 1 else 0,
            parent=cage.parent,
            speed_mbps=parse_speed_mbps(speed),
            kind="fabric",
            fec="",
            breakout_mode=mode,
        )
