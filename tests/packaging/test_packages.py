"""What is published: twine accepts both packages, and the Containerfile copies all that the wheel needs."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive."""
    return built(ROOT, "sdist", tmp_path_factory.mktemp("source"))


def test_twine_accepts_both(wheel: Path, source: Path) -> None:
    packages = (wheel, source)
    assert [package.suffix for package in packages] == [".whl", ".gz"]
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *packages], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_metadata_has_the_urls_of_the_project(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith("METADATA")]
        metadata = archive.read(name).decode()
    for label in ("Homepage", "Documentation", "Source", "Changelog", "Issues"):
        assert re.search(rf"^Project-URL: {label}, https://", metadata, re.MULTILINE), label
    links = re.findall(r"\]\((?!https?://|#|mailto:)([^)]+)\)", metadata)
    assert links == [], "links of the description that are dead on an index"


def test_the_source_archive_builds_the_same_wheel(wheel: Path, source: Path, tmp_path: Path) -> None:
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    assert names(built(folder, "wheel", tmp_path / "again")) == names(wheel)


def test_the_containerfile_copies_what_the_wheel_needs(wheel: Path, tmp_path: Path) -> None:
    """A build in a folder with only the copied files gives the same wheel."""
    text = (ROOT / "Containerfile").read_text()
    context = tmp_path / "source"
    for words in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE):
        *sources, target = words.split()
        for name in sources:
            into = context / (
                target if len(sources) == 1 and not target.endswith("/") else Path(target) / Path(name).name
            )
            if target.startswith("/"):
                assert (ROOT / name).is_file(), name  # into the image
            elif (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, into, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                context.mkdir(exist_ok=True)
                shutil.copyfile(ROOT / name, into)
    assert names(built(context, "wheel", tmp_path / "wheel")) == names(wheel)
    assert re.search(r"^USER (?!root)\w+$", text, re.MULTILINE)
    assert 'ENTRYPOINT ["fabricgen"]' in text


def built(folder: Path, kind: str, target: Path) -> Path:
    """The wheel or the source archive of a project."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", target],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (package,) = target.glob("fabricgen-*")
    return package


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if "__pycache__" not in name)
