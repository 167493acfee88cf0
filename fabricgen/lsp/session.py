"""The open files of an editor and what is known about their inventories.

One thread judges, so that the editor gets its answers from the last draft meanwhile. Edits that arrive while it judges
are judged together afterwards.
"""

import asyncio
import gc
import logging
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fabricgen.api.draft import Draft, judge_draft
from fabricgen.api.judgement import Policy
from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import YAML_BYTES, read_text, unsaved
from fabricgen.inventory.load import LOCK_NAME, inventory_files
from fabricgen.inventory.tables import TABLES

_LOG = logging.getLogger(__name__)

Versions = Mapping[Path, int | None]  # of the texts
Publish = Callable[[Path, Draft, Versions], None]


class EditorSession:
    """Texts, drafts, and the inventories that wait to be judged."""

    def __init__(self, policy: Policy, publish: Publish) -> None:
        self.texts: dict[Path, str] = {}
        self.drafts: dict[Path, Draft] = {}
        self._versions: dict[Path, int | None] = {}
        self._policy, self._publish = policy, publish
        self._waiting: dict[Path, None] = {}
        self._thread = ThreadPoolExecutor(1)
        self._worker: asyncio.Task[None] | None = None

    def changed(self, file: Path, text: str | None, version: int | None = None) -> None:
        """The text of a file in the editor; None if it is closed, and the file on disk counts."""
        before = inventory_of(file, self.texts)
        if text is None:
            self.texts.pop(file, None)
            self._versions.pop(file, None)
        else:
            self.texts[file] = text.encode("utf-8", "replace").decode("utf-8")  # JSON may have half a character
            self._versions[file] = version
        for inventory in dict.fromkeys((before, inventory_of(file, self.texts))):
            if inventory is not None:
                self._waiting[inventory] = None
        if self._waiting and (self._worker is None or self._worker.done()):
            self._worker = asyncio.get_running_loop().create_task(self._judge())

    def draft_of(self, file: Path) -> tuple[Path, Draft] | None:
        """The inventory of a file and the last draft that could be read; None for another file."""
        inventory = inventory_of(file, self.texts)
        return (inventory, self.drafts.get(inventory, Draft())) if inventory else None

    def lines(self, file: Path) -> list[str]:
        """The lines of a file in the editor, or of the file on disk; none if it cannot be read."""
        try:
            text = self.texts[file] if file in self.texts else read_text(file, YAML_BYTES)
        except UnreadableInputError:
            return []
        return text.split("\n")

    async def _judge(self) -> None:
        while self._waiting:
            inventory = next(iter(self._waiting))
            del self._waiting[inventory]
            versions = dict(self._versions)
            judging = asyncio.get_running_loop().run_in_executor(
                self._thread, judge_draft, inventory, dict(self.texts), self._policy
            )
            try:
                draft = await judging
                if draft.plans is not None or inventory not in self.drafts:
                    self.drafts[inventory] = draft
                self._publish(inventory, draft, versions)
            except Exception:  # noqa: BLE001 (a bug must not end the server: the next edit is judged again)
                _LOG.exception("fabricgen has a bug: please report it with the inventory")
        gc.collect()  # `run` of the command line switches the collection off

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


# Which inventory an open file belongs to.

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
