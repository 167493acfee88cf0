"""The pages of the documentation, their code blocks and their commands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"))]
PAGES += sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "rules")  # generated

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit code (\d+)$")
_RULES = re.compile(r"\b[1-9]\d* rules\b")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, *languages: str) -> Iterator[tuple[str, str]]:
    """(language, text) of each code block in one of the languages."""
    for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if match[1] in languages:
            yield match[1], match[2]


class Step(NamedTuple):
    """A command of a page: its line in the page, the command, its exit code, and the output shown ("" if none is)."""

    line: str
    command: str
    code: int
    shown: str


def steps(page: Path) -> Iterator[Step]:
    """The commands in the order of the page.

    `sh` blocks have one command a line; `console` blocks have `$ command`, followed by what it prints.
    """
    for language, text in blocks(page, "sh", "console"):
        found: list[Step] = []
        output: list[str] = []
        for line in reversed(text.splitlines()):
            if language == "console" and not line.startswith("$ "):
                output.insert(0, line)
                continue
            code = _EXIT.search(line)
            command = _EXIT.sub("", line.removeprefix("$ "))
            found.append(Step(line, command, int(code[1]) if code else 0, "\n".join(output)))
            output = []
        yield from reversed(found)


def write_files(page: Path, folder: Path) -> None:
    """Write the blocks that begin with a comment `file: NAME`. A CSV file does not get the comment."""
    for language, text in blocks(page, "yaml", "csv", "jinja"):
        named = re.match(r"(?:#|\{#) file: (\S+)", text)
        if named:
            file = folder / named[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text if language != "csv" else text.partition("\n")[2], encoding="utf-8")


def as_shown(output: str) -> str:
    """An output as a page shows it: "N rules", because each new rule would change the number in several pages."""
    return _RULES.sub("N rules", output).strip()


def refresh(page: Path, step: Step, output: str) -> None:
    """Replace the output that the page shows for a step."""
    old, new = f"{step.line}\n{step.shown}\n", f"{step.line}\n{as_shown(output)}\n"
    page.write_text(page.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
