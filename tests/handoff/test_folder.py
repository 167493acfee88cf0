"""A folder that a handoff shares with people's own files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.handoff.folder import INDEX, write_folder

OWN = st.dictionaries(st.sampled_from(["a", "b/c", "b/d", "e/f/g"]), st.binary(max_size=4))


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder but the index."""
    found = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    found.pop(INDEX, None)
    return found


@given(first=OWN, second=OWN)
def test_the_last_handoff_s_files_and_people_s_own_are_left(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, bytes], second: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("handoff")
    (folder / "b").mkdir()
    (folder / "b" / "mine").write_bytes(b"mine")
    write_folder(folder, first.items())
    assert dict(write_folder(folder, second.items())) == second
    assert files(folder) == {**second, "b/mine": b"mine"}
    assert (folder / "e").exists() == ("e/f/g" in second)


def test_unchanged_files_are_left_alone(tmp_path: Path) -> None:
    write_folder(tmp_path, [("a", b"1"), ("b", b"2")])
    before = (tmp_path / "a").stat()
    write_folder(tmp_path, [("a", b"1"), ("b", b"3")])
    after = (tmp_path / "a").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_nlink) == (before.st_ino, before.st_mtime_ns, 1)
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o644


def test_a_run_that_stops_halfway_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    write_folder(tmp_path / "out", [("old", b"1")])
    with monkeypatch.context() as patch:
        patch.setattr("fabricgen.atomic.exchange._exchange_names", stop)
        with pytest.raises(KeyboardInterrupt):
            write_folder(tmp_path / "out", [("b", b"2"), ("c", b"3")])
    assert files(tmp_path / "out") == {"old": b"1"} and len(list(tmp_path.iterdir())) == 1
    write_folder(tmp_path / "out", [("d", b"4")])
    assert files(tmp_path / "out") == {"d": b"4"}


def test_a_file_that_fabricgen_did_not_write_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a").write_bytes(b"mine")
    with pytest.raises(UsageError, match=r"did not write: a; .*--adopt-folder"):
        write_folder(tmp_path / "out", [("a", b"1"), ("b", b"2")])
    assert files(tmp_path / "out") == {"a": b"mine"}
    assert write_folder(tmp_path / "out", [("a", b"1"), ("b", b"2")], adopt=True).keys() == {"a", "b"}
    assert files(tmp_path / "out") == {"a": b"1", "b": b"2"}


def test_nothing_is_written_when_a_file_cannot_be_made(tmp_path: Path) -> None:
    def failing() -> Iterator[tuple[str, bytes]]:
        yield "a", b"1"
        raise UsageError("no")

    with pytest.raises(UsageError):
        write_folder(tmp_path / "x", failing())
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", ""])
def test_paths_stay_inside(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="is not in the folder"):
        write_folder(tmp_path, [(path, b"")])


@pytest.mark.parametrize("text", ["{", "[]", '{"format_version": "2", "files": []}', '{"format_version": "1"}'])
def test_an_index_that_is_none_is_said_and_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / INDEX).write_text(text)
    with pytest.raises(UnreadableInputError, match="not an index"):
        write_folder(tmp_path, [("a", b"1")])
    assert (tmp_path / INDEX).read_text() == text


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(UsageError, match="is a file"):
        write_folder(tmp_path / "x", [])


def test_a_file_in_pieces_is_the_same_file(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_folder(folder, [("a", iter((b"1", b"2"))), ("b", b"3")])
    before = (folder / "a").stat().st_ino
    again = write_folder(folder, [("a", iter((b"12",))), ("b", iter((b"4",)))])
    assert (dict(again), (folder / "a").stat().st_ino) == ({"a": b"12", "b": b"4"}, before), "unchanged: a hard link"

    def broken() -> Iterator[bytes]:
        yield b"5"
        raise UsageError("a problem in the middle")

    with pytest.raises(UsageError, match="in the middle"):
        write_folder(folder, [("b", broken())])
    assert (folder / "b").read_bytes() == b"4"
