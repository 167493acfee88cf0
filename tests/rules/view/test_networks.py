"""Switches of loose files that cables connect."""

from pathlib import Path
from typing import Any

from fabricgen.bundle.device import GivenContent
from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import WiredLink
from fabricgen.rules.view.fabric import joined_switches
from fabricgen.vocabulary import LinkKind


def bundle(*links: tuple[str, str, str]) -> Bundle:
    """Switches a to d, and links (kind, one end, other end); port names are those of other switches."""
    empty: Any = {}
    devices = {name: ObservedDevice(name, Path(name), None, GivenContent(b"{}", empty)) for name in "abcd"}
    wired = [
        WiredLink(f"link{number}", "", kind, (one, "a"), (other, "d"), 0, "")
        for number, (kind, one, other) in enumerate(links)
    ]
    return Bundle(devices, tuple(wired))


def test_cables_join_switches_directly_and_over_missing_files() -> None:
    found = bundle(
        (LinkKind.LEAF_SPINE, "a", "c"), (LinkKind.LEAF_SPINE, "b", "gone"), (LinkKind.LEAF_SPINE, "d", "gone")
    )
    assert joined_switches(found) == [("a", "c"), ("b", "d")]


def test_hosts_and_external_routers_join_nothing() -> None:
    found = bundle(
        (LinkKind.HOST_LEAF, "host", "a"), (LinkKind.HOST_LEAF, "host", "b"),
        (LinkKind.EXTERNAL, "wan", "c"), (LinkKind.EXTERNAL, "wan", "d"),
    )  # fmt: skip
    assert joined_switches(found) == [("a",), ("b",), ("c",), ("d",)]
