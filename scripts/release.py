"""Print the release notes of a tag: the section of its version in CHANGELOG.md.

    python scripts/release.py v0.1.0

Exit code 1 if the tag is not `v` and the version of pyproject.toml, or if the changelog has no section of that
version. Needs the standard library only, because it runs before anything is installed.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(tag: str, root: Path = ROOT) -> str:
    """The release notes of a tag, without the heading. Raises ValueError if the tag cannot be released."""
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but pyproject.toml has version {version}: expected tag v{version}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$\n(.*?)(?=^## |^\[|\Z)", changelog, re.M | re.S
    )
    if section is None or not section[1].strip():
        raise ValueError(f'CHANGELOG.md has no entries under "## [{version}] - YYYY-MM-DD"')
    return section[1].strip() + "\n"


def main(arguments: list[str]) -> int:
    """Print the notes of the tag in `arguments`; returns the exit code."""
    if len(arguments) != 1:
        print("usage: release.py TAG", file=sys.stderr)
        return 2
    try:
        print(notes(arguments[0]), end="")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
