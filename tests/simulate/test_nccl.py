"""Connections of NCCL by version, and what spreading gives a published all-reduce."""

import json
import os
import re
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fabricgen.api.tune import tune
from fabricgen.platforms.nccl import (
    RCCL_NICS,
    capability_of,
    channels_of_nic,
    counts_as,
    parse_version,
    rccl_channels_of_nic,
    rccl_release_of,
    release_of,
)
from fabricgen.results import Confirmed, Gain, Setting, Trial, TuningResult
from fabricgen.simulate.plane.queue_pairs import nccl_connections
from fabricgen.simulate.tuning.analysis import library_settings
from fabricgen.vocabulary import Goal
from tests.conftest import Cli
from tests.inventories import ADDRESSING, NVIDIA, Tree, write
from tests.schemas import require_schema

# NVIDIA/cluster-readiness-engine, pull request 287: GB300 hosts with four rails of 800G, an all-reduce over racks with
# four queue pairs. It reaches about half of the ceiling; with adaptive routing and split data about 70 % more.
GAIN = 1.70


def oci(hosts: int, unit: int, design: str = "rail-optimized", **plane: object) -> Tree:
    nic = {"name": "rail{rail}", "model": "ConnectX-8", "speed": "800G", "plane": "compute", "rails": 4}
    return {
        "fabricgen": 1,
        "fabric": "oci",
        "host_models": {"gb300": {"gpus": 4, "nvlink_domain": 4, "nics": [nic]}},
        "hosts": {"gpu": {"model": "gb300", "count": hosts}},
        "planes": {
            "compute": {
                "design": design,
                "hosts": ["gpu"],
                "scalable_unit": {"hosts": unit, "planned": hosts // unit},
                "leaf": {"platform": NVIDIA},
                "spine": {"platform": NVIDIA},
                "speed": "800G",
                "queue_pairs": 4,
                "addressing": ADDRESSING,
                **plane,
            }
        },
    }


@pytest.mark.parametrize(
    ("version", "nics", "gbps", "capability", "channels"),
    [
        ("2.21", 8, 400, 90, 2),  # eight rings, doubled: 16 are not doubled again
        ("2.24", 4, 400, 90, 4),  # four rings, doubled twice
        ("2.24", 4, 400, 100, 2),  # Blackwell is not Hopper before 2.25
        ("2.25.1", 4, 400, 100, 4),
        ("2.30", 4, 800, 103, 4),  # one search channel carries 96 GB/s on Blackwell
        ("2.27.5", 8, 800, 103, 4),  # two of 48 GB/s before 2.27.6, doubled: 32 for eight NICs
        ("2.27.6", 8, 800, 103, 2),
        ("2.27", 8, 800, 103, 2),
        ("2.26.2", 4, 800, 100, 4),  # 8, doubled: 16 are not doubled again
        ("2.24", 4, 800, 90, 4),  # two of 48 GB/s for each NIC: 16 after doubling
        ("2.30.7", 8, 200, 80, 2),  # A100: no second doubling
        ("2.30", 1, 400, 90, 4),
    ],
)
def test_channels_of_a_nic(version: str, nics: int, gbps: float, capability: int, channels: int) -> None:
    assert channels_of_nic(parse_version(version), nics, gbps, capability) == channels


def test_pxn_by_version() -> None:
    """NVIDIA/nccl v2.29.7-1 and v2.30.3-1, src/graph/paths.cc; RCCL: PXN_DISABLE, rcclSetPxn (ranksThreshold)."""
    needs = [release_of(parse_version(text)).pxn_needs_gdr for text in ("2.21", "2.29.7", "2.30.3", "2.31")]
    assert needs == [False, False, True, True]
    found = [rccl_release_of(one) for one in ((2, 18, 6), (2, 20, 5), (2, 22, 3), (2, 26, 6), (2, 31, 2))]
    assert [(one.pxn_ranks, one.split) for one in found] == [
        (None, True),
        (None, False),
        (None, False),
        ((64, 32), False),
        ((64, 32), False),
    ]


@pytest.mark.parametrize(
    ("version", "model", "channels"),
    [
        ("2.18.3", "mi300x", 4),  # ringBase has 16 rings, doubled: MAXCHANNELS is 32
        ("2.18.6", "mi300x", 4),  # MAXCHANNELS is 64, and rings are doubled once
        ("2.20.5", "mi300x", 8),  # 64 rings
        ("2.21.5", "mi325x-bcm57608", 8),
        ("2.26", "mi355x", 8),
        ("2.28.3", "mi350x-connectx-7", 6),  # default capping to 48
        ("2.30.7", "mi355x", 6),
        ("2.30.7", "mi300x", 8),
        ("2.31.2", "mi355x", 8),
    ],
)
def test_channels_of_rccl(version: str, model: str, channels: int) -> None:
    assert rccl_channels_of_nic(parse_version(version, "RCCL"), model) == (channels, "")


def test_channels_of_rccl_of_other_gpus() -> None:
    assert rccl_channels_of_nic((2, 21, 5), "amd-of-ours") == (8, "GPUs of amd-of-ours count as MI300X")
    with pytest.raises(ValueError, match=r"RCCL 2\.22 does not support the GPUs of mi355x: RCCL 2\.26 and later do"):
        rccl_channels_of_nic((2, 22, 3), "mi355x")
    for text, reason in (("2.17.1", "2.18 and later"), ("7.0.0-rc1", "is not a version of RCCL"), ("six", "such as")):
        with pytest.raises(ValueError, match=reason):
            parse_version(text, "RCCL")


@pytest.mark.skipif("RCCL_SOURCE" not in os.environ, reason="RCCL_SOURCE: a clone of ROCm/rccl")
def test_rings_and_channels_are_those_of_the_source() -> None:
    """The rings of rome_model_81 that each NIC sends, and MAXCHANNELS, in each tag."""

    def source(tag: str, file: str) -> str:
        command = ["git", "-C", os.environ["RCCL_SOURCE"], "show", f"{tag}:{file}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    for tag, header in (
        ("rocm-6.0.0", "devcomm.h"), ("rocm-6.1.0", "devcomm.h"), ("rocm-6.2.0", "device.h"), ("0cbce2a7", "device.h"),
    ):  # fmt: skip
        made = source(tag, "makefiles/version.mk")
        version = tuple(int(found) for found in re.findall(r"NCCL_(?:MAJOR|MINOR|PATCH)\s*:= (\d+)", made))
        model = source(tag, "src/graph/rome_models.cc").split("rome_model_81 = {")[1].split("\n};")[0]
        base = model.split(".ringBase")[1].split('",\n')[0]
        senders = Counter(ring.split()[-1] for ring in re.findall(r"N\d [\d ]+ N\d", base))
        release = rccl_release_of((version[0], version[1], version[2]))
        assert len(senders) == RCCL_NICS and set(senders.values()) == {release.rings // RCCL_NICS}
        (most,) = re.findall(r"#define MAXCHANNELS (\d+)", source(tag, f"src/include/{header}"))
        assert min(64, int(most)) == release.gfx942
        split = source(tag, "src/transport/net_ib.cc")
        assert f'"IB_SPLIT_DATA_ON_QPS", {int(release.split)})' in split and '"IB_QPS_PER_CONNECTION", 1)' in split
        assert '"PXN_DISABLE", 1)' in source(tag, "src/graph/paths.cc")


def test_versions_that_were_not_read() -> None:
    assert [counts_as(parse_version(text), "NCCL") for text in ("2.21", "2.30.7", "2.30")] == ["", "", ""]
    assert counts_as((2, 31, 0), "NCCL") == "NCCL 2.31 counts as 2.30, the newest that was read"


@pytest.fixture(scope="module")
def of_amd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four MI300X, each on eight rails, in units of two."""
    from fabricgen.api import render

    folder = tmp_path_factory.mktemp("amd")
    tree = oci(4, 2, speed="400G")
    del tree["host_models"]
    tree["hosts"]["gpu"]["model"] = "mi300x"
    render(write(folder / "in", tree), folder / "build")
    return folder / "build"


def test_hosts_with_gpus_of_amd_have_the_channels_of_rccl(of_amd: Path, cli: Cli) -> None:
    outcome = cli("-q", "simulate", "congestion", of_amd, "--nccl", "2.21.5", "--format", "json")
    notes = [one["message"] for one in json.loads(outcome.out)["findings"] if one["code"] == "FG720"]
    assert (outcome.code, notes) == (
        0,
        ["RCCL 2.21.5: 8 channels of each NIC with 4 queue pairs, so 32 flows of two NICs"],
    )
    outcome = cli("-q", "simulate", "congestion", of_amd, "--nccl", "7.2")
    assert outcome.code == 0 and "; RCCL 7.2 counts as 2.31, the newest that was read" in outcome.out
    pattern = ("--pattern", "ring-all-reduce", "--queue-pairs", "1")
    outcome = cli("-q", "simulate", "packets", of_amd, *pattern, "--nccl", "2.18.6")
    assert outcome.code == 0 and "RCCL 2.18.6: 4 channels of each NIC with 1 queue pair" in outcome.out


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("2.17", "RCCL 2.17 is not known: the versions are 2.18 and later"),
        ("6.2-rc", "'6.2-rc' is not a version of RCCL"),
        ("", "is not a version of RCCL"),
    ],
)
def test_wrong_versions_of_rccl(version: str, reason: str, of_amd: Path, cli: Cli) -> None:
    outcome = cli("simulate", "congestion", of_amd, "--nccl", version)
    assert outcome.code == 2 and reason in outcome.err


def test_hosts_that_no_model_of_rccl_describes(tmp_path: Path, cli: Cli) -> None:
    """Four NICs for eight GPUs of AMD."""
    tree = oci(4, 2, speed="400G")
    model = tree["host_models"]["gb300"]
    model.update(gpus=8, nvlink_domain=8, vendor="amd")
    model["nics"][0].update(model="BCM57608", speed="400G")
    tree["host_models"] = {"ours": model}
    tree["hosts"]["gpu"]["model"] = "ours"
    outcome = cli("render", write(tmp_path / "in", tree), "-o", tmp_path / "build", "-q")
    assert outcome.code == 0, outcome.out
    outcome = cli("simulate", "congestion", tmp_path / "build", "--nccl", "2.21.5")
    assert outcome.code == 2 and "ours has 4 NICs for 8 GPUs of AMD, and RCCL's model has 8 for 8" in outcome.err


def test_versions_and_models() -> None:
    assert [release_of(version).pxn_c2c for version in ((2, 21, 5), (2, 27, 7), (2, 28, 3), (2, 31, 2))] == [
        False,
        False,
        True,
        True,
    ]
    assert (
        capability_of("dgx-h100") == 90 and capability_of("gb300-nvl72-ethernet") == 103 and capability_of("x") is None
    )
    for text in ("2", "2.x", "1.9", "2.20.5"):
        with pytest.raises(ValueError, match=r"not a version of NCCL|is not known"):
            parse_version(text)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two racks of 18 hosts, and the order of hosts in which each one is in another rack than the one before."""
    from fabricgen.api import render

    folder = tmp_path_factory.mktemp("oci")
    render(write(folder / "in", oci(36, 18)), folder / "bundle")
    (folder / "order").write_text("".join(f"gpu-{one:03d}\ngpu-{18 + one:03d}\n" for one in range(18)))
    return folder


def bandwidth(cli: Cli, built: Path, *options: str) -> tuple[float, list[str]]:
    common = (
        "--pattern",
        "ring-all-reduce",
        "--sizes",
        "1GiB:1GiB",
        "--placement",
        built / "order",
        "--format",
        "json",
    )
    outcome = cli("-q", "simulate", "congestion", built / "bundle", *common, *options)
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    table = next(one for one in report["congestion"]["sizes"] if one["rail"] is None)
    return table["rows"][0]["bus_gbytes"]["mean"], [
        one["message"] for one in report["findings"] if one["code"] == "FG720"
    ]


def test_an_all_reduce_over_racks_gains_as_published(built: Path, cli: Cli) -> None:
    """Simulated 58 % of the ceiling with NCCL's channels and four queue pairs; spreading gives 1.72 times as much."""
    hashed, notes = bandwidth(cli, built, "--nccl", "2.30", "--draws", "8")
    spread, _ = bandwidth(cli, built, "--balance", "spray")
    assert notes == ["NCCL 2.30: 4 channels of each NIC with 4 queue pairs, so 16 flows of two NICs"]
    assert 0.45 < hashed / spread < 0.65
    assert spread / hashed == pytest.approx(GAIN, rel=0.15)
    one_connection, _ = bandwidth(cli, built, "--draws", "8")
    assert one_connection < hashed


def test_wrong_versions(built: Path, cli: Cli) -> None:
    for text, message in (
        ("2.20", "the versions are 2.21 and later"),
        ("new", "is not a version of NCCL such as 2.30"),
    ):
        outcome = cli("simulate", "congestion", built / "bundle", "--nccl", text)
        assert (outcome.code, message in outcome.err) == (2, True)
    outcome = cli("simulate", "packets", built / "bundle", "--nccl", "2.30", "--plane", "x")
    assert (outcome.code, "no host with GPUs has NICs on plane x" in outcome.err) == (2, True)


# A short search. Every hop of the ring crosses the spines: hosts are alone at their leaf.
QUICK = ("--size", "1MiB", "--draws", "6", "--budget", "3000000", "--queue-pairs", "4", "--for", "busbw")


@pytest.mark.usefixtures("short_race")
def test_tune_with_a_version_has_its_channels_and_variables(tmp_path: Path, cli: Cli) -> None:
    """Four channels of each NIC: each flow of the ring becomes four. NCCL 2.30 does not split data by default. With and
    without a version, packets are to spread."""
    inventory = write(tmp_path / "in", oci(4, 1, design="fat-tree"))
    words = ("-q", "tune", inventory, "--pattern", "ring-all-reduce", *QUICK)
    report = json.loads(cli(*words, "--nccl", "2.30", "--format", "json").out)
    require_schema("tune", report)
    plain = json.loads(cli(*words, "--format", "json").out)["tune"]
    assert (plain["libraries"], plain["flows"] * 4) == ([], report["tune"]["flows"])
    assert plain["spreading"]["proposed"] and plain["spreading"]["gain"]["low"] > 0
    (library,) = report["tune"]["libraries"]
    assert (library["library"], library["version"], library["channels"], library["queue_pairs"]) == (
        "NCCL",
        "2.30",
        4,
        4,
    )
    found = tune(inventory, pattern="all-to-all", size_bytes=1 << 20, draws=6, queue_pairs=(4,), budget_hops=1_000_000)
    assert found.result and found.result.reason.startswith("a slice:")
    assert found.result.hosts == ("gpu-000", "gpu-001", "gpu-002", "gpu-003")  # also with a slice of them
    spread = {"NCCL_IB_ADAPTIVE_ROUTING": "1", "NCCL_IB_SPLIT_DATA_ON_QPS": "1"}
    assert library["variables"] == (spread if report["tune"]["spreading"]["proposed"] else {})
    notes = [one["message"] for one in report["findings"] if one["code"] == "FG720"]
    assert notes == ["NCCL 2.30: 4 channels of each NIC with 4 queue pairs, so 16 flows of two NICs"]
    for version, reason in (("2.20", "the versions are 2.21 and later"), ("new", "is not a version of NCCL")):
        outcome = cli(*words, "--nccl", version)
        assert (outcome.code, reason in outcome.err) == (2, True)


def result_of(pattern: str, hosts: int, *, spreads: bool = False, queue_pairs: int = 4) -> TuningResult:
    """The result of a tuning that keeps the present setting of four queue pairs, or changes them."""
    present = Setting(1 << 17, 1 << 18, 5, 0, 4)
    trial = Trial(present, 6, 1.0, 1.0, 0.0, 0.0, 0)
    gain = Gain(0.1, 0.05, 0.2, 0.97)
    best = Confirmed("best", replace(trial, setting=replace(present, queue_pairs=queue_pairs)), gain)
    return TuningResult(
        plane="compute", pattern=pattern, goal=Goal.BUSBW, size_bytes=1 << 20, flows=1,
        hosts=tuple(f"gpu-{number:03d}" for number in range(hosts)), searched_seeds=(1,), unseen_seeds=(2,),
        present=trial, confirmed=(best,) if queue_pairs != 4 else (), is_better=queue_pairs != 4, front=(), tried=1,
        runs=1, hops=1, has_bus=True, refused={}, limits=(), fixed={}, alpha_rows={},
        spreading=Confirmed("spread", trial, gain) if spreads else None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def eight_of_amd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of eight MI300X, in units of four."""
    from fabricgen.api import render

    folder = tmp_path_factory.mktemp("eight")
    tree = oci(8, 4, speed="400G")
    del tree["host_models"]
    tree["hosts"]["gpu"]["model"] = "mi300x"
    render(write(folder / "in", tree), folder / "build")
    return folder / "build"


@pytest.mark.parametrize(
    ("version", "result", "variables"),
    [
        ("2.21.5", result_of("all-to-all", 4), {"NCCL_PXN_DISABLE": "0"}),  # RCCL has 1 by default
        ("2.26", result_of("all-to-all", 4), {"NCCL_PXN_DISABLE": "0"}),  # 32 ranks: from 64 on it is 0
        ("2.26", result_of("all-to-all", 8), {}),
        ("2.21.5", result_of("ring-all-reduce", 4), {}),
        ("2.21.5", result_of("ring-all-reduce", 4, queue_pairs=2), {"NCCL_IB_QPS_PER_CONNECTION": "2"}),
        ("2.18.6", result_of("ring-all-reduce", 4, spreads=True), {"NCCL_IB_ADAPTIVE_ROUTING": "1"}),  # splits already
        (
            "2.20.5", result_of("ring-all-reduce", 4, spreads=True),
            {"NCCL_IB_ADAPTIVE_ROUTING": "1", "NCCL_IB_SPLIT_DATA_ON_QPS": "1"},
        ),
        ("2.20.5", result_of("ring-all-reduce", 4, spreads=True, queue_pairs=1),
         {"NCCL_IB_QPS_PER_CONNECTION": "1", "NCCL_IB_ADAPTIVE_ROUTING": "1"}),
    ],
)  # fmt: skip
def test_tune_proposes_what_a_version_of_rccl_does_not_do_by_default(
    version: str, result: TuningResult, variables: dict[str, str], eight_of_amd: Path
) -> None:
    from fabricgen.bundle.read import open_bundle
    from fabricgen.report.tuning import tuning_lines, tuning_markdown

    bundle = open_bundle([eight_of_amd])
    found = library_settings(result, nccl_connections(bundle, version, "compute", None), bundle)
    assert [(one.library, one.variables) for one in found] == [("RCCL", variables)]
    trials = replace(result, libraries=found, front=(result.present,))
    for text in ("\n".join(tuning_lines(trials)), tuning_markdown(trials)):
        assert f"RCCL {version}, with " in text and " NCCL " not in text
        assert all(f"{name}={value}" in text for name, value in variables.items())
        assert ("no variable is to change" in text) is (not variables)


@pytest.mark.usefixtures("short_race")
def test_tune_proposes_no_spreading_where_packets_spread(tmp_path: Path, cli: Cli) -> None:
    tree = oci(4, 1, design="fat-tree", load_balancing={"mode": "spray", "configured_by": "platform"})
    outcome = cli("-q", "tune", write(tmp_path, tree), "--pattern", "ring-all-reduce", *QUICK)
    assert outcome.code == 0, outcome.err
    assert "packets over all links" not in outcome.out
