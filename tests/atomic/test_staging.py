"""The removal of a tree."""

import stat
from pathlib import Path

import pytest

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
