"""A bundle is always the old one or the new one, and files that fabricgen did not write stay."""

import hashlib
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabricgen.bundle.manifest import read_manifest
from fabricgen.bundle.write import BundleWriter
from fabricgen.errors import UsageError
from tests.conftest import Cli
from tests.inventories import explicit, rail_optimized, write


def put(folder: Path, files: dict[str, bytes]) -> list[str]:
    """Write a bundle of these files; returns those that are gone."""
    with BundleWriter(folder) as writer:
        for path, content in files.items():
            writer.add(path, content)
        return writer.commit("f", 1, "digest")


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def is_whole(folder: Path) -> bool:
    """Whether every file that the manifest names is there with that digest, and no device beside them."""
    manifest = read_manifest(folder)
    assert manifest
    content = files(folder)
    assert {path for path in content if path.startswith("sonic/")} <= manifest.files.keys()
    return all(hashlib.sha256(content[path]).hexdigest() == digest for path, digest in manifest.files.items())


def leftovers(parent: Path) -> list[str]:
    return [each.name for each in parent.iterdir() if each.name.startswith(".")]


def test_a_new_bundle_and_its_manifest(tmp_path: Path) -> None:
    assert put(tmp_path / "deep" / "b", {"fabric.json": b"1", "sonic/a/config_db.json": b"{}"}) == []
    assert is_whole(tmp_path / "deep" / "b")
    manifest = json.loads((tmp_path / "deep/b/manifest.json").read_text())
    assert (manifest["format_version"], manifest["fabric"], manifest["output_version"]) == ("1", "f", 1)
    assert manifest["files"][0] == {"path": "fabric.json", "sha256": hashlib.sha256(b"1").hexdigest()}
    assert leftovers(tmp_path / "deep") == []
    assert (tmp_path / "deep" / "b").stat().st_mode & 0o777 == 0o755


def test_unchanged_files_are_hard_links(tmp_path: Path) -> None:
    put(tmp_path / "b", {"fabric.json": b"1", "cabling.csv": b"2"})
    before = {name: (tmp_path / "b" / name).stat().st_ino for name in ("fabric.json", "cabling.csv")}
    put(tmp_path / "b", {"fabric.json": b"1", "cabling.csv": b"3"})
    after = {name: (tmp_path / "b" / name).stat().st_ino for name in ("fabric.json", "cabling.csv")}
    assert after["fabric.json"] == before["fabric.json"] and after["cabling.csv"] != before["cabling.csv"]
    assert (tmp_path / "b/fabric.json").stat().st_nlink == 1


