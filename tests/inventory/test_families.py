"""Hosts need a family that the sessions between switches carry."""

from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.render.hosts.rendered import inventory

SIX = inventory(pool='"fd00:64::/48"')
BOTH = "links: [10.128.0.0/10, fd00:128::/48]"


@pytest.mark.parametrize("text", [SIX, inventory(pool='[10.64.0.0/10, "fd00:64::/48"]')], ids=["alone", "both"])
def test_links_without_the_family_of_the_hosts(tmp_path: Path, cli: Cli, text: str) -> None:
    (tmp_path / "fabric.yaml").write_text(text)
    done = cli("render", str(tmp_path / "fabric.yaml"), "-o", str(tmp_path / "build"))
    assert done.code == 1 and "FG924" in done.out + done.err and not (tmp_path / "build").exists()


@pytest.mark.parametrize(
    "change", [("links: 10.128.0.0/10", BOTH), ("    speed: 400G", "    bgp: unnumbered\n    speed: 400G")]
)
def test_links_with_the_family(tmp_path: Path, cli: Cli, change: tuple[str, str]) -> None:
    (tmp_path / "fabric.yaml").write_text(SIX.replace(*change))
    done = cli("render", str(tmp_path / "fabric.yaml"), "-o", str(tmp_path / "build"))
    assert done.code == 0, done
    judged = cli("validate", str(tmp_path / "build"))
    assert "FG360" not in judged.out and judged.code == 0, judged.out
