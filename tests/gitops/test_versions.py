"""The recipes, the hooks and the pages name the version of the project."""

import re

import pytest

from fabricgen import __version__
from tests.gitops.repository import CHECKOUT

FILES = ["docs/gitops.md", "docs/gitops/github.yml", "docs/gitops/gitlab-ci.yml", "docs/gitops/github-render.yml",
         "docs/howto/air-gapped.md", "docs/tutorial.md", "action.yml"]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_the_version_is_pinned(name: str) -> None:
    text = (CHECKOUT / name).read_text()
    named = re.findall(r"fabricgen(?:==|@v|-)(\d+\.\d+\.\d+)|rev: v(\d+\.\d+\.\d+)", text)
    assert named and {one or other for one, other in named} == {__version__}
    assert not re.search(r"pip install (?:--quiet )?fabricgen$", text, re.MULTILINE), "pin the version"
