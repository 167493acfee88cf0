"""A check whose inputs an earlier run has checked has the same bytes, and any input that differs is checked."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.incremental import checked
from fabricgen.api.rendering import render
from fabricgen.inputs import Notes, noted, read_bytes
from tests.inventories import explicit, text_of, write

BASE = '{"NTP_SERVER": {"%s": {}}}'
Edit = Callable[[Path], object]


def fabric(folder: Path, **changes: Any) -> None:
    (folder / "fabric.yaml").write_text(text_of(explicit() | {"sonic": {"base": "base.json"}} | changes))


EDITS: dict[str, Edit] = {
    "nothing": lambda folder: None,
    "a value": lambda folder: fabric(folder, checks={"failures": 1}),
    "the value taken back": fabric,
    "the base file": lambda folder: (folder / "base.json").write_text(BASE % "10.0.0.9"),
    "no base file": lambda folder: (folder / "base.json").unlink(),
    "the base file again": lambda folder: (folder / "base.json").write_text(BASE % "10.0.0.1"),
    "a new table": lambda folder: (folder / "devices.csv").write_text("name,rack\nspine1,r1\n"),
    "a new part": lambda folder: (folder / "more.yaml").write_text("checks: {failures: 1}\n"),
    "the lock file": lambda folder: render(folder, folder.parent / "build"),
    "another lock file": lambda folder: (folder / "allocations.lock.yaml").write_text("version: 9\n"),
}


def test_each_input_matters(tmp_path: Path) -> None:
    """After each edit the result is that of a run without a cache, twice."""
    folder = tmp_path / "inventory"
    folder.mkdir()
    fabric(folder)
    (folder / "base.json").write_text(BASE % "10.0.0.1")
    for options in ((), ("--select", "FG2")):
        for name, edit in EDITS.items():
            edit(folder)
            expected, _ = checked(folder, *options)
            for _ in range(2):
                assert checked(folder, "--cache", tmp_path / "cache", *options)[0] == expected, name
        for file in ("devices.csv", "more.yaml", "allocations.lock.yaml"):
            (folder / file).unlink()


def test_an_edit_that_is_taken_back_is_not_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "inventory", explicit())
    first, _ = checked(folder, "--cache", tmp_path / "cache")
    write(folder, explicit() | {"checks": {"failures": 1}})
    checked(folder, "--cache", tmp_path / "cache")
    write(folder, explicit())
    monkeypatch.setattr("fabricgen.api.checking.check_in", None)
    assert checked(folder, "--cache", tmp_path / "cache")[0] == first


def test_text_shows_the_lines_of_files_that_are_not_rendered_again(tmp_path: Path) -> None:
    wrong = [{"match": {"name": "spine1"}, "config_db": {"PORT": {"Ethernet0": {"mtu": "1500"}}}}]
    folder = write(tmp_path / "inventory", explicit() | {"overrides": wrong})
    options = ("--format", "text")
    expected, _ = checked(folder, *options)
    assert b'"mtu": "1500"' in expected and b"^" in expected
    for _ in range(2):
        assert checked(folder, "--cache", tmp_path / "cache", *options)[0] == expected


def test_options_are_part_of_the_key(tmp_path: Path) -> None:
    folder, cache = write(tmp_path / "inventory", explicit()), tmp_path / "cache"
    for options in (("--locked",), ("--ignore", "FG3"), ("--set", "checks.failures=1"), ()):
        expected, _ = checked(folder, *options)
        assert checked(folder, "--cache", cache, *options)[0] == expected
    moved = tmp_path / "moved"
    shutil.copytree(folder, moved)
    assert checked(moved, "--cache", cache)[0] == checked(moved)[0]


def test_a_file_that_changes_during_a_run_has_no_digest(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    with noted() as around, noted(tmp_path / "aside") as notes:
        for text in ("one", "one", "two"):
            file.write_text(text)
            read_bytes(file)
            assert (notes.files[file] is None) == (text == "two")
    assert set(around.files) == {file}
    notes = Notes(tmp_path)
    notes.note(file, b"one")
    assert not notes.files
