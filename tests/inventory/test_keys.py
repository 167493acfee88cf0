"""Each key is declared once: the published schema, the reader and the page agree with the declaration."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from fabricgen.inventory.load import build_inventory
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part, declared
from fabricgen.inventory.read_yaml import read_yaml
from fabricgen.inventory.schema import inventory_schema

PUBLISHED = Path(__file__).parents[2] / "schemas" / "inventory.schema.json"


def test_the_published_schema_is_that_of_the_declarations(update: bool) -> None:
    text = json.dumps(inventory_schema(), indent=2) + "\n"
    if update:
        PUBLISHED.write_text(text, encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == text, "refresh the schema with `make golden`"
    Draft202012Validator.check_schema(inventory_schema())


def test_an_inventory_without_keys_has_every_default() -> None:
    """The reader of each key works without it: as the default of its field, or empty."""
    found: list[str] = []
    inventory = build_inventory(read_yaml("planes: {p: {design: x}}\n", "f.yaml")[0], [])
    plane = inventory.planes["p"]
    parts: list[Part] = [inventory, plane, inventory.sonic, plane.lossless, plane.infiniband, plane.balance]
    for part in parts:
        names = [one.field for one in declared(type(part))]
        assert names and all(hasattr(part, name) for name in names)
        found += names
    assert inventory.fabric == "unnamed" and plane.mtu_bytes == 9100 and plane.lossless.cnp_dscp == 48
    assert len(found) > 60 and {one.name for one in declared(Inventory)} == set(inventory_schema()["properties"])


def test_a_default_in_the_schema_is_the_one_that_is_read() -> None:
    """Every plain default of the tree without references conforms to the schema of its key."""
    schema = inventory_schema()
    found = 0
    for one in (schema, *schema["$defs"].values()):
        for key in one.get("properties", {}).values():
            if "default" in key:
                Draft202012Validator({**key, "$defs": schema["$defs"]}).validate(key["default"])
                found += 1
    assert found > 10
