"""Placed jobs as a jobs file."""

from collections.abc import Sequence
from typing import Any

import yaml

from fabricgen.hostlist import expanded, hostlist_parts
from fabricgen.simulate.workload.model import PlacedJob
from fabricgen.units import format_bytes
from fabricgen.yaml_words import WordDumper

_WIDTH = 100


def jobs_text(placed: Sequence[PlacedJob]) -> str:
    """The file, YAML, with the hosts of each job in the order of ranks."""
    tree = {"jobs": [_item(one) for one in placed]}
    text: str = yaml.dump(tree, Dumper=WordDumper, sort_keys=False, default_flow_style=None, width=_WIDTH)
    return text


def _item(one: PlacedJob) -> dict[str, Any]:
    asked = one.request
    found: dict[str, Any] = {"name": one.name, "hosts": _expressions(one.hosts)}
    if asked.rails:
        found["rails"] = list(asked.rails)
    found |= {"pattern": asked.pattern, "size": format_bytes(asked.size_bytes)}
    if asked.start_ns:
        found["start"] = f"{asked.start_ns:.15g}ns"
    if asked.repetitions > 1:
        found["repetitions"] = asked.repetitions
    return {**found, "pinned": True} if asked.pinned else found


def _expressions(hosts: Sequence[str]) -> list[str]:
    """The hosts as ranges where their order is that of the ranges, else one by one."""
    short = list(hostlist_parts(hosts))
    return short if [name for text in short for name in expanded(text)] == list(hosts) else list(hosts)
