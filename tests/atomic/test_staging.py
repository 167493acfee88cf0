"""The removal of a tree."""

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
