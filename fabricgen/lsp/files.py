"""Which inventory an open file belongs to."""

import re
from collections.abc import Mapping
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import YAML_BYTES, read_text, unsaved
from fabricgen.inventory.load import LOCK_NAME, inventory_files
from fabricgen.inventory.tables import TABLES

_VERSION = re.compile(r"^fabricgen\s*:", re.MULTILINE)
_EXTENDS = re.compile(r"^extends\s*:", re.MULTILINE)
_FABRIC = re.compile(r"^fabric\s*:", re.MULTILINE)


def inventory_of(file: Path, texts: Mapping[Path, str]) -> Path | None:
    """The inventory that a file is part of: its folder, or itself if the folder has several fabrics or layers. None for
    others.

    A folder is an inventory if one of its YAML files states the version, `fabricgen: 1`, or extends
    another inventory.
    """
    folder = file.parent
    if not (file.suffix in (".yaml", ".yml") or file.name in TABLES) or not folder.is_dir():
        return None
    try:
        listed = inventory_files(folder)
    except UnreadableInputError:
        return None
    contents = {one: content for one in listed if (content := _text(one, texts)) is not None}
    versions = [one for one, content in contents.items() if _VERSION.search(content)]
    fabrics = [one for one, content in contents.items() if _FABRIC.search(content)]
    layers = [one for one, content in contents.items() if _EXTENDS.search(content)]
    if len(fabrics) > 1 or (layers and len(contents) > 1):
        return file if file in (*versions, *layers) else None
    in_folder = file in listed or file.name in TABLES or file.name == LOCK_NAME
    return folder if (versions or layers) and in_folder else None


def _text(file: Path, texts: Mapping[Path, str]) -> str | None:
    try:
        with unsaved(texts):
            return read_text(file, YAML_BYTES)
    except UnreadableInputError:
        return None
