"""Mistakes in partitions that OpenSM would not report.

OpenSM silently ignores an unknown member, a key that equals another one, and a tenant whose members have no
connectivity.
"""

from collections.abc import Iterable, Iterator

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.members import Members
from fabricgen.control_plane.partitions import DEFAULT_PKEY, PKEY_BITS
from fabricgen.design.model import Link, PlaneDesign
from fabricgen.findings import Finding, Related
from fabricgen.inventory.infiniband import Membership, MemberSpec, PartitionSpec
from fabricgen.inventory.mistakes import error
from fabricgen.opensm.options import RATE_CODES

_FULL_BIT = 0x8000
ADAPTER_KEYS = 128  # entries in the table of current adapter ports, including Default


def check_partitions(design: PlaneDesign, allocation: Allocation) -> Iterator[Finding]:
    """The mistakes in the partitions of a plane."""
    plane, members = design.plane, Members(design, allocation)
    names: dict[str, PartitionSpec] = {"default": plane.infiniband.default_partition}
    keys: dict[int, PartitionSpec] = {}
    keys_of_port: dict[Link, int] = {}
    for spec in plane.partitions:
        yield from _check_name(spec, names)
        yield from _check_pkey(spec, keys)
        for member in spec.members:
            found = members.find(member.name)
            if isinstance(found, str):
                message = f"tenant {spec.name}: {member.name!r} is not a member of plane {plane.name}"
                yield error("FG881", message, member, *_step(member, "member"), hint=found)
        yield from _check_membership(spec)
        chosen = members.chosen(spec)
        yield from _check_group(spec, chosen)
        for link, membership in chosen.items():
            keys_of_port[link] = keys_of_port.get(link, 1) + (2 if membership is Membership.BOTH else 1)
    yield from _check_group(plane.infiniband.default_partition, members.links)
    fullest = max(keys_of_port, key=lambda link: keys_of_port[link], default=None)
    if fullest is not None and keys_of_port[fullest] > ADAPTER_KEYS:
        message = f"{fullest.a.key}/{fullest.a_port} would have {keys_of_port[fullest]} P_Keys, including Default"
        hint = f"use at most {ADAPTER_KEYS} P_Keys for each adapter port; OpenSM ignores further ones"
        yield error("FG886", message, plane, "partitions", hint=hint)


def _check_name(spec: PartitionSpec, names: dict[str, PartitionSpec]) -> Iterator[Finding]:
    first = names.setdefault(spec.name.lower(), spec)
    if first is not spec:
        related = (Related("the other partition", first.at("name")),)
        yield error("FG102", f"the partition {spec.name!r} is defined already", spec, "name", related=related)


def _check_pkey(spec: PartitionSpec, keys: dict[int, PartitionSpec]) -> Iterator[Finding]:
    assert spec.pkey is not None, "the schema requires a P_Key"
    low = spec.pkey & PKEY_BITS
    if low in (0, DEFAULT_PKEY):
        why = (
            "OpenSM makes up a key for it, which may be that of another tenant"
            if low == 0
            else "it is the Default partition"
        )
        hint = "use 0x0001 to 0x7ffe, with or without the top bit"
        yield error(
            "FG882", f"tenant {spec.name} cannot have the P_Key 0x{spec.pkey:04x}: {why}", spec, "pkey", hint=hint
        )
        return
    first = keys.setdefault(low, spec)
    if first is not spec:
        message = f"tenants {first.name} and {spec.name} have one P_Key, 0x{low | _FULL_BIT:04x}, so OpenSM merges them"
        related = (Related(f"tenant {first.name}", first.at("pkey")),)
        hint = "use different low 15 bits: 0x0001 and 0x8001 are the same key"
        yield error("FG883", message, spec, "pkey", hint=hint, related=related)


def _check_membership(spec: PartitionSpec) -> Iterator[Finding]:
    if all(member.membership is Membership.LIMITED for member in spec.members):
        hint = "set `{member: …, membership: full}` for shared members: limited members reach only full members"
        message = f"the members of tenant {spec.name} cannot communicate: all are limited"
        yield error("FG884", message, spec, "membership", hint=hint)


def _check_group(spec: PartitionSpec, links: Iterable[Link]) -> Iterator[Finding]:
    """The rate of the IPoIB group must have a code in OpenSM, and every member must support it."""
    if spec.rate_mbps is None:
        return
    if spec.rate_mbps not in RATE_CODES:
        known = ", ".join(f"{rate // 1000}G" for rate in sorted(RATE_CODES) if rate >= 10_000)
        message = f"partition {spec.name}: OpenSM has no code for a rate of {spec.rate_mbps // 1000}G"
        yield error("FG885", message, spec, "rate", hint=f"known: {known}")
        return
    slowest = min(links, key=lambda link: link.speed_mbps, default=None)
    if slowest is not None and slowest.speed_mbps < spec.rate_mbps:
        speed = slowest.speed_mbps // 1000
        message = f"partition {spec.name}: {slowest.a.key}/{slowest.a_port} has {speed}G and cannot join a group of "
        message += f"{spec.rate_mbps // 1000}G"
        yield error("FG885", message, spec, "rate", hint="use at most the rate of the slowest member, or remove `rate`")


def _step(member: MemberSpec, key: str) -> tuple[str, ...]:
    return (key,) if member.node.mapping else ()
