"""Findings do not depend on the order of sets, which Python draws anew for each process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree


def test_findings_are_equal_for_each_hash_seed(rendered: Path, tmp_path: Path) -> None:
    """One finding stands for all equal ones of a switch, at the first of their places."""
    bundle = copytree(rendered, tmp_path / "bundle")
    file = sorted((bundle / "sonic").glob("*/config_db.json"))[0]
    tables = json.loads(file.read_text())
    for row in tables["PORT"].values():
        row["mtu"] = "9000"
    for table in ("BREAKOUT_CFG", "DEVICE_NEIGHBOR", "PORT"):
        tables[table] |= {f"Ethernet{number}": {} for number in range(1001, 1009)}
    file.write_text(json.dumps(tables))
    outputs = []
    for seed in ("1", "2", "3"):
        command = [sys.executable, "-m", "fabricgen", "validate", str(bundle), "--format", "json"]
        done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed}, check=False)
        assert done.returncode == 1
        outputs.append(done.stdout)
    codes = {one["code"] for one in json.loads(outputs[0])["findings"]}
    assert codes >= {"FG231", "FG593"}
    assert outputs[0] == outputs[1] == outputs[2]
