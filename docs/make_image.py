"""docs/image.md: which tables a rendered file has, and which rows the image adds by itself."""

import re
from pathlib import Path

from fabricgen.sonic.yang_tables import YANG_TABLES

ROOT = Path(__file__).parents[1]
PAGE, FACTS = Path(__file__).with_name("image.md"), Path(__file__).with_name("init_cfg.tsv")
_TABLE = re.compile(r'"([A-Z][A-Z0-9_]+)"')
_HEAD = """# What is in the file, what the image adds

`config reload` loads the image's `init_cfg.json` before `config_db.json`, so a switch has the rows of both; where
both have a row, the fields of the file win. A row of the image that no key changes is not in the file, except
counters that the verdicts need.

## In the file

Each table with the template that makes it ([templates](templates.md)). Tables of keys that the inventory does not
have are absent.

| table | template |
|---|---|
"""
_ADDED = """
## What the image adds

Rows of `init_cfg.json` on a leaf, by release, when all optional containers are built. A vendor's image may differ.
To change a row, use a key of [`management`](management.md), an [override](inventory.md#overrides), or a [base
file](inventory.md#target-and-ownership).

| row | value | releases |
|---|---|---|
"""
_REST = """
## From other places

- **CoPP**: `coppmgrd` reads `/etc/sonic/copp_cfg.json` of the image; rows of COPP_TRAP and COPP_GROUP in the file
  change single traps (FG300 judges traps that a fabric needs).
- **LLDP**: the container `lldp` announces each port with its alias; no table is needed. DEVICE_NEIGHBOR in the file
  is the plan.
- **ZTP**: an image with ZTP starts zero touch provisioning if the switch has no `config_db.json`
  ([provisioning](handoff.md#zero-touch-provisioning)). The first configuration ends it.
- **MAC address and serial**: the switch fills `mac` into DEVICE_METADATA by its EEPROM unless the file has it.
"""


def page() -> str:
    """The page."""
    made: dict[str, list[str]] = {}
    for template in sorted((ROOT / "templates" / "sonic").glob("*.j2")):
        for table in sorted(set(_TABLE.findall(template.read_text(encoding="utf-8"))) & set(YANG_TABLES)):
            made.setdefault(table, []).append(f"`{template.name}`")
    rows = [f"| {table} | {', '.join(names)} |\n" for table, names in sorted(made.items())]
    lines = [line.split("\t") for line in FACTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    every = sorted({release for *_, releases in lines for release in releases.split()})
    added = [
        f"| {path.replace('|', ' ')} | {text or '(empty)'} | "
        f"{'all' if releases.split() == every else ', '.join(releases.split())} |\n"
        for path, text, releases in lines
    ]
    return "".join([_HEAD, *rows, _ADDED, *added, _REST])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
