"""Ansible itself reads the project of a hostile bundle: no text of a switch file is a template."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.handoff.ansible import ansible_files
from fabricgen.handoff.folder import write_folder
from tests.components import script
from tests.handoff.small_bundle import cabled
from tests.hostile.payloads import CANARY, PAYLOAD, edit

TEMPLATE = "{{ lookup('pipe', 'touch pwned-file; echo ran') }}"
BOOK = [
    {
        "hosts": "all",
        "gather_facts": False,
        "connection": "local",
        "tasks": [
            {"debug": {"var": "hostvars[inventory_hostname]"}},
            {"debug": {"msg": "{{ fabricgen_links | default({}) }} {{ fabricgen_rack | default('') }}"}},
            {"debug": {"msg": "{{ (lookup('file', inventory_dir ~ '/' ~ fabricgen_config_file) | from_json).PORT }}"}},
            {"set_fact": {"kept": "{{ fabricgen_links | default({}) | dict2items }}"}},
            {"debug": {"msg": "{{ hostvars }}"}},
            {"debug": {"msg": "{{ kept }} {{ fabricgen_serial | default('') ~ fabricgen_unit | default('') }}"}},
        ],
    }
]


def test_no_value_is_a_template(tmp_path: Path) -> None:
    bundle = cabled(tmp_path / "bundle")
    wiring = json.loads((bundle / "fabric.json").read_text())
    for device in wiring["devices"]:
        device |= dict.fromkeys(("rack", "unit", "serial", "hwsku", "identity", "platform"), TEMPLATE)
    (bundle / "fabric.json").write_text(json.dumps(wiring))
    for file in bundle.glob("sonic/*/config_db.json"):
        edit(file, lambda tables: [row.update(alias=TEMPLATE + PAYLOAD) for row in tables["PORT"].values()] and tables)
    project = tmp_path / "project"
    write_folder(project, ansible_files(open_bundle([bundle])))
    (project / "show.yml").write_text(yaml.safe_dump(BOOK))
    environment = {**os.environ, "ANSIBLE_HOME": str(tmp_path / "home"), "ANSIBLE_NOCOLOR": "1"}
    shown = {}
    for command, *arguments in (
        ("ansible-inventory", "-i", "inventory.yml", "--list"),
        ("ansible-playbook", "-i", "inventory.yml", "show.yml", "-e", "ansible_python_interpreter=/usr/bin/env"),
    ):
        done = subprocess.run(
            [script(command), *arguments],
            cwd=project, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        shown[command] = done.stdout
    assert all("lookup('pipe'" in text and "echo ran" in text for text in shown.values())  # as text, not as its result
    assert not list(tmp_path.rglob(CANARY))
    shutil.rmtree(project)
