"""The place of templates, schemas and example inventories: in an installed wheel, or at the top of a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).parent
_SHIPPED = _PACKAGE / "_shipped"


def resource(*parts: str) -> Path:
    """Path of a shipped file or folder, e.g. resource("templates", "sonic")."""
    root = _SHIPPED if _SHIPPED.is_dir() else _PACKAGE.parent
    return root.joinpath(*parts)


def package_text(path: str) -> str:
    """The text of a module of this package, e.g. package_text("sonic/updater.py")."""
    return (_PACKAGE / path).read_text(encoding="utf-8")


def package_files(folder: str, suffix: str = "py") -> list[str]:
    """The paths of the modules, or of other files, in a folder of this package, sorted, e.g. "deploy/state.py"."""
    return sorted(file.relative_to(_PACKAGE).as_posix() for file in (_PACKAGE / folder).glob(f"*.{suffix}"))
