"""Plans and files of a process that renders again and again: only what an edit concerns is made anew.

The plans are kept if the inventory differs only in parts that they do not depend on. The files of switches are then
kept where the same overrides are merged. With templates of the site, all files are made again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from fabricgen.allocation.read_lock import read_lock
from fabricgen.bundle.scratch import Written
from fabricgen.inputs import digest_now, noted
from fabricgen.inventory.load import LOCK_NAME, InventorySource, inventory_root, load_inventory
from fabricgen.inventory.nodes import Node
from fabricgen.render.content import BundleContent, Write
from fabricgen.render.plans import UNPLANNED, Plans, plan, plan_again

Known = tuple[bytes, object]  # the parts that plans depend on, and the lock


@dataclass
class KeptRendering:
    """The plans and the content of the last rendering. `--only` and processes are not used here."""

    _known: Known | None = None
    _plans: Plans | None = None
    _files: dict[Path, bytes | None] = field(default_factory=dict)  # that planning has read, with their digests
    _content: BundleContent | None = None  # of these plans, once all of its files are made

    def plans(self, path: InventorySource) -> Plans:
        """As `make_plans`."""
        inventory, findings = load_inventory(path)
        old_lock = read_lock(inventory_root(path) / LOCK_NAME)
        known = _digest_of_parts(inventory.node), old_lock
        if self._plans is not None and self._known == known and self._are_unchanged():
            self._plans = plan_again(self._plans, path, inventory, findings)
            return self._plans
        self._plans = self._content = None
        with noted() as notes:
            plans = plan(path, inventory, findings, old_lock)
        self._plans, self._known, self._files = plans, known, notes.files
        return plans

    def files(self, plans: Plans, jobs: int, write: Write) -> Iterator[tuple[str, bytes | Written | None]]:
        """(path, bytes) of every file of these last plans but the manifest; None for a file that is as it was in the
        last rendering. Processes `write` the files of switches that they make.

        Raises TemplateProblemError.
        """
        before, self._content = self._content, None
        if before is not None:
            yield from before.files_again(plans)
            self._content = before
        else:
            content = BundleContent(plans, jobs=jobs, write=write)
            yield from content.made()
            self._content = None if plans.templates else content

    def _are_unchanged(self) -> bool:
        return all(digest_now(file) == digest for file, digest in self._files.items())


def _digest_of_parts(root: Node) -> bytes:
    """A digest of the values that plans depend on and of their places, which findings and source maps show."""
    digest = sha256()

    def add(node: Node) -> None:
        digest.update(f"{type(node.value).__name__} {node.location} {node.cut}".encode())
        if isinstance(node.value, dict):
            for name, child in node.value.items():
                digest.update(f"\0{name}\0{node.keys.get(name)}\0".encode())
                add(child)
        elif isinstance(node.value, list):
            for child in node.value:
                add(child)
        else:
            digest.update(repr(node.value).encode())
        digest.update(b"\0end\0")

    for name, child in root.mapping.items():
        if name not in UNPLANNED:
            digest.update(f"\0{name}\0{root.keys.get(name)}\0".encode())
            add(child)
    return digest.digest()
