"""Bare switches for counting: `generic-64x400g` is no product, but 64 ports of 400G, made when it is asked for.

So a chassis can be counted that has no entry of its own. It serves Ethernet and InfiniBand planes alike. Nothing is
known of its buffers, so no lossless plane is rendered for it.
"""

import re

from fabricgen.platforms.model import Layout, PlatformPort, SwitchPlatform
from fabricgen.units import format_speed, parse_speed_mbps

EXAMPLE = "generic-64x400g"
_NAME = re.compile(r"generic-([1-9]\d{0,4})x([1-9]\d{0,5}[mgt])", re.IGNORECASE)
_LANES = 8  # of a cage, which it has for each port


def generic_switch(name: str) -> SwitchPlatform | None:
    """The bare switch of a name such as generic-576x400g, letters in any case; None for another name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    count, speed_mbps = int(match[1]), parse_speed_mbps(match[2])
    speed = format_speed(speed_mbps)
    ports = (
        PlatformPort(
            name=f"Ethernet{cage * _LANES}",
            lanes=tuple(range(cage * _LANES + 1, (cage + 1) * _LANES + 1)),
            alias=f"etp{cage + 1}",
            index=cage + 1,
            subport=0,
            parent=f"Ethernet{cage * _LANES}",
            speed_mbps=speed_mbps,
            kind="fabric",
            fec="",
            breakout_mode=f"1x{speed}",
        )
        for cage in range(count)
    )
    layout = Layout(
        name=f"{count}x{speed.lower()}",
        hwsku=f"Generic-{count}x{speed}",
        ports=tuple(ports),
        headroom=(),
        buffers={},
        sources={"ports": "counted, no product"},
    )
    return SwitchPlatform(
        name=f"generic-{layout.name}",
        vendor="generic",
        technology="any",
        asic="generic",
        asic_vendor="generic",
        onie_platform=f"generic-{layout.name}",
        buffer_model="traditional",
        capabilities={},
        layouts=(layout,),
        sources={"all": f"no product: a bare switch of radix {count}, eight lanes a cage, numbered in order"},
    )
