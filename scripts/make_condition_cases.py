"""Write tests/sonic/conditions.jsonl: random rows of the tables with conditions, and whether libyang accepts them.

    python scripts/make_condition_cases.py FOLDER

FOLDER has the YANG models of the commit of schemas/config_db.json, the templates rendered for py. A line is a file, and
the place at which libyang refuses it, or null.
"""

import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabricgen.sonic.yang import check, load_models

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "tests/sonic/conditions.jsonl"
TRIED, KEPT = 120, 5  # files of a table, and of each verdict
BASE: Mapping[str, Any] = {
    "DEVICE_METADATA": {"localhost": {"bgp_asn": "10", "hostname": "a"}},
    "PORT": {"Ethernet0": {"lanes": "1", "speed": "100000"}, "Ethernet4": {"lanes": "2", "speed": "100000"}},
    "VLAN": {"Vlan100": {"vlanid": "100"}},
    "PORTCHANNEL": {"PortChannel1": {"admin_status": "up", "min_links": "1"}},
    "LOOPBACK_INTERFACE": {"Loopback0": {}},
    "VRF": {"Vrf1": {}},
    "BUFFER_POOL": {"p": {"mode": "static", "type": "ingress", "size": "100"}},
    "ACL_TABLE": {"A": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0"], "policy_desc": "x"}},
    "VXLAN_TUNNEL": {"v": {"src_ip": "10.0.0.9"}},
    "INTERFACE": {"Ethernet0": {}},
}
PLAIN = {
    "string": ("abc", "10.0.0.1", "fc00::1"),
    "boolean": ("true", "false"),
    "uint8": ("0", "1", "3", "46"),
    "uint16": ("0", "1", "3", "10", "40"),
    "uint32": ("0", "1", "10", "100"),
    "uint64": ("0", "1", "5", "100"),
    "ip-address": ("10.0.0.1", "fc00::1"),
    "ip-prefix": ("10.0.0.0/24", "fc00::/64"),
    "ipv4-address": ("10.0.0.1",),
    "ipv6-address": ("fc00::1",),
    "ipv4-prefix": ("10.0.0.0/24",),
    "ipv6-prefix": ("fc00::/64",),
}
SCHEMA = json.loads((ROOT / "schemas/config_db.json").read_text())
CONDITIONS = json.loads((ROOT / "fabricgen/sonic/schema/conditions.json").read_text())["tables"]


def main(folder: str) -> int:
    """Write the cases of each table."""
    models = load_models(Path(folder))
    lines = []
    for table, kinds in sorted(CONDITIONS.items()):
        if any("must" in node or "when" in node for kind in kinds.values() for node in kind.values()):
            kept: dict[bool, int] = {True: 0, False: 0}
            for seed in range(TRIED):
                config = Rows(table, seed).config()
                found = check(models, config)
                of_condition = [one for one in found if not one.message.startswith("Invalid") and one.table == table]
                if found and len(of_condition) < len(found):
                    continue  # a wrong type or reference says nothing about conditions
                if kept[not found] < KEPT:
                    kept[not found] += 1
                    own = {name: rows for name, rows in config.items() if rows != BASE.get(name)}
                    place = [found[0].table, found[0].key, found[0].field] if found else None
                    lines.append(json.dumps([own, place]))
            print(f"{table}: {kept[True]} accepted, {kept[False]} refused")
    OUTPUT.write_text("\n".join(lines) + "\n")
    return 0


class Rows:
    """Random rows of a table, with texts of the types of its fields."""

    def __init__(self, table: str, seed: int) -> None:
        self._table, self._draw = table, random.Random(f"{table} {seed}")

    def config(self) -> dict[str, Any]:
        """A file: the rows, and what they may refer to."""
        draw, entry = self._draw, SCHEMA["tables"][self._table]
        config: dict[str, Any] = json.loads(json.dumps(BASE))
        kinds = [(kind, "") for kind in entry.get("lists", ())]
        kinds += [(kind, name) for name, kind in entry.get("rows", {}).items()]
        rows = config[self._table] if self._table in config and draw.random() < 0.5 else {}
        for _ in range(draw.choice((1, 1, 2))):
            kind, name = draw.choice(kinds)
            share = draw.choice((0.2, 0.5, 0.9))
            key = name or "|".join(self._first(kind["fields"][part]) for part in kind["keys"])
            rows[key] = dict(self._fields(kind, share))
        config[self._table] = rows
        if draw.random() < 0.3:
            config["MGMT_VRF_CONFIG"] = {"vrf_global": {"mgmtVrfEnabled": "true"}}
        if draw.random() < 0.1:
            config["DEVICE_METADATA"].setdefault("localhost", {})["switch_type"] = draw.choice(("voq", "dpu"))
        return config

    def _fields(self, kind: Mapping[str, Any], share: float) -> Iterator[tuple[str, Any]]:
        for name, spec in kind["fields"].items():
            if name not in kind.get("keys", ()) and (name in kind.get("required", ()) or self._draw.random() < share):
                value = self._value(spec)
                if value not in (None, []):
                    yield name, value

    def _first(self, spec: Any) -> str:
        found = self._value(spec)
        return found if isinstance(found, str) else "n1"

    def _value(self, spec: Any, depth: int = 0) -> Any:
        draw = self._draw
        if isinstance(spec, str):
            if spec in PLAIN:
                return draw.choice(PLAIN[spec])
            return self._value(SCHEMA["types"].get(spec, "string"), depth + 1) if depth < 5 else None
        if "list" in spec:
            items = [self._value(spec["list"]) for _ in range(draw.choice((1, 1, 2, 3)))]
            items = [one for one in dict.fromkeys(items) if one is not None]
            return spec["split"].join(items) if spec.get("split") else items
        if "union" in spec:
            return self._value(draw.choice(spec["union"]), depth + 1)
        if "ref" in spec:
            table, kind, leaf = spec["ref"].split("/")[:3]
            lists = {one["name"]: one["keys"] for one in SCHEMA["tables"].get(table, {}).get("lists", ())}
            keys = [key.split("|") for key in BASE.get(table, ()) if key.count("|") + 1 == len(lists.get(kind, ()))]
            return draw.choice(keys)[lists[kind].index(leaf)] if keys and leaf in lists[kind] else None
        if "int" in spec:
            low, high = spec["int"][0]
            return str(draw.choice((low, high, min(high, low + 1), min(high, low + 30))))
        if "match" in spec:
            words = spec["match"][0].strip("()").split("|")
            return (
                draw.choice(words) if all(word.replace("_", "").replace("-", "").isalnum() for word in words) else None
            )
        if "enum" in spec:
            return draw.choice(spec["enum"])
        return "x" * max(spec["length"][0][0], 4) if "length" in spec else None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
