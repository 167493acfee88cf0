"""`check` from earlier results gives the bytes of `check` from nothing."""

import subprocess
import sys
from pathlib import Path

from benchmarks.incremental import checked, compare
from fabricgen.api.rendering import render
from fabricgen.api.validation import validate
from fabricgen.engine.store import Store
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from tests.inventories import ARISTA, explicit, rail_optimized, write


def test_random_edits_give_equal_reports(tmp_path: Path) -> None:
    """benchmarks/incremental.py compares 200."""
    done = compare(tmp_path, rail_optimized(hosts=4), seed=5, count=7)
    assert done.different == []
    assert done.rendered >= 5


def test_damaged_entries_change_nothing(tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    first, _ = checked(inventory, "--cache", tmp_path / "cache")
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert files
    for number, file in enumerate(files):
        content = file.read_bytes()
        file.write_bytes(content[:-2] if number % 2 else content.replace(b"[", b"{", 1))
    again, _ = checked(inventory, "--cache", tmp_path / "cache")
    assert again == first


def test_a_changed_platform_is_judged(tmp_path: Path) -> None:
    """The entry is not part of the bundle, so only the key of the result has it."""
    inventory, bundle, entry = write(tmp_path / "inventory", explicit()), tmp_path / "build", tmp_path / "entry.yaml"
    render(inventory, bundle)
    platform, store = switch_platform(ARISTA), Store(tmp_path / "cache")
    assert platform
    text = switch_entry_text(platform)
    messages = []
    for actions in ("[drop, forward, alert]", "[alert]"):
        entry.write_text(text.replace("[drop, forward, alert]", actions))
        expected = validate([bundle], platforms=[entry])
        assert validate([bundle], platforms=[entry], cache=store) == expected
        assert validate([bundle], platforms=[entry], cache=store) == expected
        messages.append([one.message for one in expected.findings])
    assert messages[0] != messages[1]


def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    command = [sys.executable, "-m", "fabricgen", "check", inventory, "--format", "json", "--cache", tmp_path / "cache"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    shown = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert shown[0] == shown[1] == checked(inventory)[0].partition(b"\n")[2]
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.name.startswith(".")]
