"""Paths of written files stay below their folder."""

import pytest

from fabricgen.atomic.relative import relative


@pytest.mark.parametrize("path", ["a", "a/b", "./a", "a//b", "a/", "..a", "a..b/c"])
def test_paths_below_the_folder_are_kept(path: str) -> None:
    assert relative(path) == path


@pytest.mark.parametrize("path", ["", ".", "./.", "/", "/a", "//a", "..", "../a", "a/..", "a/../b"])
def test_other_paths_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="not in the folder"):
        relative(path)
