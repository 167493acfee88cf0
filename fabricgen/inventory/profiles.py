"""Named lossless profiles, shipped and from the inventory. A plane refers to a profile and may replace its keys."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.read_yaml import read_yaml

DEFAULT = "roce-lossless-two-class"
NONE = "none"  # not a profile, but the word for a plane without PFC
SHIPPED = Path(__file__).with_name("profiles.yaml")


@cache
def shipped_profiles() -> Mapping[str, Node]:
    """The profiles that ship with fabricgen."""
    return read_yaml(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name)[0].mapping


def profile_name(lossless: Node) -> str | None:
    """The profile that the `lossless` of a plane names; None if it names no profile."""
    if lossless.mapping:
        named = lossless.mapping.get("profile")
        return str(named.value) if named else None
    return str(lossless.value) if isinstance(lossless.value, str) else None


def with_profile(lossless: Node, own: Mapping[str, Node], default: str) -> Node:
    """The keys of a plane merged over its profile or the default profile.

    With `none` there are no classes. Values of a shipped profile have the location of the reference. An unknown profile
    is treated as the shipped default, and the check of references reports it.
    """
    name = profile_name(lossless) or default
    if name == NONE:
        return lossless
    base = own.get(name) or shipped_profiles().get(name) or shipped_profiles()[DEFAULT]
    members = base.mapping if name in own else {key: _at(node, lossless) for key, node in base.mapping.items()}
    places = base.keys if name in own else dict.fromkeys(base.mapping, lossless.location)
    return Node({**members, **lossless.mapping}, lossless.location, {**places, **lossless.keys}, lossless.cut)


def _at(node: Node, reference: Node) -> Node:
    """A copy of a node in which all locations are those of the reference."""
    if isinstance(node.value, dict):
        members = {key: _at(child, reference) for key, child in node.value.items()}
        return Node(members, reference.location, dict.fromkeys(members, reference.location))
    if isinstance(node.value, list):
        return Node([_at(child, reference) for child in node.value], reference.location)
    return Node(node.value, reference.location)
