"""The suppressions of an inventory: comments `# fabricgen: ignore[FG512] reason`, and the list `suppressions`.

A comment belongs to the values that begin on its line. If it is alone on its line, it belongs to the next line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

import yaml

from fabricgen.findings import Finding, Location, Severity
from fabricgen.inventory.nodes import Node
from fabricgen.plain_yaml import Loader
from fabricgen.sonic.secrets import SECRET_TABLES
from fabricgen.suppressions import Suppression, is_day

_CODE = re.compile(r"FG\d{3}")
_MARK = re.compile(r"(?:^|\s)#\s*fabricgen\s*:\s*(ignore.*|\w+\s*\[.*)$")
_IGNORE = re.compile(r"ignore\s*\[\s*([^\]]*?)(?:\s+until\s+([0-9-]+))?\s*\]\s*(.*)")
_FORM = "write `# fabricgen: ignore[FG512] reason`, or `ignore[FG512,FG513 until 2027-01-31] reason`"


def read_suppressions(root: Node, texts: Mapping[str, str], findings: list[Finding]) -> tuple[Suppression, ...]:
    """The inline suppressions, sorted, then those of the list. Invalid ones are added to `findings`.

    `root` is the merged tree before invalid parts are removed, `texts` is file name -> YAML text.
    """
    inline = [one for file, text in texts.items() for one in _inline(root, file, text, findings)]
    inline.sort(key=lambda one: (one.place, one.code, one.reason, one.expires))
    return (*dict.fromkeys(inline), *_listed(root, findings))


def _listed(root: Node, findings: list[Finding]) -> Iterator[Suppression]:
    node = root.mapping.get("suppressions", Node([], root.location))
    for index, item in enumerate(node.items):
        given = {key: _plain(child.value) for key, child in item.mapping.items()}
        code, reason, expires = (given.get(key, "") for key in ("code", "reason", "expires"))
        if not _CODE.fullmatch(code) or not reason:
            continue  # the schema check reports it
        path = f"suppressions[{index}]"
        if expires and not is_day(expires):
            place, hint = item.mapping["expires"].location, "write it as 2027-01-31"
            findings.append(_refusal(place, f"{path}.expires", f"{expires} is not a day", hint))
            continue
        device, where = given.get("device", "*"), given.get("path", "*")
        yield Suppression(code, reason, f"{item.location.file}#{path}", False, device, where, expires)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value).strip()


def _inline(root: Node, file: str, text: str, findings: list[Finding]) -> Iterator[Suppression]:
    if "fabricgen" not in text or "#" not in text:
        return
    lines = text.splitlines()
    paths: dict[int, list[str]] | None = None
    for number, column, comment in _comments(text, lines):
        mark = _MARK.search(comment)
        if not mark:
            continue
        paths = _paths_by_line(root, file) if paths is None else paths
        place = Location(file, number, column + comment.index("#", mark.start()) + 1)
        target = number if lines[number - 1][:column].strip() else _next_line(lines, number)
        problem = _problem(mark[1], target in paths)
        if problem:
            findings.append(_refusal(place, (paths.get(target) or [""])[0], problem, _FORM))
            continue
        codes, until, reason = _read(mark[1])
        for path in paths[target]:
            for code in codes:
                yield Suppression(code, reason, f"{file}#{path}", inline=True, expires=until)


def _read(text: str) -> tuple[list[str], str, str]:
    match = _IGNORE.fullmatch(text.strip())
    if not match:
        return [], "", ""
    return [code.upper() for code in re.split(r"[\s,]+", match[1].strip(" ,")) if code], match[2] or "", match[3]


def _problem(text: str, has_value: bool) -> str:
    codes, until, reason = _read(text)
    if not codes:
        return "the comment for fabricgen cannot be read"
    invalid = next((code for code in codes if not _CODE.fullmatch(code)), None)
    if invalid:
        return f"{invalid!r} is not the code of a finding"
    if not reason:
        return "a suppression needs a reason"
    if until and not is_day(until):
        return f"{until} is not a day"
    return "" if has_value else "no value begins on this line or the next"


def _refusal(place: Location, path: str, message: str, hint: str) -> Finding:
    return Finding("FG128", Severity.ERROR, message, path=path, location=place, hint=hint)


def _comments(text: str, lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """(line from 1, column from 0, text from #) of every comment: a # that is outside all scalars."""
    taken: dict[int, list[tuple[int, float]]] = {}  # line -> [first, end) of its scalars
    for token in yaml.scan(text, Loader=Loader):
        if isinstance(token, yaml.ScalarToken):
            start, end = token.start_mark, token.end_mark
            # a block scalar begins below its indicator
            first = start.line + 1 if token.style in ("|", ">") else start.line
            for line in range(first, end.line + 1):
                begin = start.column if line == start.line else 0
                taken.setdefault(line, []).append((begin, end.column if line == end.line else float("inf")))
    for number, content in enumerate(lines):
        for match in re.finditer(r"(?:^|(?<=\s))#", content):
            if not any(begin <= match.start() < end for begin, end in taken.get(number, ())):
                yield number + 1, match.start(), content[match.start() :]
                break


def _next_line(lines: list[str], number: int) -> int:
    """The first line after `number` with content other than a comment."""
    content = (index for index, line in enumerate(lines[number:], number + 1) if not _is_empty(line))
    return next(content, number)


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _paths_by_line(root: Node, file: str) -> dict[int, list[str]]:
    """Line -> dotted paths of the outermost values of a file that begin on it, or whose keys do."""
    found: dict[int, list[str]] = {}

    def walk(node: Node, path: str, taken: frozenset[int]) -> None:
        for step, place, child in _members(node, path):
            own = taken
            if place.file == file and place.line not in taken:
                found.setdefault(place.line, []).append(step)
                own = taken | {place.line}
            walk(child, step, own)

    walk(root, "", frozenset())
    return found


def _members(node: Node, path: str) -> Iterable[tuple[str, Location, Node]]:
    hidden = path.rpartition(".")[2] in SECRET_TABLES  # row keys are secrets, so the path ends at the table
    for key, child in node.mapping.items():
        step = path if hidden else f"{path}.{key}" if path else key
        yield step, node.keys.get(key, child.location), child
    for index, child in enumerate(node.items):
        yield f"{path}[{index}]", child.location, child
