"""A bundle is always the old one or the new one, and files that fabricgen did not write stay."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from fabricgen.atomic import exchange, write_atomically
from fabricgen.bundle.manifest import Manifest, digest, read_manifest
from fabricgen.bundle.scratch import Written
from fabricgen.bundle.write import BundleWriter
from fabricgen.errors import UsageError
from fabricgen.spread import spread
from tests.conftest import Cli
from tests.inventories import explicit, rail_optimized, write


def put(folder: Path, files: dict[str, bytes], *, adopt: bool = False) -> list[str]:
    """Write a bundle of these files; returns those that are gone."""
    with BundleWriter(folder, "f", adopt=adopt) as writer:
        for path, content in files.items():
            writer.add(path, content)
        return writer.commit(1, "digest")


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def is_whole(folder: Path) -> bool:
    """Whether every file that the manifest names is there with that digest, and no device beside them."""
    manifest = read_manifest(folder)
    assert manifest
    content = files(folder)
    assert {path for path in content if path.startswith("sonic/")} <= manifest.files.keys()
    return all(hashlib.sha256(content[path]).hexdigest() == digest for path, digest in manifest.files.items())


def attributes(folder: Path) -> dict[str, object]:
    """Mode and owner of a folder and of everything below it."""
    return {
        str(each.relative_to(folder)): (each.lstat().st_mode, each.lstat().st_uid, each.lstat().st_gid)
        for each in (folder, *folder.rglob("*"))
    }


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


def test_files_that_other_processes_write_are_those_of_this_one(tmp_path: Path) -> None:
    old = {f"sonic/{name}/config_db.json": name.encode() for name in "abcd"}
    new = {**old, "sonic/b/config_db.json": b"new", "sonic/e/config_db.json": b"e"}
    notes = []
    for kind in ("alone", "together"):
        put(tmp_path / kind, old)
        (tmp_path / kind / "sonic/c/config_db.json").write_bytes(b"by hand")
        with BundleWriter(tmp_path / kind, "f") as writer:
            if kind == "alone":
                answers: Iterable[bytes | Written] = new.values()
            else:
                answers = spread(lambda path, writer=writer: writer.write(path, new[path]), [*new], 2)
            for path, answer in zip(new, answers, strict=True):
                writer.add(path, answer)
            gone = writer.commit(1, "digest")
        notes.append((writer.changed, writer.wanted, writer.digests, writer.edited, gone, files(tmp_path / kind)))
    assert notes[0] == notes[1]
    assert notes[1][0] == {f"sonic/{name}/config_db.json" for name in "bce"} | {"manifest.json"}
    assert notes[1][3] == ["sonic/c/config_db.json"] and is_whole(tmp_path / "together")


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


def test_a_folder_of_other_people_is_refused_or_adopted(tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    mine = {"sonic/old/config_db.json": b"{}", "hosts/x/notes.txt": b"mine", "infiniband/p/opensm.conf": b"mine"}
    for path, content in {**mine, "fabric.json": b"mine", "cabling.csv": b"same"}.items():
        (bundle / path).parent.mkdir(parents=True, exist_ok=True)
        (bundle / path).write_bytes(content)
    (bundle / ".git/refs").mkdir(parents=True)
    (bundle / ".git").chmod(0o700)
    (bundle / "cabling.csv").chmod(0o640)
    (bundle / "fabric.json").chmod(0o600)
    bundle.chmod(0o2750)
    before = attributes(bundle)
    with pytest.raises(UsageError, match="is not empty and not a bundle"):
        put(bundle, {"fabric.json": b"1"})
    (bundle / "manifest.json").write_text("<<<<<<< HEAD")
    with pytest.raises(UsageError, match=r"has a manifest\.json that cannot be read"):
        put(bundle, {"fabric.json": b"1"})
    (bundle / "manifest.json").unlink()
    assert attributes(bundle) == before and leftovers(tmp_path) == []
    assert put(bundle, {"fabric.json": b"1", "cabling.csv": b"same", "hosts/y/z": b"2"}, adopt=True) == []
    after = attributes(bundle)
    assert files(bundle) == {
        **mine, "fabric.json": b"1", "cabling.csv": b"same", "hosts/y/z": b"2",
        "manifest.json": (bundle / "manifest.json").read_bytes(),
    }  # fmt: skip
    assert {path: after.get(path) for path in before} == before
    assert put(bundle, {"fabric.json": b"1"}) == ["cabling.csv", "hosts/y/z"]
    assert {path: content for path, content in files(bundle).items() if path in mine} == mine


def test_a_file_that_the_manifest_does_not_list_is_not_replaced(tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    put(bundle, {"fabric.json": b"1"})
    (bundle / "sonic/a").mkdir(parents=True)
    (bundle / "sonic/a/config_db.json").write_text("mine")
    with pytest.raises(UsageError, match=r"did not write: sonic/a/config_db\.json; .*--adopt-folder"):
        put(bundle, {"fabric.json": b"2", "sonic/a/config_db.json": b"{}"})
    assert files(bundle)["fabric.json"] == b"1" and leftovers(tmp_path) == []
    put(bundle, {"fabric.json": b"2", "sonic/a/config_db.json": b"{}"}, adopt=True)
    assert files(bundle)["sonic/a/config_db.json"] == b"{}" and is_whole(bundle)


@pytest.mark.parametrize("path", ["../outside", "hosts/../../outside", "/etc/hostname"])
def test_a_manifest_with_files_outside_the_bundle_is_refused(tmp_path: Path, path: str) -> None:
    bundle = tmp_path / "b"
    bundle.mkdir()
    (tmp_path / "outside").write_text("mine")
    (bundle / "manifest.json").write_bytes(Manifest("f", 1, "", {path: digest(b"mine")}).dump())
    with pytest.raises(UsageError, match="cannot be read"):
        put(bundle, {"fabric.json": b"1"})
    assert (tmp_path / "outside").read_text() == "mine" and sorted(files(bundle)) == ["manifest.json"]


@pytest.mark.parametrize("path", ["README.md", ".git/config"])
def test_a_manifest_does_not_make_other_files_ours(tmp_path: Path, path: str) -> None:
    bundle = tmp_path / "b"
    (bundle / ".git").mkdir(parents=True)
    for file in (tmp_path / "outside", bundle / "README.md", bundle / ".git/config"):
        file.write_text("mine")
    (bundle / "manifest.json").write_bytes(Manifest("f", 1, "", {path: digest(b"mine")}).dump())
    assert put(bundle, {"fabric.json": b"1"}) == []
    for file in (tmp_path / "outside", bundle / "README.md", bundle / ".git/config"):
        assert file.read_text() == "mine"


def test_something_else_in_the_place_of_a_folder_or_file_is_refused(tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    put(bundle, {"cabling.csv": b"1"})
    (tmp_path / "elsewhere").mkdir()
    (bundle / "sonic").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="sonic is not a folder"):
        put(bundle, {"sonic/a/config_db.json": b"{}"}, adopt=True)
    (bundle / "fabric.json").mkdir()
    with pytest.raises(UsageError, match=r"fabric\.json is a folder"):
        put(bundle, {"fabric.json": b"{}"}, adopt=True)
    assert files(bundle)["cabling.csv"] == b"1" and not any((tmp_path / "elsewhere").iterdir())


def test_what_others_write_during_the_exchange_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = tmp_path / "b"
    put(bundle, {"fabric.json": b"1"})
    (bundle / "notes").write_text("first")
    inner = exchange._exchange_names

    def late(one: Path, other: Path) -> None:
        (bundle / "new").mkdir()
        (bundle / "new/notes").write_text("mine")
        write_atomically(bundle / "notes", b"second")
        inner(one, other)

    monkeypatch.setattr(exchange, "_exchange_names", late)
    put(bundle, {"fabric.json": b"2"})
    assert (bundle / "new/notes").read_text() == "mine" and (bundle / "notes").read_text() == "second"
    assert files(bundle)["fabric.json"] == b"2" and leftovers(tmp_path) == []


def test_an_error_leaves_the_old_bundle(tmp_path: Path) -> None:
    put(tmp_path / "b", {"fabric.json": b"1"})
    with pytest.raises(RuntimeError), BundleWriter(tmp_path / "b", "f") as writer:
        writer.add("fabric.json", b"2")
        raise RuntimeError
    assert files(tmp_path / "b")["fabric.json"] == b"1" and leftovers(tmp_path) == []


def test_staging_folders_of_killed_runs_are_removed(tmp_path: Path) -> None:
    for name in ("b", "b[1]"):
        (tmp_path / f".{name}.fabricgen-0123abcd/sonic").mkdir(parents=True)
    (tmp_path / ".b.other").mkdir()
    with BundleWriter(tmp_path / "b", "f") as living:
        living.add("fabric.json", b"1")
        put(tmp_path / "b", {"fabric.json": b"2"})
        living.commit(1, "")
    put(tmp_path / "b[1]", {"fabric.json": b"2"})
    assert files(tmp_path / "b")["fabric.json"] == b"1"
    assert leftovers(tmp_path) == [".b.other"]


def test_a_file_or_the_working_directory_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        BundleWriter(tmp_path / "file", "f")
    (tmp_path / "here/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here/below")
    with pytest.raises(UsageError, match="working directory"):
        BundleWriter(tmp_path / "here", "f")


def test_a_bundle_can_be_a_link_to_a_folder(tmp_path: Path) -> None:
    put(tmp_path / "real", {"fabric.json": b"1"})
    (tmp_path / "b").symlink_to("real")
    put(tmp_path / "b", {"fabric.json": b"2"})
    assert (tmp_path / "b").is_symlink() and files(tmp_path / "real")["fabric.json"] == b"2"


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


def test_the_bundle_of_another_fabric_is_refused_or_replaced(cli: Cli, tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    cli("render", write(tmp_path / "one", rail_optimized()), "-o", bundle)
    (bundle / "sonic/notes").write_text("mine")
    before = files(bundle)
    outcome = cli("render", write(tmp_path / "two", explicit()), "-o", bundle)
    assert outcome.code == 2 and "is the bundle of fabric 'small'" in outcome.err and "--adopt-folder" in outcome.err
    assert files(bundle) == before and not (tmp_path / "two/allocations.lock.yaml").exists()
    assert cli("render", tmp_path / "two", "-o", bundle, "--adopt-folder").code == 0
    assert files(bundle).pop("sonic/notes") == b"mine"
    (bundle / "sonic/notes").unlink()
    assert is_whole(bundle)


def test_edited_files_are_replaced_and_reported(cli: Cli, tmp_path: Path) -> None:
    inventory, bundle = write(tmp_path / "inventory", explicit()), tmp_path / "b"
    cli("render", inventory, "-o", bundle)
    assert "edited after" not in cli("render", inventory, "-o", bundle).err
    (bundle / "sonic/leaf1/config_db.json").write_text("{}")
    (bundle / "cabling.csv").unlink()
    outcome = cli("render", inventory, "-o", bundle, "--check")
    assert "config_db.json differs from what the inventory renders, and was edited after it was rendered" in outcome.out
    assert "cabling.csv is missing: the inventory renders it" in outcome.out and outcome.out.count("was edited") == 1
    outcome = cli("render", inventory, "-o", bundle)
    assert "warning: replaced 1 file edited by hand since the last render: sonic/leaf1/config_db.json" in outcome.err
    assert is_whole(bundle)


def test_only_refuses_the_bundle_of_another_fabric(cli: Cli, tmp_path: Path) -> None:
    cli("render", write(tmp_path / "one", rail_optimized()), "-o", tmp_path / "b")
    before = files(tmp_path / "b")
    outcome = cli("render", write(tmp_path / "two", explicit()), "-o", tmp_path / "b", "--only", "leaf*")
    assert outcome.code == 2 and "is the bundle of fabric 'small'" in outcome.err
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
        assert outcome.code == 1 and "8 names" in outcome.out
    assert cli("check", inventory, "--locked").code == 1 and cli("check", inventory).code == 0
    assert lock.read_bytes() == before and len(list((bundle / "sonic").iterdir())) == 17
