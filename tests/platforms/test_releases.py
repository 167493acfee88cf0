"""A SKU's pools and headroom by release: the catalog, what is rendered and judged, and `diff --release`."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api import render, validate
from fabricgen.platforms import catalog
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import Layout
from fabricgen.sonic.releases import BRANCHES, MASTER
from tests.conftest import Cli
from tests.inventories import explicit, write

PLATFORM, SKU = "arista-7060x6-64pe-b", "Arista-7060X6-64PE-B-O128"
# Pool and static limit of the leaf, and rows of headroom: sonic-buildimage device/arista/x86_64-arista_7060x6_64pe_b,
# `git show BRANCH:…/buffers_defaults_t0.j2` and pg_profile_lookup.ini. SAI 14 has the limits per half of the chip.
BY_RELEASE = {
    202505: ("164075364", "165364160", 3),
    202511: ("164505640", "82434938", 12),
    202605: ("164505640", "82434938", 6),
    MASTER: ("164505640", "82434938", 12),
}


def layout() -> Layout:
    platform = catalog.switch_platform(PLATFORM)
    assert platform
    return next(one for one in platform.layouts if one.hwsku == SKU)


@pytest.mark.parametrize("release", BY_RELEASE)
def test_facts_of_a_release(release: int) -> None:
    found = layout().at(release)
    buffers = found.buffers["leaf"]
    size, limit = (
        buffers.pools["ingress_lossless_pool"]["size"],
        buffers.profiles["egress_lossless_profile"]["static_th"],
    )
    assert (size, limit, len(found.headroom)) == BY_RELEASE[release]
    assert found.at(release) == found and layout().at(release) is found


def test_a_release_between_two_branches_has_the_facts_of_the_older_one() -> None:
    assert layout().at(202508) == layout().at(202505) != layout().at(202511)
    facts = layout().facts_of(202411)
    assert facts and facts.lacks == ("sku",) and layout().at(202411) is layout()


def test_each_entry_knows_compared_releases_only() -> None:
    for name in catalog.switch_names():
        platform = catalog.switch_platform(name)
        for one in platform.layouts if platform else ():
            stated = [release for facts in one.by_release for release in facts.releases]
            assert stated == sorted(set(stated)) and set(stated) <= set(BRANCHES), one.hwsku
            assert all(facts.lacks or facts.headroom or facts.buffers for facts in one.by_release), one.hwsku


def test_a_platform_file_keeps_the_facts_of_releases(tmp_path: Path) -> None:
    platform = catalog.switch_platform(PLATFORM)
    assert platform
    file = tmp_path / "own.yaml"
    file.write_text(switch_entry_text(platform), encoding="utf-8")
    assert load_switch_platform(file) == platform


def inventory(folder: Path, release: str) -> Path:
    tree: dict[str, Any] = explicit(PLATFORM)
    number = release if release == "master" else int(release)
    return write(folder / release, tree | {"sonic": {"release": number}})


@pytest.mark.parametrize("release", ["202411", "202505", "202511", "202605", "master"])
def test_what_is_rendered_for_a_release_passes_its_check(release: str, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    render(inventory(tmp_path, release), bundle)
    config = json.loads((bundle / "sonic/leaf1/config_db.json").read_text())
    number = MASTER if release == "master" else int(release)
    size, limit, _ = BY_RELEASE.get(number, BY_RELEASE[MASTER])
    assert config["BUFFER_POOL"]["ingress_lossless_pool"]["size"] == size
    assert config["BUFFER_PROFILE"]["ingress_lossy_profile"]["static_th"] == limit
    assert {one.code for one in validate([bundle]).findings} == ({"FG271"} if release == "202411" else set())
    assert not (bundle / "platforms").exists()  # the facts of a release are the catalog's own


@pytest.mark.parametrize("scope", ["one", "all"])
def test_pools_of_another_release_are_an_error(scope: str, tmp_path: Path) -> None:
    render(inventory(tmp_path, "202505"), tmp_path / "bundle")
    for file in sorted((tmp_path / "bundle/sonic").glob("*/config_db.json"))[: None if scope == "all" else 1]:
        file.write_text(file.read_text().replace("164075364", "164505640"))
    found = [one for one in validate([tmp_path / "bundle"]).findings if one.code == "FG521"]
    assert found and all(one.hint == "set size to 164075364" for one in found)


@pytest.mark.parametrize("form", ["inventory", "bundle"])
def test_diff_lists_the_pools_of_another_release(form: str, cli: Cli, tmp_path: Path) -> None:
    source = inventory(tmp_path, "202505")
    if form == "bundle":
        render(source, tmp_path / "bundle")
        source = tmp_path / "bundle"
    found = json.loads(cli("diff", str(source), "--release", "202505", "202511", "--format", "json").out)
    changed = {
        (one["key"], one["field"], one["new"]) for one in found["changes"] if one["table"].startswith("BUFFER_P")
    }
    assert changed == {
        ("ingress_lossless_pool", "size", "164505640"),
        ("egress_lossless_pool", "size", "164505640"),
        ("egress_lossless_profile", "static_th", "82434938"),
        ("ingress_lossy_profile", "static_th", "82434938"),
    }
