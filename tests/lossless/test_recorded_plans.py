"""Whole plans, with the origin of every value, compared with recorded ones: a change of any number shows in its file.

tests/lossless/plans/ has one file for each case; `pytest --update-golden` rewrites them. Read their difference before
committing it: each line has the value, its inventory path, its source and the steps of its computation.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fabricgen.design.model import Link
from fabricgen.findings import has_errors
from fabricgen.lossless.hosts import plan_nics
from fabricgen.origin import Value
from fabricgen.render.plans import make_plans
from tests.conftest import Golden
from tests.inventories import ARISTA, DELL, DELL_LINKS, NVIDIA, Tree, explicit, write

CLASSES = {"classes": {3: {"dscp": [26, 27]}}, "cnp": {"dscp": 48}}
OWN_SETTINGS = {
    "classes": {2: {"dscp": [16]}, 4: {"dscp": [34]}, 5: {"dscp": [40]}},
    "cnp": {"dscp": 50},
    "ecn": {"min": 100_000, "max": 400_000, "probability": 20},
    "watchdog": {"action": "forward", "detection_ms": 300, "restoration_ms": 700, "poll_ms": 100},
}
CASES: Mapping[str, tuple[Tree, str]] = {  # name -> inventory, switch
    "arista-leaf": (explicit(ARISTA), "leaf1"),
    "arista-spine": (explicit(ARISTA, cables={"leaf-spine": "41.5m"}), "spine1"),
    "arista-own-settings": (explicit(ARISTA, lossless=OWN_SETTINGS), "leaf1"),
    "arista-without-pfc": (explicit(ARISTA, lossless="none"), "leaf1"),
    "dell-leaf": (explicit(DELL, links=DELL_LINKS), "leaf1"),
    "nvidia-leaf": (
        explicit(NVIDIA, cables={"host-leaf": "1.5m"}, lossless={**CLASSES, "shared_headroom": 2}),
        "leaf1",
    ),
    "nvidia-without-pfc": (explicit(NVIDIA, lossless="none", roce_mtu=2048), "leaf1"),
    "nvidia-trimming": (explicit(NVIDIA, lossless="none", trimming={"dscp": 11, "size": 512}), "leaf1"),
    "no-buffer-facts": (explicit(ARISTA, lossless="none", speed="800G", links=[]), "leaf1"),
}


def lines(content: object, name: str) -> Iterator[str]:
    """Every value below a plan, one to a line."""
    if isinstance(content, Value):
        origin = content.origin
        yield f"{name} = {content!s:<30} | {origin.inventory} | {origin.platform} | {'; '.join(origin.steps)}".rstrip()
    elif dataclasses.is_dataclass(content):
        for field in dataclasses.fields(content):
            yield from lines(getattr(content, field.name), f"{name}.{field.name}")
    elif isinstance(content, Mapping) and content:
        for key, inner in content.items():
            yield from lines(inner, f"{name}.{key}")
    elif isinstance(content, tuple) and content:
        for index, inner in enumerate(content):
            yield from lines(inner, f"{name}[{index}]")
    else:
        yield f"{name} = {content!r}"


@pytest.mark.parametrize("case", CASES)
def test_plan_of(case: str, golden: Golden, tmp_path: Path) -> None:
    tree, name = CASES[case]
    plans = make_plans(write(tmp_path, tree))
    assert not has_errors(plans.findings), plans.findings
    switch = next(one for one in plans.rendered.switches if plans.allocation.names[one.key] == name)
    plan = plans.planner.plan(switch)
    assert plan
    text = [*lines(plan, "plan")]
    ends = plans.control.ends[switch.key]
    for port, end in sorted(ends.items()):
        if isinstance(end.link, Link):
            text += lines(plans.planner.port(switch, end.link), port)
    plane = plans.fabric.inventory.planes["compute"]
    text += lines(plan_nics(plane, [plan], plane.cables["host-leaf"]), "nics")
    golden(Path(__file__).parent / "plans" / f"{case}.txt", ("\n".join(text) + "\n").encode())
