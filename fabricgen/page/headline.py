"""The head of the report as Markdown, for the comment on a pull request."""

from collections.abc import Mapping
from typing import Any

from fabricgen.visible import markdown

_MARKS = {"ok": "✅", "warning": "⚠️", "error": "❌", "none": "➖"}


def headline(content: Mapping[str, Any]) -> str:
    """The answer with its reasons, a table of the evidence, and what was not judged. Names are text, not markup."""
    verdict = content["verdict"]
    lines = [
        f"### {_MARKS[verdict['level']]} {markdown(verdict['answer'])}: {markdown(content['fabric']['name'])}",
        "",
        markdown(" ".join(verdict["reasons"])),
        "",
        "| | | |",
        "|---|---|---|",
        *(
            f"| {_MARKS[cell['level']]} {_text(cell['name'])} | **{_text(cell['value'])}** | {_text(cell['detail'])} |"
            for cell in verdict["evidence"]
        ),
        "",
        f"Not judged: {markdown('; '.join(verdict['not_judged']))}.",
    ]
    return "\n".join([*lines, ""])


def _text(text: str) -> str:
    return markdown(text).replace("|", "\\|")
