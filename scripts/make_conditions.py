"""Write fabricgen/sonic/schema/conditions.json: the `must` and `when` conditions of SONiC's YANG models, and defaults.

    git clone https://github.com/sonic-net/sonic-buildimage
    python -m scripts.make_conditions sonic-buildimage

Needs libyang (`pip install -e .[yang]`). The newest commit is that of schemas/config_db.json; those of the releases are
in scripts/make_release_models.py. `releases` has each condition that not all of them have.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabricgen.sonic.yang import Models, load_models
from scripts.make_release_models import COMMITS
from scripts.sonic_clone import make_models

ROOT = Path(__file__).parents[1]
SCHEMA, OUTPUT = ROOT / "schemas/config_db.json", ROOT / "fabricgen/sonic/schema/conditions.json"
_PREFIX = re.compile(r"\b[a-z][\w-]*:(?=[A-Za-z_])")
_RE_MATCH = re.compile(r"re-match\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?),\s*'([^']*)'\s*\)(?=\s*(?:\)|or|and|$))")


def main(clone: str) -> int:
    """Read the models of each release, and write the file."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    having: dict[tuple[str, str, str, str], list[int]] = {}
    for release, commit in COMMITS.items():
        with tempfile.TemporaryDirectory() as folder:
            models = load_models(make_models(Path(clone), commit, Path(folder)))
            for place, node in _nodes(models):
                table, kind, field = place
                known = found.setdefault(table, {}).setdefault(kind, {}).setdefault(field, {})
                for what in ("must", "when"):
                    if texts := node.pop(what, []):
                        known[what] = list(dict.fromkeys([*known.get(what, ()), *texts]))
                    for text in texts:
                        having.setdefault((*place, text), []).append(release)
                known.pop("default", None)
                known.update(node)
    for (table, kind, field, text), releases in having.items():
        if len(releases) < len(COMMITS):
            found[table][kind][field].setdefault("releases", {})[text] = releases
    content = {"source": json.loads(SCHEMA.read_text())["source"], "tables": dict(sorted(found.items()))}
    OUTPUT.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return 0


def _nodes(models: Models) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    """(table, kind of row, field), empty for the table or the row, with its conditions and its default."""
    for table in models.tables.values():
        nodes = {("", ""): table.node}
        for kind in table.node.children():
            nodes[kind.name(), ""] = kind
            nodes |= {(kind.name(), leaf.name()): leaf for leaf in kind.children()}
        yield from (((table.name, *place), found) for place, node in nodes.items() if (found := _node(node)))


def _node(node: Any) -> dict[str, Any]:
    """The conditions of a compiled node as XPath without prefixes of modules, and its default.

    Refinements of groupings are included, and a condition of a case is one of its field. `mandatory` is a field that a
    row must have where `when` holds.
    """
    from _libyang import ffi, lib  # type: ignore[import-not-found, unused-ignore]
    from libyang.util import c2str, ly_array_iter

    def texts(conditions: Any) -> list[str]:
        return [_plain(c2str(lib.lyxp_get_expr(one.cond))) for one in ly_array_iter(conditions)]

    found: dict[str, Any] = {
        "must": texts(lib.lysc_node_musts(node.cdata)),
        "when": texts(lib.lysc_node_when(node.cdata)),
    }
    parent = node.cdata.parent
    while parent != ffi.NULL and parent.nodetype in (lib.LYS_CHOICE, lib.LYS_CASE):
        found["when"] += [_of_field(text) for text in texts(lib.lysc_node_when(parent))]
        parent = parent.parent
    found = {what: one for what, one in found.items() if one}
    if node.keyword() == "leaf" and node.default() is not None:
        value = node.default()
        found["default"] = str(value).lower() if isinstance(value, bool) else str(value)
    if "when" in found and node.keyword() == "leaf" and node.mandatory():
        found["mandatory"] = True
    return found


def _of_field(text: str) -> str:
    """A condition of a case, whose context is the row, for a field in the case."""
    return re.sub(r"current\(\)/", "current()/../", re.sub(r"(?<![\w/])IP_TYPE\b", "../IP_TYPE", text))


def _plain(text: str) -> str:
    """An expression on one line, with the functions of XPath alone: YANG's re-match is anchored."""
    text = " ".join(_PREFIX.sub("", text).split())
    return _RE_MATCH.sub(lambda found: f"matches({found[1]}, '^({found[2]})$')", text)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
