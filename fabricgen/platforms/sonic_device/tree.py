"""The files of a device folder. Links are followed as long as they stay inside the tree that the folder is part of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.inputs import read_text

_TREE_NAME = "device"  # the folder of sonic-buildimage below which links lead from vendor to vendor


@dataclass
class DeviceTree:
    """Reads below one root, and collects what was unusual on the way."""

    root: Path
    source: str = ""  # name of the tree for the sources, e.g. sonic-buildimage@086b03bd70f9
    findings: list[Finding] = field(default_factory=list)

    def text(self, file: Path) -> str | None:
        """A file's text; None if it is missing or unreadable; an unreadable file gives a finding."""
        try:
            target = file.resolve(strict=True)
        except (OSError, RuntimeError):
            if file.is_symlink():
                self.report(
                    "FG121", Severity.WARNING, f"{file.name} is a link to {file.readlink()}, which is missing", file
                )
            return None
        if not target.is_relative_to(self.root):
            self.report("FG121", Severity.WARNING, f"{file.name} is a link that leaves {self.root.name}/", file)
            return None
        try:
            return read_text(target)
        except UnreadableInputError as error:
            self.report("FG121", Severity.WARNING, f"{file.name}: {error.problem}", file, error.location.line)
            return None

    def json(self, file: Path) -> Mapping[str, Any]:
        """A JSON object; empty if the file is missing, with a finding if it is not an object."""
        text = self.text(file)
        if text is None:
            return {}
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as problem:
            self.report("FG121", Severity.WARNING, f"{file.name} is not JSON: {problem}", file)
            return {}
        if not isinstance(content, dict):
            self.report("FG121", Severity.WARNING, f"{file.name} is not an object", file)
            return {}
        return content

    def report(self, code: str, severity: Severity, message: str, file: Path, line: int = 0, hint: str = "") -> None:
        """One finding about a file."""
        self.findings.append(Finding(code, severity, message, location=Location(str(file), line), hint=hint))

    def refuse(self, code: str, message: str, file: Path, line: int, hint: str, other: Related) -> None:
        """An error about two files."""
        place = Location(str(file), line)
        self.findings.append(Finding(code, Severity.ERROR, message, location=place, hint=hint, related=(other,)))

    def note(self, code: str, message: str, file: Path, line: int = 0, hint: str = "") -> None:
        """A remark about a file."""
        self.report(code, Severity.NOTE, message, file, line, hint)

    def named(self, file: Path) -> str:
        """The file as sources name it: by its place in the tree, never on this machine."""
        place = file.relative_to(self.root.parent if self.root.name == _TREE_NAME else self.root).as_posix()
        return f"{self.source}:{place}" if self.source else place


def open_tree(folder: Path, source: str = "") -> DeviceTree:
    """The tree around a folder: up to the parent that is called `device`, else the folder that holds platform.json."""
    folder = folder.resolve()
    for parent in folder.parents:
        if parent.name == _TREE_NAME:
            return DeviceTree(parent, source)
    if _is_asic(folder):
        return DeviceTree(folder.parents[1], source)
    return DeviceTree(folder.parent if _is_platform(folder.parent) else folder, source)


def _is_platform(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("platform.json", "default_sku", "installer.conf"))


def _is_sku(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("port_config.ini", "hwsku.json"))


def _is_asic(folder: Path) -> bool:
    return folder.name.isdecimal() and _is_sku(folder) and _is_platform(folder.parents[1])


@dataclass(frozen=True)
class DeviceFolder:
    """A platform folder with its SKUs, or one SKU's folder; a flat folder that holds the files of both is one, too."""

    tree: DeviceTree
    folder: Path

    @cached_property
    def asic(self) -> int | None:
        """The number of the ASIC if the folder is that of one ASIC of a SKU, as in PLATFORM/SKU/0."""
        return int(self.folder.name) if _is_asic(self.folder) else None

    @cached_property
    def platform(self) -> Path:
        """The folder with platform.json."""
        if self.asic is not None:
            return self.folder.parents[1]
        if _is_platform(self.folder.parent) and not _is_platform(self.folder):
            return self.folder.parent if self.folder != self.tree.root else self.folder
        if not _is_sku(self.folder) or _is_platform(self.folder):
            return self.folder
        return self.folder.parent if self.folder != self.tree.root else self.folder

    @cached_property
    def default_sku(self) -> str:
        """The default SKU of SONiC; "" if the folder has none."""
        words = (self.tree.text(self.platform / "default_sku") or "").split()
        return words[0] if words else ""

    @cached_property
    def skus(self) -> Mapping[str, Path]:
        """hwsku -> folder, the default one first."""
        if self.asic is not None:
            return {self.folder.parent.name: self.folder}
        if _is_sku(self.folder):
            return {self.folder.name: self.folder}
        found = {child.name: child for child in sorted(self.folder.iterdir()) if child.is_dir() and _is_sku(child)}
        return dict(sorted(found.items(), key=lambda item: item[0] != self.default_sku))
