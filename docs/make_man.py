"""docs/man: a manual page for each command, from its help and its options.

python docs/make_man.py

The pages travel inside the wheel, to share/man/man1 of the environment: `man fabricgen-check` shows one.
"""

from collections.abc import Iterator, Mapping
from inspect import cleandoc
from pathlib import Path

import click

from fabricgen.cli.main import main

FOLDER = Path(__file__).with_name("man")

_EXIT_CODES = {
    "0": "Done; no finding is at least as severe as --fail-on.",
    "1": "Findings at least as severe as --fail-on, or files that render --check found to differ.",
    "2": "Wrong usage, or a file that is missing or cannot be read: no verdict is possible.",
    "3": "A bug in fabricgen; --debug shows the traceback.",
    "4": "diff --exit-code found differences.",
    "130": "Interrupted; no file is half-written.",
}
_ENVIRONMENT = {
    "FABRICGEN_<OPTION>": "The value of an option, such as FABRICGEN_FAIL_ON=warning. The command line overrides it.",
    "NO_COLOR": "If it is set, the output has no colors and no bars.",
}
_FILES = {
    "fabricgen.toml, [tool.fabricgen] of pyproject.toml": "Options, severities of findings and suppressions, in the "
    "working directory or the nearest folder above it. The environment overrides them."
}


def pages() -> Mapping[str, str]:
    """File name -> text of the page, for `fabricgen` and each command below it."""
    return {
        f"{path.replace(' ', '-')}.1": text for path, text in _pages(main, click.Context(main, info_name="fabricgen"))
    }


def _pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    members = list(_members(command, context))
    yield context.command_path, "\n".join(_page(command, context, [(c.command_path, m) for m, c in members])) + "\n"
    for member, below in members:
        yield from _pages(member, below)


def _members(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        member = command.get_command(context, name)
        assert member, name
        yield member, click.Context(member, parent=context, info_name=name)


def _page(command: click.Command, context: click.Context, members: list[tuple[str, click.Command]]) -> Iterator[str]:
    path = context.command_path
    name = path.replace(" ", "-")
    summary, *paragraphs = cleandoc(command.help or "").split("\n\n")
    yield f'.TH "{name.upper()}" 1 "" "fabricgen" "Manual of fabricgen"'
    yield from (".SH NAME", f"{_text(name)} \\- {_text(' '.join(summary.split()))}")
    yield from (".SH SYNOPSIS", f".B {_text(path)}", _text(" ".join(command.collect_usage_pieces(context))))
    if described := [each for each in paragraphs if not each.startswith("\b")]:
        yield ".SH DESCRIPTION"
        for number, paragraph in enumerate(described):
            yield from ([".PP"] if number else []) + [_text(" ".join(paragraph.split()))]
    if members:
        yield ".SH COMMANDS"
        yield from _rows({path.replace(" ", "-") + "(1)": member.get_short_help_str(200) for path, member in members})
    records = [option.get_help_record(context) for option in command.params if isinstance(option, click.Option)]
    yield from (".SH OPTIONS", *_rows(dict(filter(None, records))))
    for paragraph in paragraphs:
        if paragraph.startswith("\b\nExamples:"):
            yield from (
                ".SH EXAMPLES",
                ".nf",
                *map(_text, cleandoc(paragraph.partition("Examples:")[2]).split("\n")),
                ".fi",
            )
    yield from (".SH EXIT STATUS", *_rows(_EXIT_CODES))
    yield from (".SH ENVIRONMENT", *_rows(_ENVIRONMENT))
    yield from (".SH FILES", *_rows(_FILES))


def _rows(rows: Mapping[str, str]) -> Iterator[str]:
    for name, text in rows.items():
        yield from (".TP", f"\\fB{_text(name).removeprefix(_ZERO_WIDTH)}\\fR", _text(text))


_ZERO_WIDTH = "\\&"  # before a dot or an apostrophe at the start of a line, which would be a request of roff


def _text(text: str) -> str:
    """One line of text without the markup of roff."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").strip("\n")
    return f"{_ZERO_WIDTH}{escaped}" if escaped.startswith(".") else escaped


def write() -> None:
    """Write the pages, and remove those of commands that no longer exist."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.1"):
        old.unlink()
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
