"""The folder of results: damaged, foreign and old entries are misses, and it stays within its size."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fabricgen.engine import store as about
from fabricgen.engine.store import Store, open_store
from fabricgen.engine.typed_json import dump_value, load_value
from fabricgen.findings import Finding, Location, Place, Related, Severity
from fabricgen.results import CongestionModel, CongestionResult, FlowTime
from tests.conftest import Cli


def only_file(store: Store) -> Path:
    """The file of the only entry."""
    (file,) = (path for path in store.folder.rglob("*") if path.is_file())
    return file


def test_an_entry_is_read_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("rules", b"key", b"content\nof two lines")
    assert store.get("rules", b"key") == b"content\nof two lines"
    assert store.get("rules", b"other") is None and store.get("deadlock", b"key") is None


DAMAGES = (lambda text: text[:-1], lambda text: text[:-1] + b"X", lambda _: b"", lambda _: b"{}")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_a_miss(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    store = Store(tmp_path)
    store.put("rules", b"key", b"content")
    file = only_file(store)
    file.write_bytes(damage(file.read_bytes()))
    assert store.get("rules", b"key") is None
    store.put("rules", b"key", b"content")
    assert store.get("rules", b"key") == b"content"


def test_a_folder_in_the_place_of_an_entry_is_a_miss(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("rules", b"key", b"content")
    file = only_file(store)
    file.unlink()
    file.mkdir()
    assert store.get("rules", b"key") is None
    store.put("rules", b"key", b"content")  # cannot be stored, and does not raise


def test_another_installation_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template, a platform of the catalog or a rule that changes is another installation."""
    store = Store(tmp_path / "store")
    templates = tmp_path / "shipped"
    templates.mkdir()
    (templates / "port.json.j2").write_text("old")
    monkeypatch.setattr(about, "resource", lambda *_: templates)
    about.installation.cache_clear()
    try:
        store.put("rules", b"key", b"content")
        about.installation.cache_clear()
        assert store.get("rules", b"key") == b"content"
        (templates / "port.json.j2").write_text("another")
        about.installation.cache_clear()
        assert store.get("rules", b"key") is None
    finally:
        about.installation.cache_clear()


def test_the_entries_used_last_are_kept(tmp_path: Path) -> None:
    store = Store(tmp_path, most_bytes=1000)
    for number in range(10):
        store.put("rules", b"%d" % number, bytes(100))
    for age, file in enumerate(sorted(path for path in tmp_path.rglob("*") if path.is_file())):
        os.utime(file, (age, age))
    assert store.get("rules", b"3")  # now it is the newest
    store.shrink()
    kept = [number for number in range(10) if store.get("rules", b"%d" % number)]
    assert 3 in kept and 1 <= len(kept) <= 4  # an entry has a checksum beside its 100 bytes


def test_a_folder_that_others_can_change_is_refused(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    assert open_store(folder) is None
    shown = cli("check", "inventories/quickstart", "--cache", folder)
    assert shown.code == 2 and "choose a folder that only you can write" in shown.err


def test_values_are_read_back_as_they_were() -> None:
    finding = Finding(
        "FG601",
        Severity.ERROR,
        "a cycle",
        "leaf1",
        location=Location("sonic/leaf1/config_db.json", 3, 5),
        related=(Related("next", Location("b", 1, 1), "leaf2", Place("PORT", "Ethernet0")),),
        place=Place("BGP_NEIGHBOR", "10.0.0.1"),
    )
    flow = FlowTime("a", "b", 10, 5, 2.0, victim=True)
    result = CongestionResult("incast", CongestionModel.FINITE, flows=(flow,), rail_bytes={3: 0.1}, draws={"mean": 1.5})
    for value, kind in (((finding,), tuple[Finding, ...]), (result, CongestionResult)):
        content = dump_value(value, kind)
        assert content and load_value(content, kind) == value


def test_a_value_that_json_does_not_have_is_not_stored() -> None:
    assert dump_value(CongestionResult("incast", CongestionModel.IDLE, max_load=float("inf")), CongestionResult) is None
