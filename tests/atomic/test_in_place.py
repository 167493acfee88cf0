"""Folders that cannot be exchanged: mount points, file systems without hard links, other owners."""

import errno
import json
import logging
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricgen.atomic import journal
from fabricgen.atomic.folder import FolderWriter
from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UnreadableInputError
from tests.components import missing
from tests.conftest import Cli
from tests.inventories import explicit, write


def put(folder: Path, files: dict[str, bytes], dropped: tuple[str, ...] = ()) -> None:
    with FolderWriter(folder) as writer:
        for path, content in files.items():
            writer.add(path, content)
        writer.put_in_place(dropped)


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """An empty file system; the test is skipped where none can be mounted."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", str(folder)], capture_output=True).returncode != 0:
        missing("the right to mount a file system", "run as root, in a container with --privileged")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def identity(file: Path) -> tuple[int, int]:
    """A file that is neither replaced nor written keeps it. A reader changes the time of access."""
    found = file.stat()
    return found.st_ino, found.st_mtime_ns


def test_a_mount_point_is_changed_in_place(mounted: Path, caplog: pytest.LogCaptureFixture) -> None:
    (mounted / "notes").write_text("mine")
    put(mounted, {"a": b"1", "b/c": b"2"})
    before = identity(mounted / "notes")
    with caplog.at_level(logging.WARNING):
        put(mounted, {"a": b"3"}, dropped=("b/c",))
    assert files(mounted) == {"a": b"3", "notes": b"mine"} and identity(mounted / "notes") == before
    assert "it is a mount point), so its files are replaced one by one" in caplog.text
    assert not (mounted / "b").exists()


def test_a_bundle_on_a_mount_point(cli: Cli, mounted: Path, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    assert cli("render", inventory, "-o", mounted).code == 0
    assert cli("render", inventory, "-o", mounted, "--check").code == 0


@pytest.mark.parametrize("call", ["link", "chown"])
def test_without_hard_links_or_with_other_owners(tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    put(folder, {"a": b"1", "b": b"2"})
    (folder / "notes").write_text("mine")
    inode = folder.stat().st_ino

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, call, refuse)
    put(folder, {"a": b"3", "b": b"2", "c": b"4"})
    assert files(folder) == {"a": b"3", "b": b"2", "c": b"4", "notes": b"mine"}
    assert folder.stat().st_ino == inode and len(list(tmp_path.iterdir())) == 1


def test_a_killed_run_in_place_is_refused_by_readers_and_completed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, inventory = tmp_path / "b", write(tmp_path / "inventory", explicit())
    cli("render", inventory, "-o", bundle)
    before = files(bundle)
    inside = bundle / f"{journal.INSIDE}01234567"
    (inside / "sonic/leaf1").mkdir(parents=True)
    (inside / "sonic/leaf1/config_db.json").write_text("{}")
    moved = ["cabling.csv", "sonic/leaf1/config_db.json"]  # the first one was moved
    content = {"format_version": "1", "folder": inside.name, "moved": moved, "removed": ["fabric.json"]}
    (bundle / journal.JOURNAL).write_text(json.dumps(content))
    with pytest.raises(UnreadableInputError, match="a run was killed while it replaced files"):
        open_bundle([bundle])
    with FolderWriter(bundle):
        assert files(bundle) == {
            path: b"{}" if path in moved[1:] else content for path, content in before.items() if path != "fabric.json"
        }
    assert cli("render", inventory, "-o", bundle).code == 0
    assert files(bundle) == before


@pytest.mark.parametrize("text", ["{", "[]", '{"format_version": "1", "folder": "..", "moved": [], "removed": []}'])
def test_a_journal_that_cannot_be_read_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / journal.JOURNAL).write_text(text)
    with pytest.raises(UnreadableInputError, match="not a journal of this version"):
        put(tmp_path, {"a": b"1"})
    assert (tmp_path / journal.JOURNAL).read_text() == text
