"""Named lossless profiles: those that ship, and a person's own, as a base for what a plane says itself."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fabricgen.inventory.nodes import Node, read_yaml

DEFAULT = "roce-lossless-two-class"
NONE = "none"  # no profile, but the word for a plane without PFC
SHIPPED = Path(__file__).with_name("profiles.yaml")


@cache
def shipped_profiles() -> Mapping[str, Node]:
    """The profiles that ship with fabricgen."""
    return read_yaml(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name)[0].mapping


def profile_name(lossless: Node) -> str | None:
    """The profile that a plane's `lossless` refers to; None where it refers to none."""
    if lossless.mapping:
        named = lossless.mapping.get("profile")
        return str(named.value) if named else None
    return str(lossless.value) if isinstance(lossless.value, str) else None


def with_profile(lossless: Node, own: Mapping[str, Node], default: str) -> Node:
    """What a plane says, over the profile it names (or the default one): its own keys replace those of the profile.

    `none` gives no class at all. Values of a shipped profile have the place of the reference. An unknown profile counts
    as the shipped default; it is reported with the other references.
    """
    name = profile_name(lossless) or default
    if name == NONE:
        return lossless
    base = own.get(name) or shipped_profiles().get(name) or shipped_profiles()[DEFAULT]
    members = base.mapping if name in own else {key: _at(node, lossless) for key, node in base.mapping.items()}
    places = base.keys if name in own else dict.fromkeys(base.mapping, lossless.location)
    return Node({**members, **lossless.mapping}, lossless.location, {**places, **lossless.keys}, lossless.cut)


def _at(node: Node, reference: Node) -> Node:
    """A copy of a node whose places are all that of the reference."""
    if isinstance(node.value, dict):
        members = {key: _at(child, reference) for key, child in node.value.items()}
        return Node(members, reference.location, dict.fromkeys(members, reference.location))
    if isinstance(node.value, list):
        return Node([_at(child, reference) for child in node.value], reference.location)
    return Node(node.value, reference.location)
