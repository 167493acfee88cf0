"""Files of a clone of sonic-buildimage at a commit: texts, folders, and the YANG models as its build makes them."""

import subprocess
import tarfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import jinja2

MODELS = "src/sonic-yang-models"


def shown(clone: Path, commit: str, path: str) -> str:
    """The text of a file."""
    command = ["git", "-C", str(clone), "show", f"{commit}:{path}"]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


def extract(clone: Path, commit: str, paths: Iterable[str], folder: Path) -> None:
    """The files that git's path patterns choose, below a folder."""
    command = ["git", "-C", str(clone), "archive", commit, "--", *paths]
    content = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        archive.extractall(folder, filter="tar")


def make_models(clone: Path, commit: str, folder: Path) -> Path:
    """The folder of all YANG models of an image: those of the tree, and the templates that setup.py expands for py."""
    extract(clone, commit, [f"{MODELS}/yang-models", f"{MODELS}/yang-templates"], folder)
    models, templates = folder / MODELS / "yang-models", folder / MODELS / "yang-templates"
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(templates), trim_blocks=True)
    for file in templates.glob("*.j2"):
        text = environment.get_template(file.name).render(yang_model_type="py")
        (models / file.stem).write_text(text, encoding="utf-8")
    return models
