"""`fabricgen validate --yang`: libyang's findings beside ours, located, each place once."""

import builtins
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fabricgen.cli.main import run
from fabricgen.sonic.yang import Models


class Said(NamedTuple):
    """How a run ended."""

    exit_code: int
    stdout: str
    stderr: str


Validate = Callable[..., Said]


@pytest.fixture
def validate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Validate:
    """Judge one config_db.json with further options."""

    def said(config: Any, *options: str) -> Said:
        file = tmp_path / "config_db.json"
        file.write_text(json.dumps(config, indent=4))
        with pytest.raises(SystemExit) as stop:
            run(["validate", str(file), "--format", "json", "--select", "FG401,FG407,FG498,FG499", *options])
        output = capsys.readouterr()
        return Said(int(stop.value.code or 0), output.out, output.err)

    return said


def codes(result: Said) -> list[tuple[str, str]]:
    return [(one["code"], one["path"]) for one in json.loads(result.stdout)["findings"]]


PORTS = {"PORT": {"Ethernet0": {"speed": "400000", "lanes": "1"}}}


def test_findings_are_merged(models: Models, validate: Validate) -> None:
    """lanes is no field of these models; a wrong fec is ours and libyang's; MEMBER is a table of these models only."""
    config = {
        "PORT": {"Ethernet0": {"speed": "400000", "lanes": "1", "fec": "rs544"}},
        "MEMBER": {"g": {}},
        "VLAN": {"Vlan10": {}},
        "NOBODYS": {},
    }
    result = validate(config, "--yang", str(models.folder))
    assert codes(result) == [
        ("FG407", "PORT|Ethernet0|fec"),
        ("FG499", "PORT|Ethernet0|lanes"),
        ("FG401", "NOBODYS"),
        ("FG498", "VLAN"),
    ]
    refused = json.loads(result.stdout)["findings"][1]
    assert (refused["severity"], refused["confidence"]) == ("error", "proved")
    assert refused["location"]["line"] == 5
    assert codes(validate(config)) == [("FG407", "PORT|Ethernet0|fec"), ("FG401", "MEMBER"), ("FG401", "NOBODYS")]
    ignoring = validate(config, "--yang", str(models.folder), "--ignore", "FG49")
    assert codes(ignoring) == [("FG407", "PORT|Ethernet0|fec"), ("FG401", "NOBODYS")]


def test_secrets_are_not_shown(models: Models, validate: Validate) -> None:
    result = validate({"MEMBER": {"g": {"passkey": "hunter2"}}}, "--yang", str(models.folder))
    assert codes(result) == [("FG499", "MEMBER|g|passkey")]
    assert "hunter2" not in result.stdout


def test_without_libyang_one_line_says_what_to_install(validate: Validate, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "libyang":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    result = validate(PORTS, "--yang", str(Path(__file__).parent / "models"))
    assert result.exit_code == 2
    assert "libyang2-dev" in result.stderr
    assert "fabricgen[yang]" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
