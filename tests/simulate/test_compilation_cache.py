"""The cache of machine code, which numba unpickles: no other user can write it."""

import os
from pathlib import Path

from fabricgen.atomic.private import private_folder
from tests.components import require_root


def test_a_new_folder_is_private(tmp_path: Path) -> None:
    assert private_folder(tmp_path / "home" / "cache") == tmp_path / "home" / "cache"
    assert (tmp_path / "home" / "cache").stat().st_mode & 0o777 == 0o700
    assert private_folder(tmp_path / "home" / "cache") == tmp_path / "home" / "cache"


def test_a_folder_that_others_can_read_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o755)
    assert private_folder(tmp_path / "cache")
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    assert private_folder(tmp_path / "cache") is None
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    assert private_folder(tmp_path / "shared" / "cache") is None  # its owner could replace it
    (tmp_path / "shared").chmod(0o1777)
    assert private_folder(tmp_path / "shared" / "cache")


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "planted").mkdir(mode=0o700)
    (tmp_path / "cache").symlink_to(tmp_path / "planted")
    assert private_folder(tmp_path / "cache") is None


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    assert private_folder(tmp_path / "cache") is None


def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    require_root()
    (tmp_path / "cache").mkdir(mode=0o700)
    os.chown(tmp_path / "cache", 12345, 12345)
    assert private_folder(tmp_path / "cache") is None
