"""The names that a value may have: those of the catalog and of fabricgen, and those that the inventory defines."""

from collections.abc import Mapping
from functools import cache

from fabricgen.api.draft import Draft
from fabricgen.api.names import KINDS
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.references import NAME_FIELDS
from fabricgen.lsp.cursor import Steps

Names = Mapping[str, str]  # name -> description


@cache
def shipped(kind: str) -> Names:
    """The names that `fabricgen list KIND` prints."""
    return KINDS[kind]()


def names_at(path: Steps, draft: Draft) -> Names:
    """The names for the value at a path; empty if the value is not a name."""
    kind, tree = kind_at(path), draft.tree
    if kind == "switches":
        return dict.fromkeys(draft.switch_names, "a switch of this inventory")
    if kind == "layouts":
        return _layouts(path, tree)
    if kind == "name fields":
        return {f"{{{field}}}": "a field of a name pattern" for field in NAME_FIELDS}
    own = own_names(kind, tree)
    if kind == "profiles":
        own = {**own, "none": "a plane without PFC"}
    return {**own, **(shipped(kind) if kind in KINDS else {})}


def kind_at(path: Steps) -> str:
    """'platforms', 'host groups', 'planes', ...; "" if the value is not a name."""
    match path:
        case (*_, "platform"):
            return "platforms"
        case (*_, "layout"):
            return "layouts"
        case ("planes", _, "design"):
            return "designs"
        case ("hosts", _, "model"):
            return "hosts"
        case ("host_models", _, "nics", _, "model"):
            return "nics"
        case ("planes", _, "hosts", int()) | ("planes", _, "scalable_unit", "appliances", int()):
            return "host groups"
        case ("planes", _, "lossless") | ("planes", _, "lossless", "profile"):
            return "profiles"
        case ("suppressions", int(), "code"):
            return "codes"
        case ("host_models", _, "nics", _, "plane") | ("overrides", int(), "match", "plane"):
            return "planes"
        case ("planes", _, "external" | "static", int(), "switch") | ("devices", int(), "name"):
            return "switches"
        case ("names", _):
            return "name fields"
    return ""


def own_names(kind: str, tree: Node | None) -> Names:
    """The names of a kind that the inventory itself defines, with what defines them."""
    key = {"host groups": "hosts", "profiles": "profiles", "planes": "planes", "hosts": "host_models"}.get(kind)
    return dict.fromkeys(tree.part(key).mapping, f"{key} of this inventory") if tree and key else {}


def _layouts(path: Steps, tree: Node | None) -> Names:
    """The layouts of the switch model beside the value."""
    from fabricgen.platforms.catalog import switch_platform

    model = str(tree.find(path[:-1]).scalar("platform", "")) if tree else ""
    platform = switch_platform(model) if model else None
    return {one.name: one.hwsku for one in platform.layouts} if platform else {}
