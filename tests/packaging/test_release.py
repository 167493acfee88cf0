"""A release: the tag is the version of the project, and the notes are the section of that version."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "release.py"
CHANGELOG = """\
# Changelog

## [Unreleased]

### Added

- A thing that is not released.

## [1.2.0] - 2026-11-03

### Fixed

- The one fault of 1.1.0.

## [1.1.0] - 2026-10-01

### Added

- Everything.

[Unreleased]: https://example.org/compare/v1.2.0...main
"""
NOTES = "### Fixed\n\n- The one fault of 1.1.0.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of version 1.2.0 with the release script."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "release.py").write_bytes(SCRIPT.read_bytes())
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "one"\nversion = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    return tmp_path


def release(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", project / "scripts" / "release.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_notes_of_the_version(project: Path) -> None:
    done = release(project, "v1.2.0")
    assert (done.returncode, done.stdout, done.stderr) == (0, NOTES, "")


def test_links_at_the_end_are_not_part_of_the_notes(project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "one"\nversion = "1.1.0"\n')
    assert release(project, "v1.1.0").stdout == "### Added\n\n- Everything.\n"


@pytest.mark.parametrize("tag", ["v1.1.0", "1.2.0", "v1.2.0rc1", "v1.2", "v1x2.0"])
def test_another_tag_is_refused(project: Path, tag: str) -> None:
    done = release(project, tag)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"the tag is {tag}, but pyproject.toml has version 1.2.0: expected tag v1.2.0\n"


@pytest.mark.parametrize("heading", ["## [1.2.1] - 2026-11-03", "## [1.2.0]", "## 1.2.0 - 2026-11-03"])
def test_a_version_without_a_dated_section_is_refused(project: Path, heading: str) -> None:
    (project / "CHANGELOG.md").write_text(CHANGELOG.replace("## [1.2.0] - 2026-11-03", heading))
    done = release(project, "v1.2.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'CHANGELOG.md has no entries under "## [1.2.0] - YYYY-MM-DD"\n'


def test_an_empty_section_is_refused(project: Path) -> None:
    (project / "CHANGELOG.md").write_text(CHANGELOG.replace(NOTES, ""))
    assert release(project, "v1.2.0").returncode == 1


def test_usage(project: Path) -> None:
    assert release(project).returncode == 2


def test_the_project_and_the_package_have_one_version() -> None:
    """The version is written in pyproject.toml and, for `--version`, in the package."""
    import tomllib

    from fabricgen import __version__

    project = tomllib.loads((SCRIPT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
    assert set(project["urls"]) == {"Homepage", "Documentation", "Source", "Changelog", "Issues"}
