"""The explanation of what a switch of the dynamic buffer model computes: its pools, and the profile of a port."""

from collections.abc import Iterator

from fabricgen.bundle.read import ObservedDevice
from fabricgen.platforms.dynamic_buffers import buffers_of
from fabricgen.sonic.dynamic_buffers.headroom import profile_name
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL, PREDICTED, DynamicBuffers

_FORMULAS = "sonic-swss cfgmgr/buffer_pool_mellanox.lua and buffer_headroom_mellanox.lua"


def explain_missing_size(device: ObservedDevice, path: str) -> list[str]:
    """Lines about BUFFER_POOL|name|size or |xoff where the file has no such field and the switch computes it; empty for
    any other value."""
    table, _, rest = path.partition("|")
    pool, _, field = rest.rpartition("|")
    row = device.table("BUFFER_POOL").get(pool)
    if table != "BUFFER_POOL" or row is None or field in row or field not in ("size", "xoff"):
        return []
    computed = buffers_of(device)
    sizes = computed.sizes if computed else None
    if computed is None or sizes is None or (field == "xoff" and not (pool == LOSSLESS_POOL and sizes.headroom_bytes)):
        return []
    value = sizes.headroom_bytes if field == "xoff" else sizes.bytes[pool]
    return [
        f"{device.name}  {path} = {value}",
        f"  in        no field of {device.file}: the switch computes it when it has started; {PREDICTED}",
        *_memory(computed),
        f"  step      all ports that are up reserve {sizes.reserved_bytes} bytes, with the headroom that they share",
    ]


def explain_computed_profile(device: ObservedDevice, table: str, key: str) -> Iterator[str]:
    """Lines about the profile that the switch computes for a row of BUFFER_PG; none if the file has the profile."""
    port = key.partition("|")[0]
    if table != "BUFFER_PG" or "," in port:
        return
    computed = buffers_of(device)
    if computed is None or not computed.is_computed(str(device.row(table, key).get("profile"))):
        return
    wired, headroom = computed.wired_port(port), computed.headroom(port)
    if wired is None or headroom is None:
        yield "  computed  no headroom: the port has no speed or no cable length"
        return
    name = profile_name(computed.platform, wired)
    sizes = f"xon {headroom.xon_bytes}, xoff {headroom.xoff_bytes}, size {headroom.size_bytes} bytes"
    yield f"  computed  {name}: {sizes} ({PREDICTED})"
    yield f"  fact      {_FORMULAS}"


def _memory(computed: DynamicBuffers) -> Iterator[str]:
    yield f"  fact      {_FORMULAS}"
    yield f"  step      the memory is {computed.mmu_bytes} bytes ({computed.memory_source})"
