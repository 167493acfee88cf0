"""A git repository of a fabric with a remote, as the recipes want it, and changes to it: good, and three bad ones."""

import json
import os
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.inventories import DELL, explicit, text_of

CHECKOUT = Path(__file__).parents[2]
_SHIM = """#!/bin/sh
exec "{python}" -P -m fabricgen "$@"
"""
_SPINE_ASN = "4200009999"

Tree = dict[str, Any]


def fabric() -> Tree:
    """Four leaves, each cabled to both spines."""
    return _cabled([(leaf, spine) for leaf in range(1, 5) for spine in (1, 2)])


def _cabled(pairs: list[tuple[int, int]]) -> Tree:
    tree = deepcopy(explicit(DELL))
    plane = tree["planes"]["compute"]
    plane["leaves"] = [{"name": f"leaf{number}", "rail": number - 1} for number in range(1, 5)]
    plane["links"] = [[f"gpu/0:rail{number - 1}", f"leaf{number}:Ethernet0"] for number in range(1, 5)] + [
        [f"leaf{leaf}:Ethernet{8 * spine}", f"spine{spine}:Ethernet{8 * leaf}"] for leaf, spine in pairs
    ]
    return tree


class Repository:
    """A clone whose `main` has an inventory with its bundle, on a branch `change`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        tools = folder / "bin"
        tools.mkdir(parents=True)
        for name, text in (("fabricgen", _SHIM.format(python=sys.executable)), ("pip", "#!/bin/sh\n")):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "FABRICGEN_"))}
        self.environment = {
            **kept,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(CHECKOUT),
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        self.run(f"git init --quiet --bare --initial-branch=main {folder}/origin.git", folder)
        self.run(f"git clone --quiet {folder}/origin.git {self.folder} 2>/dev/null", folder)
        self.write(fabric())
        self.run("fabricgen render inventory --output bundle --quiet")
        self.commit("a fabric")
        self.run("git push --quiet origin HEAD:main && git switch --quiet --create change")

    def tool(self, name: str, script: str) -> None:
        """A program of this name that runs a script instead."""
        file = self.folder.parent / "bin" / name
        file.write_text(f"#!/bin/sh\n{script}")
        file.chmod(0o755)

    def run(self, script: str, folder: Path | None = None, **variables: str) -> str:
        """The output of a script, which must succeed."""
        outcome = self.attempt(script, folder, **variables)
        assert outcome.returncode == 0, outcome.stdout
        return outcome.stdout

    def attempt(self, script: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a script as a pipeline does; its errors are in `stdout`, too."""
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=folder or self.folder,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def write(self, tree: Tree) -> None:
        """The inventory."""
        (self.folder / "inventory").mkdir(exist_ok=True)
        (self.folder / "inventory" / "fabric.yaml").write_text(text_of(tree))

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.run(f"git add --all && git commit --quiet -m '{message}'")

    def config(self, device: str) -> Any:
        """A switch's committed tables."""
        return json.loads(self.file(device).read_text())

    def file(self, device: str) -> Path:
        """A switch's committed file."""
        return self.folder / "bundle" / "sonic" / device / "config_db.json"

    def line(self, path: str, text: str) -> int:
        """The number of the first line of a file that holds a text."""
        lines = (self.folder / path).read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)

    def change(self, tree: Tree) -> None:
        """An inventory and what it renders, committed together."""
        self.write(tree)
        self.run("fabricgen render inventory --output bundle --quiet")
        self.commit("change")


def clean_change(repository: Repository) -> list[str]:
    """Another syslog server, rendered: nothing to say."""
    tree = fabric()
    tree["management"]["syslog"].append("10.255.15.6")
    repository.change(tree)
    return []


def hand_edit(repository: Repository) -> list[str]:
    """A value of the bundle that no inventory has."""
    file = repository.file("leaf3")
    file.write_text(file.read_text().replace('"mtu": "9100"', '"mtu": "9000"', 1))
    repository.commit("quick fix")
    line = repository.line("bundle/sonic/leaf3/config_db.json", '"mtu": "9000"')
    return [f"bundle/sonic/leaf3/config_db.json:{line}:1: error FG990 leaf3"]


def second_asn_among_the_spines(repository: Repository) -> list[str]:
    """Two leaves lose a spine. With a second ASN they reach each other over leaves between the spines: a cycle."""
    tree = _cabled([(1, 2), (2, 1), (3, 1), (3, 2), (4, 1), (4, 2)])
    tree["overrides"] = [
        {"match": {"name": "spine2"}, "config_db": {"DEVICE_METADATA": {"localhost": {"bgp_asn": _SPINE_ASN}}}}
    ]
    repository.write(tree)
    repository.run("fabricgen render inventory --output bundle --quiet")
    for row in repository.config("spine2")["BGP_NEIGHBOR"].values():
        session = {"BGP_NEIGHBOR": {row["local_addr"]: {"asn": _SPINE_ASN}}}
        tree["overrides"].append({"match": {"name": row["name"]}, "config_db": session})
    repository.change(tree)
    line = repository.line("inventory/fabric.yaml", "bgp_asn: ")
    where = [f"inventory/fabric.yaml:{line}:", f"inventory/fabric.yaml,line={line},"]
    own = repository.line("bundle/sonic/spine2/config_db.json", '"bgp_asn": ')
    return [*where, f"bundle/sonic/spine2/config_db.json:{own}:", "FG601", f"spine2 (ASN {_SPINE_ASN})"]


def wrong_priority(repository: Repository) -> list[str]:
    """PFC on a priority that carries no RoCE, by an override of the inventory."""
    tree = fabric()
    maps = {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,5", "pfcwd_sw_enable": "3,5"}}}
    tree["overrides"] = [{"match": {"name": "leaf2"}, "config_db": maps}]
    repository.change(tree)
    line = repository.line("inventory/fabric.yaml", "pfc_enable: ")
    return [f"inventory/fabric.yaml:{line}:", f"inventory/fabric.yaml,line={line},", "FG513"]


def wrong_template(repository: Repository) -> None:
    """A template of the site that takes PFC from every port, as fabricgen.toml names it; rendered and committed."""
    folder = repository.folder / "site"
    folder.mkdir()
    text = (CHECKOUT / "templates" / "sonic" / "link.json.j2").read_text()
    (folder / "link.json.j2").write_text(re.sub(r'"pfc_enable": "[^"]*"', '"pfc_enable": "5"', text))
    (repository.folder / "fabricgen.toml").write_text('templates = "site"\n')
    repository.change(fabric())
