"""The certificate of a verdict: an order of channels that can be checked against the configuration files.

Every dependency goes from an earlier to a later channel, so there is no cycle. docs/certificate_check.py checks it
without this package. docs/certificate.md has the format. InfiniBand planes: infiniband/certificate.py.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import DeadlockResult
from fabricgen.simulate.deadlock.analysis import Evidence, PlaneDeadlock
from fabricgen.simulate.deadlock.core.valleys import levels_without_valleys
from fabricgen.sonic.canonical import natural_key

FORMAT = "fabricgen-deadlock-certificate/1"
_BY_LINE = ("endpoints", "tables", "levels", "order")
AS_CONFIGURED, WHATEVER_FAILS = "as configured", "whatever fails"

Channel = tuple[str, str, tuple[int, ...]]  # switch, the interface that it sends from, priorities


def certificate(results: Sequence[DeadlockResult]) -> dict[str, Any]:
    """The certificate of all planes, sorted by name, except InfiniBand planes without tables. A plane with a cycle has
    no order."""
    entries = (_entry(one) for one in sorted(results, key=lambda one: one.name))
    return {"format": FORMAT, "planes": [one for one in entries if one is not None]}


def seals(results: Sequence[DeadlockResult]) -> dict[str, str]:
    """Plane -> the seal of its certificate, for planes with a proof."""
    planes = certificate(results)["planes"]
    return {plane["name"]: plane["seal"] for plane in planes if plane["order"] is not None}


def certificate_text(results: Sequence[DeadlockResult]) -> str:
    """The certificate as JSON, one channel or table per line."""
    content = certificate(results)
    blocks = ["{" + ", ".join(_member(*item) for item in plane.items()) + "}" for plane in content["planes"]]
    return f'{{"format": {_json(content["format"])}, "planes": [\n' + ",\n".join(blocks) + "\n]}\n"


def next_hops(results: Sequence[DeadlockResult]) -> dict[str, dict[str, list[str]]]:
    """{switch: {prefix: [next-hop switches]}} of all planes as configured, for every announced prefix; of InfiniBand
    planes {switch: {port GUID: [next-hop switches]}}. If next hops depend on history, all possible ones. Without the
    prefixes that a switch cannot reach or announces itself."""
    found: dict[str, dict[str, list[str]]] = {}
    for result in results:
        if isinstance(result, PlaneDeadlock):
            found.update(result.evidence.fabric.next_hops())
        else:
            found.update(_next_hops_of_subnet(result))
    return dict(sorted(found.items(), key=lambda row: natural_key(row[0])))


def seal(order: Sequence[Sequence[object]]) -> str:
    """A checksum of an order, to detect damaged certificates."""
    return hashlib.sha256(json.dumps(order, separators=(",", ":")).encode()).hexdigest()


def _entry(result: DeadlockResult) -> dict[str, Any] | None:
    return _plane(result) if isinstance(result, PlaneDeadlock) else _subnet(result)


# The modules on subnets take 20 ms to load, so only InfiniBand planes do.


def _next_hops_of_subnet(result: DeadlockResult) -> dict[str, dict[str, list[str]]]:
    from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock
    from fabricgen.simulate.deadlock.infiniband.certificate import subnet_next_hops

    dumps = result.evidence.dumps if isinstance(result, SubnetDeadlock) else None
    return {} if dumps is None else subnet_next_hops(dumps)


def _subnet(result: DeadlockResult) -> dict[str, Any] | None:
    from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock
    from fabricgen.simulate.deadlock.infiniband.certificate import subnet_certificate

    return subnet_certificate(result) if isinstance(result, SubnetDeadlock) else None


def _plane(result: PlaneDeadlock) -> dict[str, Any]:
    evidence = result.evidence
    holds, order = AS_CONFIGURED, None
    if evidence.orders is not None:
        level = levels_without_valleys(evidence.fabric, evidence.traffic)
        holds = AS_CONFIGURED if level is None else WHATEVER_FAILS
        order = list(_of_graphs(evidence) if level is None else _of_levels(evidence, level))
    plane = {"name": result.name, "claim": result.claim, "holds": holds, "switches": list(evidence.fabric.names)}
    return {**plane, "seal": seal(order or []), "order": order}


def _of_graphs(evidence: Evidence) -> Iterator[Channel]:
    """The orders of the dependency graphs, one after the other: graphs have no dependencies on each other."""
    fabric = evidence.fabric
    for one in evidence.orders or ():
        for link, priority in zip(one.links.tolist(), one.priority.tolist(), strict=True):
            yield fabric.names[fabric.network.source[link]], fabric.port(link), one.stands_for or (priority,)


def _of_levels(evidence: Evidence, level: NDArray[np.int64]) -> Iterator[Channel]:
    """All lossless links: uplinks from the lowest level, then downlinks from the highest level."""
    fabric, network, mask = evidence.fabric, evidence.fabric.network, evidence.lossless.mask
    start, up = level[network.source], level[network.target] > level[network.source]
    for link in np.lexsort((np.where(up, start, -start), ~up)).tolist():
        if mask[link]:
            priorities = tuple(p for p in evidence.lossless.priorities if mask[link] >> p & 1)
            yield fabric.names[network.source[link]], fabric.port(link), priorities


def _member(key: str, value: object) -> str:
    text = _json(value)
    if key in _BY_LINE and value and isinstance(value, dict):
        text = "{\n" + ",\n".join(f"{_json(name)}: {_json(one)}" for name, one in value.items()) + "\n}"
    elif key in _BY_LINE and value and isinstance(value, list):
        text = "[\n" + ",\n".join(map(_json, value)) + "\n]"
    return f"{_json(key)}: {text}"


def _json(value: object) -> str:
    return json.dumps(value)
