"""Writes docs/init_cfg.tsv: what images add to a configuration, by release, for docs/image.md.

    python -m scripts.make_init_cfg CLONE

CLONE is a git clone of sonic-buildimage with its release branches. `config reload` loads init_cfg.json before
config_db.json, so its rows are on each switch unless the file has the same row. The template has conditions of the
build; here all optional containers are built, on an ASIC of Broadcom.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment

from fabricgen.sonic.releases import BRANCHES, MASTER_WORD

TEMPLATE = "files/build_templates/init_cfg.json.j2"
OUT = Path(__file__).parents[1] / "docs" / "init_cfg.tsv"
_OF_CONTAINERS = ("AUTO_TECHSUPPORT_FEATURE", "SYSLOG_CONFIG_FEATURE")  # equal rows, one for each container
_LONGEST = 60  # the art in a message of the day is not a fact
_BUILD = {
    **dict.fromkeys(
        (
            "include_router_advertiser", "include_lldp", "include_snmp", "include_teamd", "include_iccpd",
            "include_mgmt_framework", "include_nat", "include_sflow", "include_macsec", "include_system_gnmi",
            "include_system_telemetry", "include_system_eventd", "enable_auto_tech_support",
        ),
        "y",
    ),
    "sonic_asic_platform": "broadcom",
    "default_buffer_model": "traditional",
    "shutdown_bgp_on_start": "n",
    "enable_pfcwd_on_start": "n",
    "installer_services": "",
}  # fmt: skip
_OF_LEAF = {
    "DEVICE_METADATA": {"localhost": {"type": "ToRRouter"}},
    "DEVICE_RUNTIME_METADATA": {"ETHERNET_PORTS_PRESENT": True, "MACSEC_SUPPORTED": False},
}


def init_cfg(clone: Path, branch: str) -> dict[str, Any]:
    """The rows of a branch for a leaf: the text is a template twice, in the build and on the switch."""
    text = subprocess.run(
        ["git", "-C", str(clone), "show", f"{branch}:{TEMPLATE}"], capture_output=True, text=True, check=True
    ).stdout
    environment = Environment(extensions=["jinja2.ext.do"])
    first = environment.from_string(text).render(**_BUILD)
    second = environment.from_string(first).render(**_OF_LEAF)
    found: dict[str, Any] = json.loads(re.sub(r",(\s*[}\]])", r"\1", second), strict=False)
    return {table: rows for table, rows in found.items() if rows}


def _fields(tables: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(TABLE|row|field, value) of the rows; of containers their state, and one row where all are equal."""
    for table, rows in tables.items():
        for key, row in rows.items():
            name = "(each container)" if table in _OF_CONTAINERS else key
            for field, text in row.items():
                if table != "FEATURE" or field == "state":
                    shown = " ".join(str(text).split())
                    yield f"{table}|{name}|{field}", shown if len(shown) <= _LONGEST else "(text)"


def main(clone: Path) -> None:
    """Write the file."""
    found: dict[tuple[str, str], list[str]] = {}
    heads = []
    for release, branch in [*((str(one), str(one)) for one in BRANCHES), (MASTER_WORD, "HEAD")]:
        commit = subprocess.run(
            ["git", "-C", str(clone), "rev-parse", branch], capture_output=True, text=True, check=True
        ).stdout.strip()
        heads.append(f"# {release} {commit}")
        for pair in dict(_fields(init_cfg(clone, branch))).items():
            found.setdefault(pair, []).append(release)
    rows = sorted(f"{path}\t{text}\t{' '.join(releases)}" for (path, text), releases in found.items())
    head = [f"# sonic-buildimage {TEMPLATE} for a leaf, made by scripts/make_init_cfg.py. Branch, commit:", *heads]
    OUT.write_text("\n".join([*head, *rows]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