def test_foreign_files_stay_and_obsolete_files_are_removed(tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    put(bundle, {"fabric.json": b"1", "sonic/a/config_db.json": b"{}", "sonic/b/config_db.json": b"{}"})
    (bundle / "README.md").write_text("mine")
    (bundle / "sonic/b/notes.txt").write_text("mine")
    (bundle / "latest").symlink_to("sonic")
    (bundle / "gone").symlink_to("nowhere")
    assert put(bundle, {"fabric.json": b"1", "sonic/a/config_db.json": b"{}"}) == ["sonic/b/config_db.json"]
    assert set(files(bundle)) == {
        "fabric.json", "manifest.json", "sonic/a/config_db.json", "README.md", "sonic/b/notes.txt",
    }  # fmt: skip
    assert (bundle / "latest").readlink() == Path("sonic") and (bundle / "gone").is_symlink()


def test_without_a_manifest_rendered_files_are_known_by_their_names(tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    (bundle / "sonic/old").mkdir(parents=True)
    (bundle / "sonic/old/config_db.json").write_text("{}")
    (bundle / "sonic/old/backup.json").write_text("{}")
    assert put(bundle, {"fabric.json": b"1"}) == ["sonic/old/config_db.json"]
    assert set(files(bundle)) == {"fabric.json", "manifest.json", "sonic/old/backup.json"}


def test_an_error_leaves_the_old_bundle(tmp_path: Path) -> None:
    put(tmp_path / "b", {"fabric.json": b"1"})
    with pytest.raises(RuntimeError), BundleWriter(tmp_path / "b") as writer:
        writer.add("fabric.json", b"2")
        raise RuntimeError
    assert files(tmp_path / "b")["fabric.json"] == b"1" and leftovers(tmp_path) == []


def test_staging_folders_of_killed_runs_are_removed(tmp_path: Path) -> None:
    for name in ("b", "b[1]"):
        (tmp_path / f".{name}.fabricgen-dead/sonic").mkdir(parents=True)
    (tmp_path / ".b.other").mkdir()
    with BundleWriter(tmp_path / "b") as living:
        living.add("fabric.json", b"1")
        put(tmp_path / "b", {"fabric.json": b"2"})
        living.commit("f", 1, "")
    put(tmp_path / "b[1]", {"fabric.json": b"2"})
    assert files(tmp_path / "b")["fabric.json"] == b"1"
    assert leftovers(tmp_path) == [".b.other"]


def test_a_file_or_the_working_directory_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        BundleWriter(tmp_path / "file")
    (tmp_path / "here/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here/below")
    with pytest.raises(UsageError, match="working directory"):
        BundleWriter(tmp_path / "here")


def test_a_bundle_can_be_a_link_to_a_folder(tmp_path: Path) -> None:
    put(tmp_path / "real", {"fabric.json": b"1"})
    (tmp_path / "b").symlink_to("real")
    put(tmp_path / "b", {"fabric.json": b"2"})
    assert (tmp_path / "b").is_symlink() and files(tmp_path / "real")["fabric.json"] == b"2"


def test_folders_are_replaced_in_two_steps_if_they_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class NoExchange:
        def __getattr__(self, name: str) -> object:
            raise AttributeError(name)

    put(tmp_path / "b", {"fabric.json": b"1"})
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: NoExchange())
    put(tmp_path / "b", {"fabric.json": b"2"})
    assert files(tmp_path / "b")["fabric.json"] == b"2" and is_whole(tmp_path / "b") and leftovers(tmp_path) == []


KILLED_AT = """
import os, signal, sys
from fabricgen.bundle import write
from fabricgen.cli.main import run
point, count = sys.argv[1], int(sys.argv[2])
def die_at(holder, name):
    inner = getattr(holder, name)
    def counted(*given, **named):
        global count
        if count == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        count -= 1
        return inner(*given, **named)
    setattr(holder, name, counted)
holder = {"rmtree": write.shutil, "_put_in_place": write, "add": write.BundleWriter}[point]
die_at(holder, point)
run(sys.argv[3:])
"""


@pytest.fixture
def two(tmp_path: Path, cli: Cli) -> tuple[Path, Path, dict[str, bytes], dict[str, bytes]]:
    """Two inventories of one fabric, and the bundle of each."""
    one, other = write(tmp_path / "one", rail_optimized()), write(tmp_path / "other", rail_optimized(12, mtu=9000))
    bundles = []
    for inventory in (one, other):
        assert cli("render", inventory, "-o", tmp_path / "aside", "-q").code == 0
        bundles.append(files(tmp_path / "aside"))
    return one, other, bundles[0], bundles[1]


@pytest.mark.parametrize(
    ("point", "count", "new"), [("add", 0, False), ("add", 9, False), ("_put_in_place", 0, False), ("rmtree", 0, True)]
)
def test_killed_at_a_point(
    point: str,
    count: int,
    new: bool,
    tmp_path: Path,
    cli: Cli,
    two: tuple[Path, Path, dict[str, bytes], dict[str, bytes]],
) -> None:
    one, other, before, after = two
    bundle = tmp_path / "b"
    cli("render", one, "-o", bundle, "-q")
    command = [sys.executable, "-c", KILLED_AT, point, str(count), "render", str(other), "-o", str(bundle), "-q"]
    assert subprocess.run(command, capture_output=True).returncode == -9
    assert files(bundle) == (after if new else before) and is_whole(bundle)
    assert len(leftovers(tmp_path)) == 1
    assert cli("render", other, "-o", bundle, "-q").code == 0
    assert files(bundle) == after and leftovers(tmp_path) == []


def test_killed_at_random_moments(tmp_path: Path, two: tuple[Path, Path, dict[str, bytes], dict[str, bytes]]) -> None:
    """Old and new in turn into one folder, each run killed somewhere between its start and its end."""
    one, other, before, after = two
    bundle = tmp_path / "b"

    def start(inventory: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "fabricgen", "render", str(inventory), "-o", str(bundle), "-q"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    begun = time.monotonic()
    assert start(one).wait() == 0
    whole_s = time.monotonic() - begun
    dice = random.Random(7)
    for run in range(8):
        process = start((other, one)[run % 2])
        time.sleep(whole_s * dice.uniform(0.4, 1.0))
        process.kill()
        process.wait()
        assert files(bundle) in (before, after) and is_whole(bundle)
    assert start(other).wait() == 0
    assert files(bundle) == after and leftovers(tmp_path) == []


def test_render_keeps_foreign_files_and_removes_devices(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", rail_optimized(12))
    bundle = tmp_path / "b"
    assert cli("render", inventory, "-o", bundle).code == 0
    (bundle / "mine.txt").write_text("x")
    outcome = cli("render", write(inventory, rail_optimized(8)), "-o", bundle)
    assert "17 devices" in outcome.out and "8 removed" in outcome.out
    assert len(list((bundle / "sonic").iterdir())) == 17 and (bundle / "mine.txt").read_text() == "x"
    assert is_whole(bundle)


def test_only_keeps_the_files_of_other_switches(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    bundle = tmp_path / "b"
    cli("render", inventory, "-o", bundle)
    whole = files(bundle)
    assert cli("render", inventory, "-o", bundle, "--only", "leaf*").code == 0
    assert files(bundle) == whole, "the source map and the manifest are those of all devices"
    (bundle / "sonic/spine1/config_db.json").write_text("{}")
    (bundle / "sonic/leaf1/config_db.json").write_text("{}")
    assert cli("render", inventory, "-o", bundle, "--only", "leaf1").code == 0
    assert files(bundle)["sonic/leaf1/config_db.json"] == whole["sonic/leaf1/config_db.json"]
    assert files(bundle)["sonic/spine1/config_db.json"] == b"{}"
    assert cli("render", inventory, "-o", bundle, "--only", "nothing*").code == 2


def test_only_refuses_the_bundle_of_another_fabric(cli: Cli, tmp_path: Path) -> None:
    cli("render", write(tmp_path / "one", rail_optimized()), "-o", tmp_path / "b")
    before = files(tmp_path / "b")
    outcome = cli("render", write(tmp_path / "two", explicit()), "-o", tmp_path / "b", "--only", "leaf*")
    assert outcome.code == 2 and "bundle of fabric 'small'" in outcome.err
    assert files(tmp_path / "b") == before and not (tmp_path / "two/allocations.lock.yaml").exists()


def test_check_reports_stale_files_and_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    inventory, bundle = write(tmp_path / "inventory", explicit()), tmp_path / "b"
    assert cli("render", inventory, "-o", bundle, "--check").code == 1
    assert not bundle.exists() and not (inventory / "allocations.lock.yaml").exists()
    cli("render", inventory, "-o", bundle)
    stamps = {path: (bundle / path).stat().st_mtime_ns for path in files(bundle)}
    assert cli("render", inventory, "-o", bundle, "--check").code == 0
    (bundle / "sonic/leaf1/config_db.json").write_bytes(b"{}")
    (bundle / "manifest.json").unlink()
    (bundle / "sonic/old").mkdir()
    (bundle / "sonic/old/config_db.json").write_text("{}")
    outcome = cli("render", inventory, "-o", bundle, "--check")
    assert outcome.code == 1
    assert outcome.out.count("FG990") == 3
    for path in ("sonic/leaf1/config_db.json", "manifest.json", "sonic/old/config_db.json"):
        assert str(bundle / path) in outcome.out
    assert cli("render", inventory, "-o", bundle, "--check", "--only", "spine*").code == 0
    assert all((bundle / path).stat().st_mtime_ns == stamps[path] for path in ("fabric.json", "sources.json"))


def test_locked_does_not_write_the_lock(cli: Cli, tmp_path: Path) -> None:
    inventory, bundle = write(tmp_path / "inventory", rail_optimized(8)), tmp_path / "b"
    lock = inventory / "allocations.lock.yaml"
    outcome = cli("render", inventory, "-o", bundle, "--locked")
    assert outcome.code == 1 and "FG382" in outcome.out and not lock.exists() and not bundle.exists()
    assert cli("render", inventory, "-o", bundle).code == 0
    before = lock.read_bytes()
    assert cli("render", inventory, "-o", bundle, "--locked").code == 0
    write(inventory, rail_optimized(12))
    for arguments in (["--locked"], ["--check"]):
        outcome = cli("render", inventory, "-o", bundle, *arguments)
        assert outcome.code == 1 and "8 new names" in outcome.out
    assert cli("check", inventory).code == 1
    assert lock.read_bytes() == before and len(list((bundle / "sonic").iterdir())) == 17
