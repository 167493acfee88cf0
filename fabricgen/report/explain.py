"""The explanation of one value: its origins step by step, or what a switch of the dynamic buffer model computes."""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import ObservedDevice
from fabricgen.bundle.sources import Explanation
from fabricgen.findings import Location
from fabricgen.platforms.dynamic_buffers import buffers_of
from fabricgen.sonic.dynamic_buffers.headroom import profile_name
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL, PREDICTED, DynamicBuffers
from fabricgen.sonic.secrets import PLACEHOLDER, is_secret, is_secret_text, shown_key

_FORMULAS = "sonic-swss cfgmgr/buffer_pool_mellanox.lua and buffer_headroom_mellanox.lua"


def explain_value(
    device: ObservedDevice, path: Sequence[str], explanation: Explanation | None, guards: Sequence[str] = ()
) -> Iterator[str]:
    """Lines about TABLE, key, field of a device; `guards` are the codes of the rules that check it."""
    table, key, name = path
    content = device.row(table, key).get(name)
    hidden = is_secret(table, name) or is_secret_text(str(content))
    hidden = hidden and not str(content).startswith(PLACEHOLDER)
    shown = "*** (not shown: it may be a secret)" if hidden else repr(content).replace("'", '"')
    yield f"{device.name}  {table}|{shown_key(table, key)}|{name} = {shown}"
    yield f"  in        {device.locate(*path)}"
    yield f"  guarded   {', '.join(guards) or 'by no rule'}"
    yield from _made_by(explanation)


def explain_option(
    subnet: str, option: str, text: str, place: Location, explanation: Explanation | None
) -> Iterator[str]:
    """Lines about an option of a subnet manager."""
    secret = is_secret("opensm.conf", option) and not text.startswith(PLACEHOLDER)
    yield f"{subnet}  {option} = {'*** (not shown: it is a secret)' if secret else text}"
    yield f"  in        {place}"
    yield from _made_by(explanation)


def _made_by(explanation: Explanation | None) -> Iterator[str]:
    if explanation is None:
        yield "  source    none recorded: not rendered by fabricgen, or changed by hand"
        return
    yield f"  template  {explanation.template}"
    for origin in explanation.origins:
        if origin.inventory:
            yield f"  asked by  {origin.inventory}"
        if origin.platform:
            yield f"  fact      {origin.platform}"
        yield from (f"  step      {step}" for step in origin.steps)
    if not explanation.origins:
        yield "  step      the template's own text"


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
