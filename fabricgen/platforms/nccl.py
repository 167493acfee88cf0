"""What NCCL and RCCL do on a fabric, by version: channels of a NIC, and the defaults of settings that decide its paths.

Source: NVIDIA/nccl, tags v2.21.5-1 to v2.30.7-1. Search channels: src/graph/search.cc, speedArrayInter,
sm90SpeedArrayInter (48 GB/s first) and sm100SpeedArrayInter (48 GB/s first, 96 GB/s from v2.27.6-1): one channel takes
a NIC up to that speed. src/graph/connect.cc, ncclTopoPostset: rings are duplicated ("Duplication should be complete
now"), and once more below 16 channels on several nodes ("Use 4 compute channels per search channel"), if minCompCap ==
90, from v2.25.1-1 on >= 90. NCCL_IB_SPLIT_DATA_ON_QPS: src/transport/net_ib.cc, later net_ib/common.cc; NCCL_PXN_C2C:
src/graph/paths.cc, where PXN needs GPUDirect RDMA from v2.30.3-1. Without NVLink between the GPUs of a host the second
duplication is left out (bwIntra > 45). ROCm/rccl, tags rocm-6.0.0 (2.18.3) to 0cbce2a7 (2.21.5): src/graph/paths.cc and
src/transport/net_ib.cc; its channels come from ring models of single servers (src/graph/rome_models.cc), which are not
here.
"""

from dataclasses import dataclass

Version = tuple[int, int, int]

_FEWEST_MOST = 16  # channels below which they are duplicated again
_MOST = 32  # MAXCHANNELS of 2.21; it is 64 later, which no host here reaches


@dataclass(frozen=True, slots=True)
class NcclRelease:
    """The behavior from a version on. `again` are the compute capabilities with a second duplication, `fastest_gbytes`
    is what one search channel carries on Blackwell, in GB/s; `split` and `pxn_c2c` are defaults. With `pxn_needs_gdr` a
    GPU sends through the NIC of another one only if that uses GPUDirect RDMA."""

    since: Version
    again: range
    fastest_gbytes: float
    split: bool
    pxn_c2c: bool
    pxn_needs_gdr: bool = False


HOPPER, _BLACKWELL = 90, 100
RELEASES = (
    NcclRelease((2, 21, 0), range(HOPPER, HOPPER + 1), 48.0, False, False),
    NcclRelease((2, 25, 0), range(HOPPER, 1000), 48.0, False, False),
    NcclRelease((2, 27, 6), range(HOPPER, 1000), 96.0, False, False),
    NcclRelease((2, 28, 0), range(HOPPER, 1000), 96.0, False, True),
    NcclRelease((2, 30, 0), range(HOPPER, 1000), 96.0, False, True, pxn_needs_gdr=True),
)
NEWEST = (2, 30)  # that was read
_LAST_PATCH = 99  # of a version without its third number


@dataclass(frozen=True, slots=True)
class RcclRelease:
    """The defaults of RCCL from a version on: whether it uses PXN, and NCCL_IB_SPLIT_DATA_ON_QPS."""

    since: Version
    pxn: bool
    split: bool


RCCL_RELEASES = (RcclRelease((2, 18, 0), False, True), RcclRelease((2, 20, 0), False, False))
_CAPABILITIES = {"a100": 80, "h100": 90, "h200": 90, "b200": 100, "gb200": 100, "b300": 103, "gb300": 103, "vr": 107}


def parse_version(text: str) -> Version:
    """2.30.7 as numbers; 2.30 is the last of its patches. Raises ValueError for another text, and for versions before
    the first one here."""
    parts = text.split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise ValueError(f"{text!r} is not a version of NCCL such as {NEWEST[0]}.{NEWEST[1]}")
    version = int(parts[0]), int(parts[1]), int(parts[2]) if len(parts) == 3 else _LAST_PATCH
    if not RELEASES[0].since <= version:
        raise ValueError(f"NCCL {text} is not known: the versions are 2.21 and later")
    return version


def release_of(version: Version) -> NcclRelease:
    """The behavior of a version; one outside of those that were read counts as the nearest of them."""
    return next((one for one in reversed(RELEASES) if one.since <= version), RELEASES[0])


def rccl_release_of(version: Version) -> RcclRelease:
    """The defaults of a version of RCCL; an older one than the first that was read counts as that."""
    return next((one for one in reversed(RCCL_RELEASES) if one.since <= version), RCCL_RELEASES[0])


def capability_of(model: str) -> int | None:
    """The compute capability of the GPUs of a host model of the catalog, times ten; None if its name does not say."""
    words = model.lower().replace("_", "-").split("-")
    return next((number for name, number in _CAPABILITIES.items() if name in words), None)


def channels_of_nic(version: Version, nics: int, nic_gbps: float, capability: int) -> int:
    """The channels of a ring or tree over several nodes on each of the `nics` of a host."""
    release = release_of(version)
    fastest = release.fastest_gbytes if capability >= _BLACKWELL else 48.0
    search = nics * max(1, int(nic_gbps / 8 // fastest))
    channels = min(_MOST, 2 * search)
    if channels < _FEWEST_MOST and capability in release.again:
        channels *= 2
    return max(1, channels // nics)
