"""An explicit design from switches.csv and links.csv: the same fabric as from YAML, and every mistake at its row."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location
from fabricgen.inventory.load import load_inventory
from tests.conftest import Cli
from tests.inventories import Tree, explicit, write


def table(*rows: dict[str, object]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_tables(folder: Path, tree: Tree, **same: object) -> Path:
    """The same inventory with its switches and links in tables; `same` is in each row, too."""
    plane = tree["planes"]["compute"]
    switches: list[dict[str, object]] = [
        {**same, "role": role, **switch}
        for role, key in (("leaf", "leaves"), ("spine", "spines"))
        for switch in plane.pop(key)
    ]
    links = []
    for link in plane.pop("links"):
        given = link if isinstance(link, dict) else {"ends": link}
        (a, a_port), (b, b_port) = (end.rsplit(":", 1) for end in given["ends"])
        rest = {**given.get("cable", {}), **({"speed": given["speed"]} if "speed" in given else {})}
        links.append({**same, "a": a, "a_port": a_port, "b": b, "b_port": b_port, **rest})
    write(folder, tree)
    (folder / "switches.csv").write_text(table(*switches))
    (folder / "links.csv").write_text(table(*links))
    return folder


def fabric() -> Tree:
    tree = explicit()
    plane = tree["planes"]["compute"]
    plane["leaves"][0].update(su=0, pod=1)
    plane["spines"][1]["platform"] = "nvidia-sn5600"
    plane["links"][2] = {"ends": plane["links"][2], "cable": {"length": "40m", "medium": "smf"}, "speed": "400G"}
    return tree


def bundle(cli: Cli, inventory: Path, output: Path) -> dict[str, bytes]:
    result = cli("render", inventory, "--output", output)
    assert result.code == 0, result.out + result.err
    return {str(file.relative_to(output)): file.read_bytes() for file in output.rglob("*") if file.is_file()}


def test_yaml_and_tables_give_the_same_bundle(tmp_path: Path, cli: Cli) -> None:
    """But for the map of sources, which names the files, and the digests of both."""
    one = bundle(cli, write(tmp_path / "yaml", fabric()), tmp_path / "a")
    two = bundle(cli, as_tables(tmp_path / "csv", fabric()), tmp_path / "b")
    assert one.keys() == two.keys()
    assert {name for name in one if one[name] != two[name]} == {"manifest.json", "sources.json"}
    manifests = [json.loads(files["manifest.json"]) for files in (one, two)]
    for manifest in manifests:
        del manifest["inventory"]
        manifest["files"] = [row for row in manifest["files"] if row["path"] != "sources.json"]
    assert manifests[0] == manifests[1]
    locks = [(tmp_path / name / "allocations.lock.yaml").read_bytes() for name in ("yaml", "csv")]
    assert locks[0] == locks[1]


def test_rows_may_name_their_plane(tmp_path: Path) -> None:
    with_plane, findings = load_inventory(as_tables(tmp_path / "a", fabric(), plane="compute"))
    without, _ = load_inventory(as_tables(tmp_path / "b", fabric()))
    assert findings == []
    assert with_plane.planes["compute"] == without.planes["compute"]


def test_every_value_knows_its_row(tmp_path: Path) -> None:
    plane = load_inventory(as_tables(tmp_path, fabric()))[0].planes["compute"]
    assert plane.switches["spine"][0].at("name") == Location("switches.csv", 4, 1)
    assert plane.links[2].at("cable", "length") == plane.links[2].at("speed") == Location("links.csv", 4, 1)
    assert [leaf.su for leaf in plane.switches["leaf"]] == [0, None]


def test_yaml_and_tables_add_up(tmp_path: Path) -> None:
    tree = fabric()
    kept = {"links": tree["planes"]["compute"]["links"][:1], "leaves": [{"name": "leaf1", "layout": "128x400g"}]}
    folder = as_tables(tmp_path, tree)
    write(folder, {"fabricgen": 1, "planes": {"compute": {**kept, "links": []}}}, "more.yaml")
    inventory, findings = load_inventory(folder)
    assert findings == []
    leaves = inventory.planes["compute"].switches["leaf"]
    assert [(leaf.name, leaf.layout, leaf.rail) for leaf in leaves] == [("leaf1", "128x400g", 0), ("leaf2", None, 1)]


def messages(folder: Path, tree: Tree, **tables: str) -> list[tuple[str, str, str]]:
    write(folder, tree)
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    found: list[Finding] = load_inventory(folder)[1]
    return [(finding.code, finding.message, str(finding.location)) for finding in found]


def test_a_table_of_a_spreadsheet(tmp_path: Path) -> None:
    """With a byte order mark, blanks around the cells and carriage returns."""
    text = "\ufeffrole, name ,rail\r\nspine , spine3 ,\r\n\r\nleaf,leaf3, 2\r\n"
    assert messages(tmp_path, explicit(), switches=text) == []
    plane = load_inventory(tmp_path)[0].planes["compute"]
    assert plane.switches["spine"][-1].name == "spine3"
    assert (plane.switches["leaf"][-1].name, plane.switches["leaf"][-1].rail) == ("leaf3", 2)
    assert plane.switches["leaf"][-1].at("name") == Location("switches.csv", 4, 1)


def test_a_row_names_its_plane_if_there_are_two(tmp_path: Path) -> None:
    tree = explicit()
    tree["planes"]["storage"] = {**tree["planes"]["compute"], "leaves": [], "links": []}
    hint = "the row has no plane"
    found = messages(tmp_path, tree, switches="plane,role,name\n,leaf,x\ncompute,leaf,y\nbackup,leaf,z\n")
    assert found == [
        ("FG106", hint, "switches.csv:2:1"),
        ("FG107", "the plane 'backup' is not defined", "switches.csv:4:1"),
    ]


def test_what_is_no_table(tmp_path: Path) -> None:
    write(tmp_path, explicit())
    (tmp_path / "links.csv").write_text("a,a_port,b,b_port\n" + "x" * 200_000 + "\n")
    with pytest.raises(UnreadableInputError, match=r"links\.csv:2:1.*not CSV: field larger"):
        load_inventory(tmp_path)
    (tmp_path / "links.csv").write_bytes(b"a,a_port\n\xff\n")
    with pytest.raises(UnreadableInputError, match="not UTF-8 text"):
        load_inventory(tmp_path)


def test_an_empty_table_says_nothing(tmp_path: Path) -> None:
    assert messages(tmp_path, explicit(), switches="", links="a,a_port,b,b_port\n") == []


def test_mistakes_in_the_header(tmp_path: Path) -> None:
    assert messages(tmp_path, explicit(), links="a,a,a_port,b,b_port,color\n") == [
        ("FG101", "unknown column 'color'", "links.csv:1"),
        ("FG102", "the column 'a' is given twice", "links.csv:1"),
    ]


def test_a_switch_that_stands_twice_in_a_table(tmp_path: Path) -> None:
    found = messages(tmp_path, explicit(), switches="role,name\nleaf,leaf9\nspine,leaf9\n")
    assert found == [("FG102", "the name 'leaf9' is given twice", "switches.csv:3:1")]
