"""The pages of all codes: What, Why, Example, Fix and Source, for `explain`, the documentation and programs."""

import html
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from textwrap import fill

from fabricgen import __version__
from fabricgen.codes import FAMILIES, PARTS, codes
from fabricgen.findings import Severity
from fabricgen.resources import resource

PROJECT = "https://github.com/fabricgen/fabricgen"
_FOLDER = ("docs", "rules")
_COLUMNS = 120
_RELEASE = re.compile(r"\d+(\.\d+)*")
_PART = re.compile(rf"^({'|'.join(PARTS)}): ", re.MULTILINE)
_DOCUMENT = re.compile(r"(?<![\w/])docs/([\w/-]+\.md)")  # a page of the documentation
_LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)]+)\)")
_CODE_SPAN = re.compile(r"(`[^`]*`)")


_filled = partial(fill, break_long_words=False, break_on_hyphens=False)


@dataclass(frozen=True, slots=True)
class Page:
    """`severity` is the usual one of a rule; None for a code whose findings differ in severity. `origin` is the module
    of a rule, or the family of another code. `file` is the page in the documentation, "" for a rule of another
    package."""

    code: str
    title: str
    parts: Mapping[str, str]
    severity: Severity | None = None
    origin: str = ""
    file: str = ""

    def url(self, version: str) -> str:
        """The address of the page in a version of the project; "" if it has none."""
        return _address(self.file, version) if self.file else ""

    @property
    def what(self) -> str:
        """The first part as one line."""
        return " ".join(next(iter(self.parts.values()), self.title).split())

    @property
    def text(self) -> str:
        """The parts as plain text, each with its name."""
        return "\n\n".join(f"{name}: {text}" if name else text for name, text in self.parts.items())

    @property
    def markdown(self) -> str:
        """The parts as Markdown, with a heading for each. Pages of the documentation are links to the project."""
        return _LINK.sub(lambda link: f"[{link[1]}]({_address_of(link)})", self._sections())

    @property
    def document(self) -> str:
        """The page in the folder docs/rules, without the bad case of a rule."""
        origin = f"{self.severity}, `{self.origin}`" if self.severity else self.origin
        return f"# {self.code}: {_escaped(self.title)}\n\n{origin}\n\n{self._sections()}\n"

    def _sections(self) -> str:
        return "\n\n".join(f"## {name}\n\n{_escaped(text)}" if name else text for name, text in self.parts.items())


@cache
def pages() -> dict[str, Page]:
    """Every code that a finding can have."""
    from fabricgen.rules.registry import all_rules

    found = {}
    for code, entry in codes().items():
        parts = {name: _filled(entry[name.lower()], width=_COLUMNS) for name in PARTS if name.lower() in entry}
        found[code] = Page(code, entry["title"], parts, origin=FAMILIES[code[:3]], file=_file(code))
    for rule in all_rules():
        module = rule.check.__module__
        file = _file(rule.code) if module.startswith("fabricgen.") else ""
        parts = _parts(inspect.getdoc(rule.check) or rule.title)
        found[rule.code] = Page(rule.code, rule.title, parts, rule.severity, f"{module.replace('.', '/')}.py", file)
    return found


def page(code: str) -> Page:
    """The page of a code. A code without a page has itself as title and text."""
    return pages().get(code) or Page(code, code, {"": code})


def explained(code: str, width: int = 100) -> str | None:
    """The page of a code for a terminal of `width` columns, with a bad case for rules of fabricgen; None for an unknown
    code."""
    known = pages().get(code.upper())
    if known is None:
        return None
    shipped = resource(*_FOLDER, f"{known.code}.md")
    text = shipped.read_text(encoding="utf-8") if known.file and shipped.is_file() else known.document
    blocks = [_terminal_block(block, width) for block in text.rstrip("\n").split("\n\n")]
    return re.sub(r"^(\S.*\n)\n", r"\1", "\n\n".join(blocks), flags=re.MULTILINE)


def _terminal_block(block: str, width: int) -> str:
    """A heading without its mark, code as it is, and a paragraph with an indent."""
    if block.startswith("# "):
        return html.unescape(block.removeprefix("# ")).replace(": ", "  ", 1)
    if block.startswith("## "):
        return block.removeprefix("## ")
    if block.startswith("    "):
        return block
    plain = html.unescape(_LINK.sub(_address_of, block))
    return _filled(plain, width=width, initial_indent="  ", subsequent_indent="  ")


def _parts(text: str) -> dict[str, str]:
    """The parts of a docstring, by name; a docstring without them is one part without a name."""
    pieces = _PART.split(text)
    found = {"": pieces[0].strip()} if pieces[0].strip() else {}
    return found | {name: body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def _escaped(text: str) -> str:
    """Plain text as Markdown: what is not code shows angle brackets as they are, and links pages of documentation."""
    return "\n".join(line if line.startswith("    ") else _escaped_line(line) for line in text.split("\n"))


def _escaped_line(line: str) -> str:
    pieces = _CODE_SPAN.split(line)
    pieces[::2] = [_DOCUMENT.sub(r"[docs/\1](../\1)", piece.replace("<", "&lt;")) for piece in pieces[::2]]
    return "".join(pieces)


def _file(code: str) -> str:
    return "/".join((*_FOLDER, f"{code}.md"))


def _address_of(link: re.Match[str]) -> str:
    return _address(f"docs/{link[2]}", __version__)


def _address(file: str, version: str) -> str:
    branch = f"v{version}" if _RELEASE.fullmatch(version) else "main"
    return f"{PROJECT}/blob/{branch}/{file}"
