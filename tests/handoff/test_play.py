"""The project in the hands of ansible-playbook, against switches whose commands are stand-ins."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.handoff import write_folder
from fabricgen.handoff.ansible import ansible_files
from tests.handoff.small_bundle import DEVICES, SECRET, SECRET_NAME, config, write_bundle

COMMANDS = Path(__file__).parent / "switch_commands"
OLD_SECRET = "old-community"


def playbook_command() -> str:
    """ansible-playbook, of this Python's environment first."""
    beside = Path(sys.executable).with_name("ansible-playbook")
    found = str(beside) if beside.exists() else shutil.which("ansible-playbook")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("ansible-playbook is missing")
        pytest.skip("needs ansible-playbook: pip install ansible-core")
    return found


@dataclass
class Site:
    """A project folder, and beside it the state of each switch."""

    folder: Path

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def hand_off(self, **configs: dict[str, Any]) -> None:
        bundle = open_bundle([write_bundle(self.folder / "bundle", DEVICES[:2], **configs)])
        write_folder(self.project, ansible_files(bundle))

    def running(self, name: str) -> dict[str, Any]:
        return json.loads((self.folder / name / "running.json").read_text())

    def startup(self, name: str) -> dict[str, Any]:
        return json.loads((self.folder / name / "startup.json").read_text())

    def start(self, name: str, tables: dict[str, Any]) -> None:
        """A switch that runs, and boots with, these tables; its Python finds the stand-ins first."""
        state = self.folder / name
        state.mkdir()
        for file in ("running.json", "startup.json"):
            (state / file).write_text(json.dumps(tables))
        python = state / "python"
        python.write_text(
            f'#!/bin/sh\nFAKE_SWITCH="{state}" PATH="{COMMANDS}:{Path(sys.executable).parent}:$PATH"\n'
            f'export FAKE_SWITCH PATH\nexec "{sys.executable}" "$@"\n'
        )
        python.chmod(0o755)

    def log(self, name: str) -> list[str]:
        """The `config` commands that the switch was given since last asked."""
        file = self.folder / name / "log"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def play(self, *options: str, secrets: dict[str, str] | None = None, code: int = 0) -> str:
        """The output of a run that has to end with `code`. What it says never holds a secret."""
        state = str(self.folder / "{{ inventory_hostname }}")
        extra = {
            "ansible_connection": "local",
            "ansible_become": False,
            "ansible_python_interpreter": f"{state}/python",
            "sonic_config_startup_file": f"{state}/startup.json",
            "sonic_config_work_folder": f"{state}/work",
            "sonic_config_verify_delay_s": 0,
            "fabricgen_secrets": {SECRET_NAME: SECRET, "other": "x"} if secrets is None else secrets,
        }
        (self.folder / "extra.json").write_text(json.dumps(extra))
        play = [
            playbook_command(),
            "-i",
            str(self.project / "inventory.yml"),
            str(self.project / "playbooks/apply.yml"),
        ]
        done = subprocess.run(
            [*play, "-e", f"@{self.folder / 'extra.json'}", *options],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1", "HOME": str(self.folder)},
            timeout=120,
        )
        output = done.stdout + done.stderr
        assert done.returncode == code, output
        for secret in (SECRET, json.dumps(SECRET)[1:-1], OLD_SECRET):
            assert secret not in output
        return output


def filled(tables: dict[str, Any], secret: str = SECRET) -> dict[str, Any]:
    """Tables with the secret in its places."""
    text = json.dumps(tables).replace(f"${{secret:{SECRET_NAME}}}", json.dumps(secret)[1:-1])
    found: dict[str, Any] = json.loads(text)
    return found


