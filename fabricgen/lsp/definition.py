"""Go to definition: the place of the thing that a name refers to."""

from pathlib import Path

from fabricgen.api.draft import Draft
from fabricgen.errors import FabricgenError
from fabricgen.findings import Location
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.profiles import SHIPPED, shipped_profiles
from fabricgen.lsp.cursor import Spot
from fabricgen.lsp.names import kind_at
from fabricgen.platforms.catalog import catalog_file, load_switch_platform

_SECTIONS = {"host groups": "hosts", "profiles": "profiles", "planes": "planes", "hosts": "host_models"}
_MODELS = {"platforms": "switches", "hosts": "hosts", "nics": "nics"}


def definition(spot: Spot, draft: Draft, root: Path) -> Location | None:
    """The place that defines the name at a position: in the inventory, else in the catalog. `root` is its folder."""
    tree = draft.tree
    if spot.is_key or tree is None:
        return None
    if spot.path[:1] in (("platforms",), ("sonic",)) or spot.path[2:4] == ("infiniband", "discovered"):
        file = root / spot.text
        return Location(str(file), 1, 1) if file.is_file() else None
    kind = "host groups" if spot.path[2:4] == ("infiniband", "managers") else kind_at(spot.path)
    name = spot.text.partition("/")[0] if kind == "host groups" else spot.text
    own = tree.part(_SECTIONS[kind]).keys.get(name) if kind in _SECTIONS else None
    if own:
        return Location(str(root / own.file), own.line, own.column)
    if kind == "profiles" and (profile := shipped_profiles().get(name)):
        return Location(str(SHIPPED), profile.location.line, 1)
    if kind == "platforms" and (file_of_site := _platform_file(tree, name, root)):
        return Location(str(file_of_site), 1, 1)
    found = catalog_file(_MODELS[kind], name.lower() if kind == "nics" else name) if kind in _MODELS else None
    return Location(str(found), 1, 1) if found else None


def _platform_file(tree: Node, name: str, root: Path) -> Path | None:
    """The file of `platforms:` with a switch model."""
    for text in tree.texts("platforms"):
        try:
            if load_switch_platform(root / text).name == name:
                return root / text
        except FabricgenError:
            continue
    return None
