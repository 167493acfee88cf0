"""Mutations of a file: of its tree where it has one, of its words and lines, and of its bytes."""

import copy
import json
import re
from random import Random
from typing import Any

import yaml

from benchmarks.fuzz.odd import TEXTS, VALUES, WORDS
from fabricgen.inventory.nodes import SecretReference

_WORD = re.compile(r"[A-Za-z0-9_.:/-]+|[^\sA-Za-z0-9]")


class _Loader(yaml.SafeLoader):
    pass


class _Dumper(yaml.SafeDumper):
    pass


_Loader.add_constructor("!secret", lambda _, node: SecretReference(str(node.value)))
_Dumper.add_representer(SecretReference, lambda dumper, text: dumper.represent_scalar("!secret", str(text)))


def mutated(name: str, content: bytes, random: Random) -> bytes:
    """The content of a file after one to three mutations that fit its suffix."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        kind = random.random()
        try:
            if kind < 0.6 and name.endswith(".json"):
                content = json.dumps(_tree(json.loads(content), random), indent=random.choice((4, 4, None))).encode()
            elif kind < 0.6 and name.endswith((".yaml", ".yml")):
                tree = _tree(yaml.load(content, _Loader), random)
                content = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=random.random() < 0.5).encode()
            elif kind < 0.9:
                content = _words(content.decode(), random).encode("utf-8", "surrogatepass")
            else:
                content = _bytes(content, random)
        except (ValueError, yaml.YAMLError, RecursionError):  # a mutation before has broken the grammar
            content = _bytes(content, random)
    return content


def _tree(root: Any, random: Random) -> Any:
    """The tree with one node changed. Each level is equally likely, so that large tables do not hide the others."""
    whole = [root]
    outer: Any = whole
    key: Any = 0
    while isinstance(outer[key], dict | list) and outer[key] and random.random() < 0.8:
        outer = outer[key]
        key = random.choice(list(outer)) if isinstance(outer, dict) else random.randrange(len(outer))
    value = outer[key]
    match random.randrange(9):
        case 0:
            del outer[key]
        case 1 if isinstance(outer, dict):
            outer[_name(random)] = outer.pop(key)
        case 2:
            outer[key] = random.choice(([value], {"x": value}, [value, value], str(value), [], {}))
        case 3 if isinstance(value, str):
            at = random.randrange(len(value) + 1)
            outer[key] = value[:at] + random.choice(WORDS) + value[at + random.randrange(2) :]
        case 4 if isinstance(value, dict):
            value[_name(random)] = copy.deepcopy(random.choice([*value.values(), *VALUES]))
        case 5 if isinstance(value, list):
            value.insert(random.randrange(len(value) + 1), copy.deepcopy(random.choice([*value, *VALUES])))
        case 6 if isinstance(outer, dict):
            outer[key] = copy.deepcopy(random.choice(list(outer.values())))
        case 7 if isinstance(value, int) and not isinstance(value, bool):
            outer[key] = random.choice((value + 1, value - 1, -value, value * 1000, str(value), float(value)))
        case _:
            outer[key] = copy.deepcopy(random.choice(VALUES))
    return whole[0] if whole else None


def _name(random: Random) -> str:
    return random.choice([value for value in VALUES if isinstance(value, str)])


def _words(text: str, random: Random) -> str:
    """The text after a change of one word or line."""
    lines = text.split("\n")
    at = random.randrange(len(lines))
    match random.randrange(8):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[random.randrange(len(lines))])
        case 2:
            other = random.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = " " * random.randrange(5) + lines[at].lstrip()
        case 4:
            lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
        case _:
            words = list(_WORD.finditer(lines[at]))
            first, last = random.choice(words).span() if words else (0, 0)
            lines[at] = lines[at][:first] + random.choice(WORDS) + lines[at][random.choice((first, last)) :]
    return "\n".join(lines)


def _bytes(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    match random.randrange(9):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + random.randbytes(random.randrange(1, 5)) + content[at:]
        case 2:
            return content[:at] + content[at + random.randrange(1, 100) :]
        case 3:
            return content[:at] + random.randbytes(1) + content[at + 1 :]
        case 4:
            return b"\xef\xbb\xbf" + content
        case 5:
            return content.decode("utf-8", "replace").encode(
                random.choice(("utf-16", "utf-32", "latin-1", "utf-7")), "replace"
            )
        case 6:
            return content.replace(b"\n", random.choice((b"\r\n", b"\r", b"\x0b", b"")))
        case 7:
            return content[:at] + content[: random.randrange(2000)] + content[at:]
        case _:
            return random.choice(TEXTS)
