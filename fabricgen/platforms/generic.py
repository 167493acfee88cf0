"""Bare switches for counting: `generic-64x400g` is not a product, but 64 ports of 400G, created when it is used;
`generic-64x200g+32x400g` has 32 ports of 400G behind 64 of 200G.

So a chassis without an entry can be counted. It serves both Ethernet and InfiniBand planes. Nothing is
known of its buffers, so no lossless plane is rendered for it.
"""

import re
from collections.abc import Iterator

from fabricgen.platforms.model import Layout, PlatformPort, SwitchPlatform
from fabricgen.units import format_speed, parse_speed_mbps
from fabricgen.vocabulary import Technology

EXAMPLE = "generic-64x400g"
_PORTS = r"[1-9]\d{0,4}x[1-9]\d{0,5}[mgt]"
_NAME = re.compile(rf"generic-({_PORTS}(?:\+{_PORTS})*)", re.IGNORECASE)
_LANES = 8  # of a cage, which it has for each port


def generic_switch(name: str) -> SwitchPlatform | None:
    """The bare switch of a name such as generic-576x400g, letters in any case; None for another name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    counts = [(int(count), parse_speed_mbps(speed)) for count, speed in _split(match[1])]
    named = [(count, format_speed(speed_mbps)) for count, speed_mbps in counts]
    layout = Layout(
        name="+".join(f"{count}x{speed.lower()}" for count, speed in named),
        hwsku=f"Generic-{'+'.join(f'{count}x{speed}' for count, speed in named)}",
        ports=tuple(_ports(counts)),
        headroom=(),
        buffers={},
        sources={"ports": "counted, no product"},
    )
    radix = " + ".join(str(count) for count, _ in counts)
    return SwitchPlatform(
        name=f"generic-{layout.name}",
        vendor="generic",
        technology=Technology.ANY,
        asic="generic",
        asic_vendor="generic",
        onie_platform=f"generic-{layout.name}",
        buffer_model="traditional",
        capabilities={},
        layouts=(layout,),
        sources={"all": f"no product: a bare switch of radix {radix}, eight lanes a cage, numbered in order"},
    )


def _split(text: str) -> Iterator[list[str]]:
    """'64x200g+32x400g' to count and speed of each."""
    return (group.lower().split("x") for group in text.split("+"))


def _ports(counts: list[tuple[int, int]]) -> Iterator[PlatformPort]:
    cage = 0
    for count, speed_mbps in counts:
        for _ in range(count):
            yield PlatformPort(
                name=f"Ethernet{cage * _LANES}",
                lanes=tuple(range(cage * _LANES + 1, (cage + 1) * _LANES + 1)),
                alias=f"etp{cage + 1}",
                index=cage + 1,
                subport=0,
                parent=f"Ethernet{cage * _LANES}",
                speed_mbps=speed_mbps,
                kind="fabric",
                fec="",
                breakout_mode=f"1x{format_speed(speed_mbps)}",
            )
            cage += 1
