"""Texts avoid the phrases that docs/style.md replaces: messages, help, comments, names and pages."""

import re
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.docs.pages import ROOT


class Phrase(NamedTuple):
    """A forbidden phrase: its pattern ("~" matches blanks and the end of a line), what to write, and an example."""

    pattern: str
    instead: str
    example: str


# docs/style.md explains the choice to people. A new phrase gets a row here.
PHRASES = [
    Phrase(r"(?<![Tt]here\s)(?:is|are|was|were)~no(?!~longer|~\w+er\b)", "negate the verb: is not a", "5 is no port"),
    Phrase(r"(?:is|are|was|were)~none", "is not, does not exist", "which is none of the plane's"),
    Phrase(r"nobody|whoever|whomever", "no device, nothing, every device that", "a list that nobody reads"),
    Phrase(
        r"(?<!\.)(?<!cannot )(?:tells?|telling|told|untold)",
        "reports, shows, describes, contains",
        "the file tells its name",
    ),
    Phrase(r"(?<!<)(?<!</)circles?", "cycle", "failures that close a circle"),
    Phrase(r"held~against|holds?~(?:\w+~){0,3}against", "compares with, checks against", "a list is held against it"),
    Phrase(
        r"(?:stands?|stood|standing)~(?:in|at|on|there|here|across|beside|behind|alone|twice|for~itself)",
        "is, is written in",
        "a row that stands in PORT",
    ),
    Phrase(r"as~(?:it|they)~stands?", "as written, unchanged", "the files as they stand"),
    Phrase(r"(?:is|are)~to~be|to~be~(?:had|found)", "must be, can be, is", "what is to be done"),
    Phrase(r"as~(?:[\w']+~){1,4}(?:has|have)~it", "as in", "as the siblings have it"),
    Phrase(r"that~there~(?:is|are)", "existing", "the keys that there are"),
    Phrase(r"(?:has|have)~not(?=[.,;:)]|$)", "does not have, is missing", "a rate that the port has not."),
    Phrase(r"of~(?:its|their|your|our|his)~own", "its own, separate, additional", "a leaf of its own"),
    Phrase(r"but~for", "except", "all files but for the lock file"),
    Phrase(r"nothing~but", "only", "reads nothing but files"),
    Phrase(r"not~below|no~more~than", "at least, at most", "not below 5"),
    Phrase(r"asked~for|(?:is|are|was|were)~asked", "requested, expected, queried", "the engine asked for"),
    Phrase(r"besides", "in addition, beside", "besides, it is judged by itself"),
    Phrase(
        r"(?:is|are)~(?:un)?alike|(?:is|are)~unlike|another~than", "are equal, differs from", "ports that are alike"
    ),
    Phrase(r"such~a~one|the~very|be~it|will~do", "leave it out, or: is valid", "any prefix will do"),
    Phrase(r"with(?:out)?~a~word", "silently, with a message", "dropped without a word"),
    Phrase(r"comes?~to~be|came~to~be|becomes?~of|came~of", "is made, results in", "how links come to be"),
    Phrase(
        r"parts~hosts|out~of~reach|by~the~side~of", "disconnects; cannot be reached; beside", "a set that parts hosts"
    ),
    Phrase(r"unheard", "unknown", "an unheard switch"),
]
CORRECT = [
    "there is no route",
    "There are no cables",
    "a switch that is no longer in the inventory",
    "the value is no larger than 5",
    "file.tell()",
    "cannot tell a cable from a NIC",  # the verdict of `accept` that names no cause
    '<circle cx="1"/>',
    "a link that stands for 5376 pairs",
    "it has not been tested",
]
_GAP = r"\s+(?:[#*|]\s+)?"  # a phrase may go on on the next line, of a comment as well
# A phrase begins with a small letter at the start of a word: few positions of a text need the alternatives.
_FORBIDDEN = re.compile(
    r"(?<![A-Za-z])(?=[a-z])(?:"
    + "|".join(f"(?P<p{n}>{one.pattern.replace('~', _GAP)})" for n, one in enumerate(PHRASES))
    + r")(?![A-Za-z])"
)
_SUFFIXES = {".md", ".py", ".yaml", ".yml", ".toml", ".j2", ".sh", ".txt", ""}
_RENDERED = re.compile(r"templates/(?:sonic|infiniband|hosts)/")  # only comments of these do not change rendered bytes
_EXEMPT = re.compile(
    r"docs/style\.md|tests/docs/test_style\.py|LICENSE|constraints\.txt|fabricgen/platforms/catalog/.*|docs/rules/.*|tests/.*/(?:golden|recorded|models|data)/.*"
)


# Reasons that a bundle contains (sources.json, opensm.conf) and values of SONiC: their bytes are a promise.
_QUOTES = {
    "fabricgen/control_plane/engines.py": ("circle",),
    "fabricgen/control_plane/managers.py": ("whoever",),
    "fabricgen/control_plane/mlnx_sm.py": ("told",),
    "fabricgen/control_plane/opensm_options.py": ("told", "tell", "nobody"),
    "fabricgen/render/build_contexts.py": ("tells",),
    "fabricgen/render/build_outside.py": ("of our own",),
    "tests/rules/ports/cases.py": ("is none",),  # fec is none
    "tests/rules/hosts/cases.py": ("is none",),  # NVSHMEM_REMOTE_TRANSPORT is none
    "tests/rules/qos/cases.py": ("are none", "is none"),  # lossless are none
}


def texts() -> Iterator[tuple[str, str]]:
    """(name, text) of every file that people write; of templates for switches and hosts only the comments."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in sorted(files):
        file = ROOT / name
        if not file.is_file() or file.suffix not in _SUFFIXES or _EXEMPT.fullmatch(name):
            continue
        text = file.read_text(encoding="utf-8")
        yield name, _comments(text) if _RENDERED.match(name) else text


def _comments(template: str) -> str:
    """The comments of a Jinja template, each on its line."""
    return re.sub(r"(?:\A|#\}).*?(?:\{#|\Z)", lambda code: "\n" * code[0].count("\n"), template, flags=re.DOTALL)


def forbidden(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, phrase, what to write instead) of each forbidden phrase."""
    for match in _FORBIDDEN.finditer(text):
        assert match.lastgroup
        instead = PHRASES[int(match.lastgroup.removeprefix("p"))].instead
        yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead


def test_no_text_has_a_forbidden_phrase() -> None:
    found = [
        f"{name}:{line}: {phrase!r}, write: {instead}"
        for name, text in texts()
        for line, phrase, instead in forbidden(text)
        if phrase not in _QUOTES.get(name, ())
    ]
    assert not found, "see docs/style.md\n" + "\n".join(found)


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.example.replace(" ", "-"))
def test_each_phrase_is_found(phrase: Phrase) -> None:
    """On one line, over the end of a line, and in a comment of several lines."""
    for gap in (" ", "\n", "\n    # "):
        assert [instead for _, _, instead in forbidden(phrase.example.replace(" ", gap))] == [phrase.instead]


@pytest.mark.parametrize("text", CORRECT)
def test_correct_text_is_not_refused(text: str) -> None:
    assert not list(forbidden(text))


def test_only_comments_of_templates_for_switches_are_text() -> None:
    assert _comments("{% raw %} is no port\n{# one\ntwo #} three\n{# four #}") == "\n one\ntwo \n four "
