"""A file is written completely or not at all."""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fabricgen.atomic import write_atomically
from tests.conftest import Cli
from tests.inventories import explicit, write


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_file_is_replaced_through_a_link_and_readable(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "real").read_bytes() == b"new" and (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o644


def test_a_pipe_is_written_and_not_replaced(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    reader, writer = os.pipe()
    assert cli("check", inventory, "--format", "json", "--output", f"/dev/fd/{writer}").code == 0
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert stream.read().startswith("{")


def test_an_interrupted_report_keeps_the_old_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    (tmp_path / "result.json").write_text("old")
    monkeypatch.setattr(Path, "replace", interrupted)
    assert cli("check", inventory, "--format", "json", "--output", tmp_path / "result.json").code == 130
    assert (tmp_path / "result.json").read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["inventory", "result.json"]


@pytest.mark.parametrize(
    ("step", "command"),
    [
        ("fabricgen.api.starting._planned", lambda at: ["init", at / "new"]),
        ("fabricgen.cli.import_._listed", lambda at: ["import", "config-db", at / "b/sonic", "-o", at / "new"]),
    ],
    ids=["init", "import"],
)  # fmt: skip
def test_an_interrupted_command_can_be_repeated(
    step: str, command: Callable[[Path], list[object]], cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("render", write(tmp_path / "inventory", explicit()), "-o", tmp_path / "b").code == 0
    with monkeypatch.context() as patch:
        patch.setattr(step, interrupted)
        assert cli(*command(tmp_path)).code == 130
    assert cli(*command(tmp_path)).code == 0


def test_a_missing_folder_is_named(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    outcome = cli("check", inventory, "--output", tmp_path / "nowhere/result.txt")
    assert outcome.code == 2 and f"{tmp_path}/nowhere does not exist; create it first" in outcome.err


def test_a_full_disk_is_reported_with_the_folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inventory = write(tmp_path / "inventory", explicit())

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    outcome = cli("render", inventory, "-o", tmp_path / "bundle")
    assert outcome.code == 2 and f"error: {tmp_path}/bundle: No space left on device" in outcome.err
    assert [each.name for each in tmp_path.iterdir()] == ["inventory"]


@pytest.mark.parametrize("verb", ["check", "report"])
def test_a_full_file_system_for_temporary_files_is_named(
    verb: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", full)
    outcome = cli(verb, "inventories/quickstart")
    folder = rf"{re.escape(str(tmp_path))}/fabricgen-{verb}-[0-9a-f]{{8}}/bundle"
    assert outcome.code == 2 and re.search(rf"error: {folder}: No space left on device", outcome.err)
    assert not [*tmp_path.glob("fabricgen-*")]
