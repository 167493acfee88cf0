"""What NCCL and RCCL do on a fabric, by version: channels of a NIC, and the defaults of settings that decide its paths.

Source: NVIDIA/nccl, tags v2.21.5-1 to v2.30.7-1. Search channels: src/graph/search.cc, speedArrayInter,
sm90SpeedArrayInter (48 GB/s first) and sm100SpeedArrayInter (48 GB/s first, 96 GB/s from v2.27.6-1): one channel takes
a NIC up to that speed. src/graph/connect.cc, ncclTopoPostset: rings are duplicated ("Duplication should be complete
now"), and once more below 16 channels on several nodes ("Use 4 compute channels per search channel"), if minCompCap ==
90, from v2.25.1-1 on >= 90. NCCL_IB_SPLIT_DATA_ON_QPS: src/transport/net_ib.cc, later net_ib/common.cc; NCCL_PXN_C2C:
src/graph/paths.cc, where PXN needs GPUDirect RDMA from v2.30.3-1. Without NVLink between the GPUs of a host the second
duplication is left out (bwIntra > 45).

RCCL takes its rings from models of single servers. ROCm/rccl, tags rocm-6.0.0 (2.18.3), rocm-6.1.0 (2.18.6), rocm-6.2.0
(2.20.5) and commit 0cbce2a7 (2.21.5), later ee2d4e42; ROCm/rocm-systems 05f500ed and 028c2846 (projects/rccl, 2.28.3 to
2.31.2 by its CHANGELOG.md). src/graph/rome_models.cc, rome_model_81 (8 GPUs, 8 NICs, 7 links each): ringBase has 16
rings, from 2.20.5 on 64, and each NIC sends the same number. src/graph/connect.cc, ncclTopoPostset: rings are doubled
if that is at most maxChannels: MAXCHANNELS (include/devcomm.h, device.h: 32 in 2.18.3, 64 in 2.18.6), and 64 over
several nodes from 2.20.5 on. On gfx950 it is 48 ("default capping to 48", 05f500ed; by the changelog since 2.28.3 for
ROCm 7.12) and again 64 in 028c2846; no changelog names the version, which is 2.31 here. NCCL_IB_QPS_PER_CONNECTION is
1, NCCL_IB_SPLIT_DATA_ON_QPS as in src/transport/net_ib.cc, later net_ib/common.cc. PXN: src/graph/paths.cc, PXN_DISABLE
1; src/rccl_wrap.cc (2.26.6), rcclSetPxn: ranksThreshold 64, on gfx950 32.
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
_NEWEST = {"NCCL": (2, 30), "RCCL": (2, 31)}  # that were read
_LAST_PATCH = 99  # of a version without its third number


@dataclass(frozen=True, slots=True)
class RcclRelease:
    """The behavior of RCCL from a version on. `rings` are those of a server with eight GPUs and eight NICs, `most` the
    channels over several servers, on `gfx942` (MI300X, MI325X) and `gfx950` (MI350X, MI355X; None: not supported).
    `split` is the default of NCCL_IB_SPLIT_DATA_ON_QPS. PXN is used from `pxn_ranks` ranks on, of both; None: never by
    default."""

    since: Version
    rings: int
    gfx942: int
    gfx950: int | None
    split: bool = False
    pxn_ranks: tuple[int, int] | None = None


RCCL_RELEASES = (
    RcclRelease((2, 18, 0), 16, 32, None, split=True),
    RcclRelease((2, 18, 6), 16, 64, None, split=True),
    RcclRelease((2, 20, 0), 64, 64, None),
    RcclRelease((2, 26, 0), 64, 64, 64, pxn_ranks=(64, 32)),
    RcclRelease((2, 28, 0), 64, 64, 48, pxn_ranks=(64, 32)),
    RcclRelease((2, 31, 0), 64, 64, 64, pxn_ranks=(64, 32)),
)
RCCL_NICS = 8  # of a host, which the model of the rings has
_GFX950 = ("mi350x", "mi355x")
_GFX942 = ("mi300x", "mi325x")
_CAPABILITIES = {"a100": 80, "h100": 90, "h200": 90, "b200": 100, "gb200": 100, "b300": 103, "gb300": 103, "vr": 107}


def parse_version(text: str, library: str = "NCCL") -> Version:
    """2.30.7 as numbers; 2.30 is the last of its patches. Raises ValueError for another text, and for versions before
    the first one here of the library, NCCL or RCCL."""
    parts = text.split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise ValueError(f"{text!r} is not a version of {library} such as {_newest(library)}")
    version = int(parts[0]), int(parts[1]), int(parts[2]) if len(parts) == 3 else _LAST_PATCH
    first = (RCCL_RELEASES if library == "RCCL" else RELEASES)[0].since
    if not first <= version:
        raise ValueError(f"{library} {text} is not known: the versions are {first[0]}.{first[1]} and later")
    return version


def counts_as(version: Version, library: str) -> str:
    """What is assumed of a version that is newer than those that were read; "" for the others."""
    if version[:2] <= _NEWEST[library]:
        return ""
    return f"{library} {version[0]}.{version[1]} counts as {_newest(library)}, the newest that was read"


def _newest(library: str) -> str:
    return ".".join(map(str, _NEWEST[library]))


def release_of(version: Version) -> NcclRelease:
    """The behavior of a version; one outside of those that were read counts as the nearest of them."""
    return next((one for one in reversed(RELEASES) if one.since <= version), RELEASES[0])


def rccl_release_of(version: Version) -> RcclRelease:
    """The defaults of a version of RCCL; an older one than the first that was read counts as that."""
    return next((one for one in reversed(RCCL_RELEASES) if one.since <= version), RCCL_RELEASES[0])


def splits_by_default(library: str, version: Version) -> bool:
    """Whether NCCL_IB_SPLIT_DATA_ON_QPS is 1 by default."""
    return (rccl_release_of(version) if library == "RCCL" else release_of(version)).split


def uses_pxn_by_default(library: str, version: Version, model: str, ranks: int) -> bool:
    """Whether GPUs of a host model send through the NIC of another one in a job of `ranks` without NCCL_PXN_DISABLE."""
    if library != "RCCL":
        return True  # since 2.12.7; from 2.30 on with GPUDirect RDMA only
    fewest = rccl_release_of(version).pxn_ranks
    return fewest is not None and ranks >= fewest[_is_gfx950(model)]


def capability_of(model: str) -> int | None:
    """The compute capability of the GPUs of a host model of the catalog, times ten; None if its name does not say."""
    words = _words(model)
    return next((number for name, number in _CAPABILITIES.items() if name in words), None)


def _words(model: str) -> list[str]:
    return model.lower().replace("_", "-").split("-")


def _is_gfx950(model: str) -> bool:
    return not set(_words(model)).isdisjoint(_GFX950)


def channels_of_nic(version: Version, nics: int, nic_gbps: float, capability: int) -> int:
    """The channels of a ring or tree over several nodes on each of the `nics` of a host."""
    release = release_of(version)
    fastest = release.fastest_gbytes if capability >= _BLACKWELL else 48.0
    search = nics * max(1, int(nic_gbps / 8 // fastest))
    channels = min(_MOST, 2 * search)
    if channels < _FEWEST_MOST and capability in release.again:
        channels *= 2
    return max(1, channels // nics)


def rccl_channels_of_nic(version: Version, model: str) -> tuple[int, str]:
    """(channels of a ring or tree over several hosts on each NIC, what is assumed), for a host model with eight GPUs of
    AMD and eight NICs. Raises ValueError if the version does not have its GPUs."""
    release = rccl_release_of(version)
    is_new, is_known = _is_gfx950(model), bool(set(_words(model)).intersection(_GFX942))
    most = release.gfx950 if is_new else release.gfx942
    if most is None:
        raise ValueError(f"RCCL {version[0]}.{version[1]} does not support the GPUs of {model}: RCCL 2.26 and later do")
    channels = 2 * release.rings if 2 * release.rings <= most else min(release.rings, most)
    return channels // RCCL_NICS, "" if is_new or is_known else f"GPUs of {model} count as MI300X"
