"""Where temporary folders are, and the removal of a tree."""

import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fabricgen.atomic import staging, temporary_folder
from fabricgen.atomic.staging import remove_tree


def _tree(path: Path, outside: Path) -> None:
    for number in range(40):
        folder = path / "sonic" / f"leaf{number}"
        folder.mkdir(parents=True)
        (folder / "config_db.json").write_text("{}")
        (folder / "hosts").symlink_to(outside)
    (path / "empty" / "inner").mkdir(parents=True)
    (path / "dangling").symlink_to("nowhere")


def test_nothing_of_a_tree_is_left_and_what_its_links_point_to_stays(tmp_path: Path) -> None:
    kept = tmp_path / "outside" / "kept"
    kept.parent.mkdir()
    kept.write_text("kept")
    _tree(tmp_path / "tree", kept.parent)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
    assert kept.read_text() == "kept"


def test_a_tree_is_removed_where_no_thread_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    _tree(tmp_path / "tree", tmp_path)
    monkeypatch.setattr("threading.Thread.start", refused)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


@pytest.mark.parametrize("files", [0, 1, 40])
def test_the_folder_that_contains_the_tree_keeps_its_mode(tmp_path: Path, files: int) -> None:
    """As root, another mode of /tmp stops all other programs."""
    for mode in (0o1777, 0o755):
        tmp_path.chmod(mode)
        tree = tmp_path / "tree"
        tree.mkdir()
        for number in range(files):
            (tree / str(number)).touch()
        remove_tree(tree)
        assert not tree.exists()
        assert stat.S_IMODE(tmp_path.stat().st_mode) == mode


def test_a_tree_that_stays_leaves_the_folder_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system refuses its removal."""
    tree = tmp_path / "tree"
    tree.mkdir()
    tmp_path.chmod(0o1777)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.rmdir", refused)
    remove_tree(tree)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777


def test_folders_without_permissions_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "tree" / "closed" / "inner"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    for one in (folder, folder.parent, tmp_path / "tree"):
        one.chmod(0o500)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of memory, of which enough is free, and nothing that chooses another one."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    folder, left, limit = tmp_path / "memory", tmp_path / "meminfo", tmp_path / "memory.max"
    folder.mkdir()
    left.write_text("MemTotal:       8 kB\nMemAvailable:       4 kB\n")
    limit.write_text("max\n")
    values = {"_MEMORY": folder, "_LEFT": left, "_LIMIT": limit, "_LEAST_BYTES": 4096}
    for name, value in values.items():
        monkeypatch.setattr(staging, name, value)
    return folder


def test_temporary_files_are_in_memory_if_much_of_it_is_free(memory: Path) -> None:
    with temporary_folder("check") as folder:
        assert folder.parent == memory.resolve() and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not [*memory.iterdir()]


NOT_IN_MEMORY: dict[str, Callable[[Path, pytest.MonkeyPatch], object]] = {
    "the file system is small": lambda _, patch: patch.setattr(staging, "_LEAST_BYTES", 1 << 60),
    "little is left": lambda memory, _: (memory.parent / "meminfo").write_text("MemAvailable:       3 kB\n"),
    "how much is left is unknown": lambda memory, _: (memory.parent / "meminfo").write_text("MemFree: 8 kB\n"),
    "a container has a limit": lambda memory, _: (memory.parent / "memory.max").write_text("4095\n"),
    "another system": lambda memory, _: (memory.parent / "meminfo").unlink(),
    "no such folder": lambda memory, _: memory.rmdir(),
    "the environment": lambda memory, patch: patch.setenv("TMPDIR", str(memory.parent)),
    "the program": lambda memory, patch: patch.setattr("tempfile.tempdir", str(memory.parent)),
}


@pytest.mark.parametrize("why", NOT_IN_MEMORY)
def test_temporary_files_are_not_in_memory(why: str, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    NOT_IN_MEMORY[why](memory, monkeypatch)
    chosen = Path(tempfile.gettempdir()).resolve()
    if why not in ("the environment", "the program"):
        monkeypatch.setattr("tempfile.tempdir", None)
    with temporary_folder("check") as folder:
        assert folder.parent == chosen != memory.resolve()


def test_a_container_without_a_limit_is_not_needed(memory: Path) -> None:
    (memory.parent / "memory.max").unlink()
    with temporary_folder("check") as folder:
        assert folder.parent == memory.resolve()
