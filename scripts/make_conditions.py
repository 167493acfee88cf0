"""Write fabricgen/sonic/schema/conditions.json: the `must` and `when` conditions of SONiC's YANG models, and defaults.

    git clone https://github.com/sonic-net/sonic-buildimage
    python scripts/make_conditions.py sonic-buildimage

Needs libyang (`pip install -e .[yang]`). The commit is that of schemas/config_db.json.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from fabricgen.sonic.yang import Models, load_models

ROOT = Path(__file__).parents[1]
SCHEMA, OUTPUT = ROOT / "schemas/config_db.json", ROOT / "fabricgen/sonic/schema/conditions.json"
FOLDER = "src/sonic-yang-models"
# libyang does not show conditions of cases: sonic-acl.yang, case l2_src_dst_address. The other cases of the models are
# in schemas/config_db.json.
_OF_L2 = "/sonic-acl/ACL_TABLE/ACL_TABLE_LIST[ACL_TABLE_NAME=current()/../ACL_TABLE_NAME]/type = 'L2'"
_OF_CASES = {("ACL_RULE", "SRC_MAC"): {"when": [_OF_L2]}, ("ACL_RULE", "DST_MAC"): {"when": [_OF_L2]}}
_PREFIX = re.compile(r"\b[a-z][\w-]*:(?=[A-Za-z_])")
_RE_MATCH = re.compile(r"re-match\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?),\s*'([^']*)'\s*\)(?=\s*(?:\)|or|and|$))")


def main(clone: str) -> int:
    """Read the models of the commit of the schema, and write the file."""
    source = json.loads(SCHEMA.read_text())["source"]
    commit = source.partition("@")[2].partition(":")[0]
    with tempfile.TemporaryDirectory() as folder:
        for path in _git(clone, "ls-tree", "-r", "--name-only", commit, FOLDER).decode().split():
            text = _git(clone, "show", f"{commit}:{path}").decode() if path.endswith((".yang", ".j2")) else ""
            if path.endswith(".j2"):
                text = jinja2.Environment(trim_blocks=True).from_string(text).render(yang_model_type="py")
            if text:
                (Path(folder) / Path(path).name.removesuffix(".j2")).write_text(text)
        tables = dict(sorted(_tables(load_models(Path(folder)))))
    OUTPUT.write_text(json.dumps({"source": source, "tables": tables}, indent=1, ensure_ascii=False) + "\n")
    return 0


def _git(clone: str, *command: str) -> bytes:
    return subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True).stdout


def _tables(models: Models) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each table: kind of row ("" for the table) -> field ("" for the row) -> its conditions and its default.

    `mandatory` is a field that a row must have where `when` holds.
    """
    for table in models.tables.values():
        kinds: dict[str, Any] = {}
        for kind in table.node.children():
            found = {"": _node(kind)} | {leaf.name(): _node(leaf) for leaf in kind.children()}
            found |= {name: node for (of, name), node in _OF_CASES.items() if of == table.name}
            if kept := {name: node for name, node in found.items() if node}:
                kinds[kind.name()] = kept
        if of_table := _node(table.node):
            kinds[""] = {"": of_table}
        if kinds:
            yield table.name, kinds


def _node(node: Any) -> dict[str, Any]:
    """The conditions of a node as XPath without prefixes of modules, and its default."""
    found: dict[str, Any] = {}
    for key, conditions in (("must", node.must_conditions()), ("when", node.when_conditions())):
        if texts := [_plain(text) for text in conditions]:
            found[key] = texts
    if node.keyword() == "leaf" and node.default() is not None:
        value = node.default()
        found["default"] = str(value).lower() if isinstance(value, bool) else str(value)
    if "when" in found and node.keyword() == "leaf" and node.mandatory():
        found["mandatory"] = True
    return found


def _plain(text: str) -> str:
    """An expression on one line, with the functions of XPath alone: YANG's re-match is anchored."""
    text = " ".join(_PREFIX.sub("", text).split())
    return _RE_MATCH.sub(lambda found: f"matches({found[1]}, '^({found[2]})$')", text)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
