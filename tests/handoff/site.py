"""A small fabric handed off, and stand-ins for its two leaves."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.cli.main import run
from fabricgen.handoff.ansible import SHARED_TABLES, ansible_files
from fabricgen.handoff.folder import write_folder
from fabricgen.resources import resource
from fabricgen.sonic.dump import dump
from tests.components import script
from tests.handoff.switch.config_db import Tables
from tests.handoff.switch.stand_in import StandIn

SECRET_NAME, SECRET, OLD_SECRET = "snmp/read", 'c0mm"unity\\', "old-community"
LEAVES = ("leaf1", "leaf2")
PLACES: Tables = {  # of secrets: one in a key, one in a field
    "SNMP_COMMUNITY": {f"${{secret:{SECRET_NAME}}}": {"TYPE": "RO"}},
    "TACPLUS": {"global": {"passkey": f"${{secret:{SECRET_NAME}}}"}},
}


def fabricgen(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def rendered(folder: Path, *settings: str) -> Path:
    """The bundle of a lab of two leaves and two spines, with secrets."""
    bundle, inventory = folder / "bundle", folder / "inventory"
    shutil.copytree(resource("inventories", "explicit"), inventory)
    lock = () if settings else ("--locked",)
    assert fabricgen("-q", "render", str(inventory), "--output", str(bundle), *lock, *settings) == 0
    for name in LEAVES:
        file = bundle / "sonic" / name / "config_db.json"
        file.write_bytes(dump(json.loads(file.read_text()) | PLACES))
    return bundle


def filled(tables: Tables, secret: str = SECRET) -> Tables:
    """Tables with the secret in its places."""
    text = json.dumps(tables).replace(f"${{secret:{SECRET_NAME}}}", json.dumps(secret)[1:-1])
    found: Tables = json.loads(text)
    return found


def older(tables: Tables, *, takes_reload: bool) -> Tables:
    """An older configuration of a switch: rows, fields, a table and a secret differ from the rendered tables."""
    old = filled(tables, OLD_SECRET)
    for port in ("Ethernet256", "Ethernet264"):
        old["PORT"][port]["mtu"] = "1500"
    old["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3"
    old["BUFFER_PG"]["Ethernet8|3"] = old["BUFFER_PG"].pop("Ethernet8|3-4")
    session = next(iter(old["BGP_NEIGHBOR"].values()))
    session["asn"] = "64999"
    next(iter(old["WRED_PROFILE"].values()))["green_max_threshold"] = "1"
    del old["DEVICE_NEIGHBOR"]
    old["PFC_WD"]["Ethernet0"]["detection_time"] = "400"
    if takes_reload:
        next(iter(old["BUFFER_POOL"].values()))["size"] = "1"
    return old


def assert_holds(found: Tables, tables: Tables, before: Tables) -> None:
    """Every owned table and field is as rendered, and all other tables are as before."""
    for table, rows in tables.items():
        if table not in SHARED_TABLES:
            assert found[table] == rows, table
            continue
        for key, row in rows.items():
            assert found[table][key].items() >= row.items(), (table, key)
    for table, rows in before.items():
        if table not in tables:
            assert found[table] == rows, table
    own = {name: before["DEVICE_METADATA"]["localhost"][name] for name in ("mac", "timezone")}
    assert found["DEVICE_METADATA"]["localhost"].items() >= own.items()
    assert {"FEATURE", "VERSIONS", "CRM"} <= found.keys()
    assert found.keys() == tables.keys() | before.keys()


def seen_by(bundle: Bundle, name: str) -> dict[str, Any]:
    """The output of `lldpctl -f json0` on a switch with the planned cables: neighbors announce the aliases of ports."""
    ends = [pair for link in bundle.switch_links for pair in ((link.a, link.b), (link.b, link.a)) if pair[0][0] == name]
    interfaces = [
        {
            "name": port,
            "chassis": [{"name": [{"value": far}]}],
            "port": [{"id": [{"type": "local", "value": bundle.devices[far].row("PORT", end)["alias"]}]}],
        }
        for (_, port), (far, end) in ends
    ]
    return {"lldp": [{"interface": interfaces}]}


@dataclass
class Site:
    """A project folder, its bundle, and the switches."""

    folder: Path
    bundle: Bundle
    switches: dict[str, StandIn]

    @property
    def project(self) -> Path:
        """The folder with playbooks/."""
        return self.folder / "project"

    def tables(self, name: str) -> Tables:
        """The rendered tables of a switch, from its file."""
        found: Tables = json.loads(self.bundle.devices[name].text)
        return found

    def reset(self) -> None:
        """leaf1 needs a patch, leaf2 a reload; their neighbors and sessions are as planned."""
        for name, switch in self.switches.items():
            for file in ("mishap", "lose", "down", "storm", "no_group", "lost_profile", "no_frrcfgd"):
                (switch.folder / file).unlink(missing_ok=True)
            shutil.rmtree(switch.folder / "etc" / "fabricgen", ignore_errors=True)
            switch.hold(older(self.tables(name), takes_reload=name == "leaf2"))
            (switch.folder / "lldp.json").write_text(json.dumps(seen_by(self.bundle, name)))
            switch.log()

    def hand_off(self) -> None:
        """Write the project, with the logins of the stand-ins."""
        write_folder(self.project, ansible_files(self.bundle, "leaf*"))
        for name, switch in self.switches.items():
            file = self.project / "host_vars" / f"{name}.yml"
            file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | switch.host_vars))

    def play(self, book: str, *options: str, secrets: dict[str, str] | None = None, code: int = 0) -> str:
        """The output of a run, which must end with `code`. The output must not contain a secret."""
        extra = {
            "sonic_config_verify_retries": 0,
            "sonic_config_verify_delay_s": 0,
            "sonic_config_restore_after_s": 36000,
            "fabricgen_secrets": {SECRET_NAME: SECRET} if secrets is None else secrets,
        }
        done = subprocess.run(
            [script("ansible-playbook"), f"playbooks/{book}.yml", "-e", json.dumps(extra), *options],
            cwd=self.project,
            env={
                **os.environ,
                "ANSIBLE_NOCOLOR": "1",
                "ANSIBLE_BECOME_ALLOW_SAME_USER": "1",
                "ANSIBLE_HOME": str(self.folder / "ansible"),
                "ANSIBLE_SSH_CONTROL_PATH_DIR": str(next(iter(self.switches.values())).folder / "cp"),
                "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=30s",
            },
            capture_output=True,
            text=True,
            timeout=180,
        )
        output = done.stdout + done.stderr
        assert done.returncode == code, output
        for secret in (SECRET, json.dumps(SECRET)[1:-1], OLD_SECRET):
            assert secret not in output
        return output


@contextmanager
def opened(folder: Path) -> Iterator[Site]:
    """The site with running switches."""
    bundle = open_bundle([rendered(folder)])
    with contextmanager(_switches)() as switches:
        site = Site(folder, bundle, switches)
        site.hand_off()
        yield site


def _switches() -> Iterator[dict[str, StandIn]]:
    found: dict[str, StandIn] = {}
    try:
        for name in LEAVES:
            found[name] = StandIn.start(name)
        yield found
    finally:
        for switch in found.values():
            switch.stop()


def counts(output: str, name: str) -> dict[str, int]:
    """The numbers of a host in the recap."""
    line = re.search(rf"^{name} +:(.*)$", output, re.MULTILINE)
    assert line, output
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line[1])}
