"""A copy of a bundle in which every switch differs: in one field, or in one field of every port."""

import shutil
from pathlib import Path

import orjson

from fabricgen.sonic.dump import dump


def differing_copy(bundle: Path, copy: Path, *, every_port: bool = False) -> Path:
    """Write the copy: each switch has another description on one port, or another MTU on all ports."""
    shutil.copytree(bundle, copy)
    for file in (copy / "sonic").glob("*/config_db.json"):
        config = orjson.loads(file.read_bytes())
        rows = list(config["PORT"].values())
        for row in rows if every_port else rows[:1]:
            row.update({"mtu": "9000"} if every_port else {"description": f"changed on {file.parent.name}"})
        file.write_bytes(dump(config))
    return copy
