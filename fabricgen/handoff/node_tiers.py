"""The labels of Kubernetes nodes for the tiers of the fabric above them, and for their NVLink domain.

Keys: topograph e2b6250, docs/reference/node-labels.md (1.0.0 and later), and its release 0.5.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError

if TYPE_CHECKING:
    from fabricgen.bundle.locality import Locality
    from fabricgen.bundle.wiring import WiredHost

HOSTNAME = "kubernetes.io/hostname"  # on each node, set by kubelet
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
MOST_CHARACTERS = 63
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


@dataclass(frozen=True)
class Keys:
    """The keys of labels. `tiers` are those of the narrowest tiers first; None for fabric.topograph.run/tier-N."""

    nvlink: str
    tiers: tuple[str, ...] | None = None

    def tier(self, number: int) -> str:
        """The key of a tier, 0 for the nearest. Raises UsageError where the family has no key for it."""
        if self.tiers is None:
            return f"fabric.topograph.run/tier-{number}"
        if number >= len(self.tiers):
            raise UsageError(
                f"the fabric has more tiers than the labels {', '.join(self.tiers)}; use --labels topograph"
            )
        return self.tiers[number]


_OLD = "network.topology.nvidia.com"
FAMILIES = {
    "topograph": Keys("accelerator.topograph.run/domain"),
    "nvidia": Keys(f"{_OLD}/accelerator", tuple(f"{_OLD}/{tier}" for tier in ("leaf", "spine", "core"))),
}


@dataclass(frozen=True)
class NodeLevel:
    """One label of the nodes: its key, a short name of the level, and the value of each host."""

    key: str
    name: str
    value_of: Mapping[str, str]


def tiers_of(roots: Sequence["Locality"], keys: Keys) -> list[NodeLevel]:
    """The tiers, the nearest first. Each host has a value in each tier: where a tier joins no further hosts, it has the
    group below once more."""
    heights = [_height(root) for root in roots]
    values: list[dict[str, str]] = [{} for _ in range(max(heights) + 1)]
    for root in roots:
        for group, first, last in _spans(root, len(values)):
            for value in values[first:last]:
                value.update(dict.fromkeys(group.hosts, label_value(group.name)))
    return [NodeLevel(keys.tier(number), f"tier{number}", value) for number, value in enumerate(values)]


def _spans(group: "Locality", end: int) -> Iterator[tuple["Locality", int, int]]:
    """(group, its first tier, the tier above its last) of the group and all groups inside."""
    height = _height(group)
    yield group, height, end
    for part in group.parts:
        yield from _spans(part, height)


def _height(group: "Locality") -> int:
    return max((_height(part) + 1 for part in group.parts), default=0)


def with_domains(tiers: Sequence[NodeLevel], hosts: Sequence["WiredHost"], keys: Keys) -> list[NodeLevel]:
    """The tiers with the NVLink domains at their place, the nearest first.

    A scheduler expects each domain in one group of the next tier. Without such a place, or if some hosts have no
    domain, the domains are not a level; the nodes still have the label.
    """
    of_host = {host.name: label_value(host.nvlink_domain) for host in hosts if host.nvlink_domain}
    domains = NodeLevel(keys.nvlink, "nvlink", of_host)
    if len(of_host) < len(hosts):
        return list(tiers)
    for place in range(len(tiers) + 1):
        narrower, wider = tiers[place - 1 : place] if place else [], tiers[place : place + 1]
        if all(_within(level, domains) for level in narrower) and all(_within(domains, level) for level in wider):
            return [*tiers[:place], domains, *tiers[place:]]
    return list(tiers)


def _within(inner: NodeLevel, outer: NodeLevel) -> bool:
    """Whether the hosts of each inner group are in one outer group."""
    pairs = {(inner.value_of[host], outer.value_of[host]) for host in inner.value_of}
    return len(pairs) == len({group for group, _ in pairs})


def label_value(text: str) -> str:
    """The text, or its FNV-64a hash as topograph writes it if the text is too long.

    Raises UsageError for a text that Kubernetes does not allow.
    """
    if len(text) > MOST_CHARACTERS:
        return f"x{fnv_64a(text):x}"
    if not _LABEL_VALUE.fullmatch(text):
        raise UsageError(f"{text!r} is not allowed as a label: use letters, digits, . _ - and no . _ - at the ends")
    return text


def fnv_64a(text: str) -> int:
    """The FNV-1a hash of 64 bits."""
    found = _FNV_OFFSET
    for byte in text.encode():
        found = (found ^ byte) * _FNV_PRIME % (1 << 64)
    return found
