"""The page: one file with its style, its script and its content, which opens without a network.

The script is the modules of `assets` in the order of their imports. Its digest is in the policy of the page, so no
other script runs; the content is JSON in an element that browsers do not execute.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from fabricgen.visible import visible

_ASSETS = Path(__file__).with_name("assets")
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|let|(?:async )?function|class) (\w+))", re.MULTILINE)
_BLANK = re.compile(r"%%(\w+)%%")
_FIRST = "main"
# These could end the element of the content, begin a comment in it, or end a line of a script.
_UNSAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def html_page(content: Mapping[str, Any]) -> str:
    """The page of a report."""
    style, script = _text("style.css"), _script()
    blanks = {
        "STYLE": style,
        "SCRIPT": script,
        "STYLE_DIGEST": _digest(style),
        "SCRIPT_DIGEST": _digest(script),
        "CONTENT": content_json(content),
    }
    return _BLANK.sub(lambda found: blanks[found[1]], _text("page.html"))


def content_json(content: Mapping[str, Any]) -> str:
    """JSON without letters that have a meaning in HTML. Control characters of names become visible escapes."""
    return orjson.dumps(visible_names(content), option=orjson.OPT_NON_STR_KEYS).decode().translate(_UNSAFE)


def visible_names(value: Any) -> Any:
    """The content with escapes in place of control characters, in keys, too."""
    if isinstance(value, str):
        return value if value.isprintable() else visible(value)
    if isinstance(value, Mapping):
        return {visible_names(key): visible_names(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [visible_names(each) for each in value]
    return value


@cache
def _script() -> str:
    """The modules as one script: each is a function that returns its exports, after the modules that it imports."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        text = _text(f"{name}.js")
        for _, needed in _IMPORT.findall(text):
            if needed not in found:
                add(needed)
        body = _EXPORT.sub("", _IMPORT.sub(r"const \1 = modules.\2;", text))
        found[name] = f"modules.{name} = (() => {{\n{body}return {{ {', '.join(_EXPORT.findall(text))} }};\n}})();\n"

    add(_FIRST)
    return '"use strict";\nconst modules = {};\n' + "".join(found.values())


def _text(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
