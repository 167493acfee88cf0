"""What NCCL or RCCL prints with NCCL_DEBUG=INFO: the NICs that it uses, GPUDirect RDMA, and channels.

Source: NVIDIA/nccl 5067397c (2.30.7). src/transport/net_ib/init.cc: "NET/IB : Using [0]mlx5_0:1/RoCE …";
src/transport/net.cc, sendSetup: "Channel 00/0 : 8[0] -> 0[0] [send] via NET/IB/0(9)/GDRDMA/Shared", where the number in
brackets is the proxy's rank if PXN uses the NIC of another GPU; src/init.cc: "16 coll channels, …", "NCCL version
2.30.7+cuda13.0"; ROCm/rccl 0cbce2a7, src/init.cc: "RCCL version : 2.21.5-HEAD:…", and "RCCL version 2.20.5+hip6.2 …".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fabricgen.platforms.nccl import Version

_USING = re.compile(r"NET/IB : Using(.*)")
_DEVICE = re.compile(r"\[\d+\]([\w.-]+):\d+")
# Before 2.13 without the connection, and with the bus in brackets: "Channel 00 : 3[b1000] -> 4[18000] [send] via …".
_SEND = re.compile(
    r"Channel \d+(?:/\d+)? : \d+\[[\da-f]+\] -> \d+\[[\da-f]+\] \[send\] via NET/([\w -]+)/\d+(\(\d+\))?(\S*)"
)
_VERSION = re.compile(r"\b([NR]CCL) version (?:: )?(\d+)\.(\d+)\.(\d+)")
_CHANNELS = re.compile(r"\b(\d+) coll channels\b")


@dataclass(frozen=True, slots=True)
class NcclLog:
    """The network part of a log.

    `devices` are the RDMA devices in use, in order; `transport` is the network: IB or Socket. `sends` counts the
    connections that send through NICs, `gdr` those of them with GPUDirect RDMA, and `pxn` those through the NIC of
    another GPU. `channels` is the least number of channels of the communicators, None if it is not in the log.
    `library` is NCCL or RCCL with its `version`; "" and None if the log does not have them.
    """

    devices: tuple[str, ...]
    transport: str
    sends: int
    gdr: int
    pxn: int
    channels: int | None
    library: str = ""
    version: Version | None = None


def read_log(lines: Iterable[str]) -> NcclLog | None:
    """The log within the lines; None without lines of NCCL."""
    devices: dict[str, None] = {}
    transports: set[str] = set()
    sends = gdr = pxn = 0
    channels: list[int] = []
    library, version = "", None
    for line in lines:
        if not library and (said := _VERSION.search(line)):
            library, version = said[1], (int(said[2]), int(said[3]), int(said[4]))
        if "NCCL INFO" not in line:
            continue
        if using := _USING.search(line):
            devices |= dict.fromkeys(_DEVICE.findall(using[1]))
        elif send := _SEND.search(line):
            transports.add(send[1])
            sends, gdr, pxn = sends + 1, gdr + ("/GDRDMA" in send[3]), pxn + bool(send[2])
        elif found := _CHANNELS.search(line):
            channels.append(int(found[1]))
    if not (devices or sends or channels):
        return None
    transport = "Socket" if "Socket" in transports else "IB" if "IB" in transports or devices else ""
    return NcclLog(tuple(devices), transport, sends, gdr, pxn, min(channels, default=None), library, version)