def counts(output: str, name: str) -> dict[str, int]:
    """The recap's numbers of a host."""
    line = re.search(rf"^{name} +:(.*)$", output, re.MULTILINE)
    assert line, output
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line[1])}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Two switches that run what is handed off, but for leaf-r0's MTU, secrets, and what the image adds."""
    site = Site(tmp_path)
    site.hand_off()
    image = {"FEATURE": {"bgp": {"state": "enabled"}}, "VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}}
    old = filled(config("leaf-r0"), OLD_SECRET) | image
    old["PORT"]["Ethernet0"]["mtu"] = "1500"
    old["DEVICE_METADATA"]["localhost"]["mac"] = "00:11:22:33:44:55"
    site.start("leaf-r0", old)
    site.start("leaf-r1", filled(config("leaf-r1")) | image)
    return site


def test_a_change_in_place_from_check_to_the_second_run(site: Site) -> None:
    before = site.running("leaf-r0")
    output = site.play("--check", "--diff", "-vvv")
    assert re.search(r'-\s+"mtu": "1500"', output)
    assert re.search(r'\+\s+"mtu": "9100"', output)
    assert "by config replace" in output
    assert "${secret:snmp/read}" in output
    assert (counts(output, "leaf-r0")["changed"], counts(output, "leaf-r1")["changed"]) == (1, 0)
    assert site.running("leaf-r0") == before
    assert site.log("leaf-r0") == []

    output = site.play()
    after = site.running("leaf-r0")
    wanted = filled(config("leaf-r0"))
    assert {table: after[table] for table in wanted if table != "DEVICE_METADATA"} == {
        table: rows for table, rows in wanted.items() if table != "DEVICE_METADATA"
    }
    assert after["DEVICE_METADATA"]["localhost"]["mac"] == "00:11:22:33:44:55"
    assert after["FEATURE"] == before["FEATURE"]
    assert site.startup("leaf-r0") == after
    assert site.log("leaf-r0") == [
        "checkpoint fabricgen",
        "replace target.json",
        "save -y",
        "list-checkpoints",
        "delete-checkpoint fabricgen",
    ]
    assert site.log("leaf-r1") == []
    assert [file.stat().st_mode & 0o077 for file in (site.folder / "leaf-r0" / "work").iterdir()] == [0, 0]

    output = site.play()
    assert (counts(output, "leaf-r0")["changed"], counts(output, "leaf-r1")["changed"]) == (0, 0)
    assert site.log("leaf-r0") == []


def test_a_buffer_pool_is_reloaded_and_never_replaced(site: Site) -> None:
    tables = config("leaf-r0")
    tables["BUFFER_POOL"]["ingress_lossless_pool"]["size"] = "2000"
    del tables["TACPLUS"]
    site.hand_off(leaf_r0=tables)
    output = site.play("-e", "sonic_config_route=replace", code=2)
    assert "BUFFER_POOL: size" in output
    assert site.log("leaf-r0") == []

    site.play()
    assert site.running("leaf-r0")["BUFFER_POOL"] == tables["BUFFER_POOL"]
    assert "TACPLUS" in site.running("leaf-r0")  # it was never ours on this switch
    assert site.startup("leaf-r0") == site.running("leaf-r0")
    assert site.log("leaf-r0") == ["reload -y target.json", "save -y", "list-checkpoints"]


def test_a_table_that_is_no_longer_rendered_goes(site: Site) -> None:
    site.play()
    tables = config("leaf-r0")
    del tables["TACPLUS"]
    site.hand_off(leaf_r0=tables)
    site.play("--limit", "leaf-r0")
    assert "TACPLUS" not in site.running("leaf-r0")
    assert "FEATURE" in site.running("leaf-r0")


@pytest.mark.parametrize(
    ("route", "mishap", "message"),
    [
        ("replace", "replace", "`config replace"),
        ("reload", "reload", "`config reload"),
        ("replace", "lost write", "these tables still differ: SNMP_COMMUNITY, TACPLUS"),
    ],
)
def test_a_failing_switch_is_rolled_back_and_ends_the_run(site: Site, route: str, mishap: str, message: str) -> None:
    before, second = site.running("leaf-r0"), site.running("leaf-r1")
    second["PORT"]["Ethernet1"]["mtu"] = "1500"
    (site.folder / "leaf-r1" / "running.json").write_text(json.dumps(second))
    (site.folder / "leaf-r0" / "fail").write_text(mishap)
    output = site.play("-e", f"sonic_config_route={route}", code=2)
    assert "leaf-r0 was rolled back" in output
    assert message in output
    assert counts(output, "leaf-r0")["failed"] == 1
    assert site.running("leaf-r0") == site.startup("leaf-r0") == before
    assert site.running("leaf-r1") == second
    assert site.log("leaf-r1") == []
    assert "Apply plane compute rail 1" not in output


def test_nothing_is_touched_before_all_files_and_secrets_are_right(site: Site) -> None:
    output = site.play(secrets={"other": "x"}, code=2)
    assert "fabricgen_secrets has no value for snmp/read" in output
    file = site.project / "files/leaf-r1/config_db.json"
    file.write_bytes(file.read_bytes() + b"\n")  # of the last switch, and only white space
    assert "files/leaf-r1/config_db.json was changed after" in site.play(code=2)
    assert site.log("leaf-r0") == site.log("leaf-r1") == []


def test_a_change_that_was_never_saved_is_saved(site: Site) -> None:
    (site.folder / "leaf-r1" / "startup.json").unlink()
    output = site.play("--limit", "leaf-r1")
    assert site.startup("leaf-r1") == site.running("leaf-r1")
    assert counts(output, "leaf-r1")["changed"] == 1
