"""Inputs that are not regular files, or that are too large, are refused before they are read."""

import os
from pathlib import Path

import pytest

from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import YAML_BYTES, read_bytes, read_text
from tests.conftest import Cli


def test_what_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    words = {"pipe": "it is a pipe", "zero": "it is a device", ".": "directory", "loop": "too many", "none": "no such"}
    for name, problem in words.items():
        with pytest.raises(UnreadableInputError) as stop:
            read_bytes(tmp_path / name)
        assert problem in stop.value.problem.lower()


def test_a_file_above_its_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "big.yaml").open("wb") as stream:
        stream.truncate(YAML_BYTES + 1)
    with pytest.raises(UnreadableInputError, match=r"at least 16\.0 MiB; the limit for files of this kind is 16 MiB"):
        read_text(tmp_path / "big.yaml", YAML_BYTES)


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/null", "pipe"])
def test_every_kind_of_input_refuses_devices_and_pipes(target: str, cli: Cli, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    place = Path(target) if target != "pipe" else tmp_path / target
    for name in ("fabric.yaml", "config_db.json"):
        (tmp_path / name).symlink_to(place)
    for command in (
        ("capacity", tmp_path / "fabric.yaml"),
        ("validate", tmp_path / "config_db.json"),
        ("simulate", "packets", "--scenario", place),
        ("simulate", "congestion", "--scenario", place),
    ):
        outcome = cli(*command)
        assert outcome.code == 2 and "bug" not in outcome.err, (command, outcome)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: " + "[" * 300 + "]" * 300, "more than 200 levels"),
        ("a: &a [*a]", "contains itself"),
        ("a: " + "9" * 5000, "cannot read this value"),
        ("fabricgen: 2001-99-99", "cannot read this value"),
        ("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{chr(n)}: &{chr(n)} [{','.join(['*' + chr(n - 1)] * 9)}]\n" for n in range(98, 107)), "aliases expand"),
    ],
    ids=["deep", "cycle", "digits", "date", "aliases"],
)  # fmt: skip
def test_yaml_that_exhausts_the_reader_is_refused(text: str, problem: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(text)
    outcome = cli("capacity", tmp_path)
    assert outcome.code == 2 and problem in outcome.err
