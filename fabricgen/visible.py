"""Foreign text without effects on what shows it: a terminal, a log, a CI job, a spreadsheet.

Names and values of switch files are foreign. A newline in one would begin another line in a report, which GitHub
can read as a command; an escape sequence changes a terminal; directional marks (CVE-2021-42574) show another text than
the one in the file. `visible` is for one value. `printable` is for a whole output, whose own newlines stay.
"""

import re

# C0 and C1 controls, soft hyphen, zero-width and directional marks, line and paragraph separators, surrogates, tags.
_HIDDEN = "\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
_TAGS = "\U000e0000-\U000e0fff"
_IN_VALUE = re.compile(f"[{_HIDDEN}{_TAGS}]")
_COLOR = r"\x1b\[[0-9;]*m"
_HIDDEN_IN_OUTPUT = _HIDDEN.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f")  # tabs and newlines stay
_ANY_IN_OUTPUT = re.compile(f"[{_HIDDEN_IN_OUTPUT}{_TAGS}]")
_IN_OUTPUT = re.compile(f"({_COLOR})|[{_HIDDEN_IN_OUTPUT}{_TAGS}]")
# What runners of CI jobs read as commands: GitHub at the start of a line, older GitHub and Azure anywhere in it.
_COMMAND = re.compile(r"^(?P<indent>[ \t]*):(?=:[A-Za-z])|#(?=#(?:\[|vso\[))", re.MULTILINE)
_MARKUP = re.compile(r"[`*\[\]@]")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FORMULA = tuple("=+-@\t\r\n")
_MARKED = frozenset((*_FORMULA, "'"))
_SIGNS = tuple("=+-@\t\r'")  # all of them but the newline


def visible(text: str) -> str:
    r"""One value with its control characters as escapes such as \n and \u001b, so that it stays on one line."""
    return text if text.isprintable() else _IN_VALUE.sub(_escaped, text)


def is_visible(text: str) -> bool:
    """Whether a text has no control characters."""
    return text.isprintable() or not _IN_VALUE.search(text)


def printable(text: str, *, color: bool = False, commands: bool = False) -> str:
    r"""A whole output with its control characters as \uXXXX, which JSON reads as the same text.

    Newlines and tabs stay; colors stay with `color`. Without `commands`, text that a runner of CI jobs executes is
    escaped in the same way.
    """
    if _ANY_IN_OUTPUT.search(text):  # much faster than a substitution
        text = _IN_OUTPUT.sub(lambda found: found[0] if color and found[1] else _units(found[0]), text)
    if commands or not ("::" in text or "##" in text):
        return text
    return _COMMAND.sub(_disarmed, text)


def markdown(text: str) -> str:
    """One value as text of Markdown, without markup, mentions and HTML."""
    return _MARKUP.sub(r"\\\g<0>", visible(text).translate(_HTML))


def cell(value: object) -> str:
    """A cell of a CSV file that no spreadsheet reads as a formula: an apostrophe precedes such a text (OWASP)."""
    if type(value) is str and value[:1] not in _MARKED:
        return value
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) or (text[:1] == "'" and text[1:].startswith(_FORMULA)) else text


def may_have_formulas(table: str) -> bool:
    """Whether a cell may be one that `cell` changes, by the text of a CSV file with commas between cells."""
    text = f"\n{table}"
    if '"\n' in text:
        return True
    return any(sign in text and any(f"{before}{sign}" in text for before in (",", "\n", '"')) for sign in _SIGNS)


def cell_text(text: str) -> str:
    """The text from which `cell` made a cell."""
    return text[1:] if text[:1] == "'" and cell(text[1:]) == text else text


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or _units(found[0])


def _units(text: str) -> str:
    """UTF-16 units, as JSON writes characters above U+FFFF."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))


def _disarmed(found: re.Match[str]) -> str:
    return f"{found['indent'] or ''}{_units(found[0][-1])}"
