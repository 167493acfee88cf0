"""A check whose inputs an earlier run has checked has the same bytes, and any input that differs is checked."""

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchmarks.incremental import checked
from fabricgen.api.rendering import render
from fabricgen.api.validation import validate
from fabricgen.engine.store import Store
from fabricgen.inputs import Notes, noted, read_bytes
from tests.conftest import Cli
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


def test_validate_finds_the_result_of_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also files that only their digest in the manifest judges, or that are new."""
    bundle, store = tmp_path / "build", Store(tmp_path / "cache")
    render(write(tmp_path / "inventory", explicit()), bundle)
    config = bundle / "sonic" / "spine1" / "config_db.json"
    hosts = next(file for file in (bundle / "hosts").rglob("*") if file.is_file())
    for edit in (
        lambda: None,
        lambda: config.write_text(config.read_text().replace('"mtu": "9100"', '"mtu": "1500"', 1)),
        lambda: hosts.write_bytes(hosts.read_bytes() + b"#"),
        lambda: (hosts.parent / "new.conf").write_text(""),
        (bundle / "cabling.csv").unlink,
    ):
        edit()
        expected = validate([bundle])
        assert validate([bundle], cache=store) == expected
        with monkeypatch.context() as patched:
            patched.setattr("fabricgen.api.validation.apply_rules", None)
            assert validate([bundle], cache=store) == expected
    assert expected.findings


def test_the_default_folder_is_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    kept = tmp_path / "home" / "fabricgen" / "results"
    cli("check", inventory)  # FABRICGEN_NO_CACHE of all tests
    assert not kept.exists()
    monkeypatch.delenv("FABRICGEN_NO_CACHE")
    cli("check", inventory, "--no-cache")
    assert not kept.exists()
    first = cli("check", inventory)
    assert kept.stat().st_mode & 0o777 == 0o700 and [*kept.rglob("*")]
    monkeypatch.setattr("fabricgen.api.checking.check_in", None)
    assert cli("check", inventory).out == first.out
    monkeypatch.undo()
    monkeypatch.delenv("FABRICGEN_NO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    kept.chmod(0o777)  # another user can write there
    assert cli("check", inventory).out == first.out
    assert kept.stat().st_mode & 0o777 == 0o777


def test_rules_of_other_packages_can_read_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabricgen.api.same_inputs.installed_names", lambda _: ["own"])
    checked(write(tmp_path / "inventory", explicit()), "--cache", tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_suppression_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = [{"code": "FG387", "reason": "an edit", "expires": "2026-03-31"}]
    folder, cache = write(tmp_path / "inventory", explicit() | {"suppressions": accepted}), tmp_path / "cache"
    shown = []
    for day in (date(2026, 3, 31), date(2026, 4, 1)):
        monkeypatch.setattr("fabricgen.suppressions.this_day", lambda day=day: day)
        monkeypatch.setattr("fabricgen.api.same_inputs.this_day", lambda day=day: day)
        shown += [checked(folder, "--cache", cache)[0] for _ in range(2)]
    assert shown[0] == shown[1] != shown[2] == shown[3]
