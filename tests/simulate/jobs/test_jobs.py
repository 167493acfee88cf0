"""Jobs on the files of a fabric: who slows whom, pauses between jobs, failures, and the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.api.aside import render_aside
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.results import JobsResult
from fabricgen.simulate.congestion.verdict import judge
from fabricgen.simulate.jobs.advice import advice_of
from fabricgen.simulate.jobs.analysis import analyse_jobs, job_blocks
from fabricgen.simulate.jobs.loads import hashed_mix
from fabricgen.simulate.jobs.options import JobsOptions
from fabricgen.simulate.outages.analysis import analyse_outages
from fabricgen.simulate.outages.options import OutageOptions as OutageOptions
from fabricgen.simulate.plane.ports import NO_PORT
from fabricgen.simulate.workload import JobPlanes, JobRequest, JobsFile, jobs_on_planes, mix_of
from tests.conftest import Cli
from tests.docs.pages import ROOT, write_files
from tests.inventories import rail_optimized, write
from tests.simulate.jobs.small_fabrics import placed, small_plane, small_site

MIB = 1 << 20


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units of four hosts, whose leaves have two uplinks for their four hosts."""
    folder = tmp_path_factory.mktemp("jobs")
    write(folder / "i", rail_optimized(oversubscription=2))
    render_aside(folder / "i", folder / "b")
    return folder / "b"


@pytest.fixture(scope="module")
def bundle(built: Path) -> Bundle:
    return open_bundle([built])


def job(name: str, hosts: str, pattern: str = "ring-all-reduce", **keys: Any) -> JobRequest:
    return JobRequest(name, hosts=(hosts,), pattern=pattern, **{"size_bytes": 8 * MIB, **keys})


def on_planes(bundle: Bundle, *jobs: JobRequest) -> JobPlanes:
    found = jobs_on_planes(bundle, JobsFile("jobs.yaml", jobs), 0)
    assert not found.mistakes
    return found


def judged(bundle: Bundle, *jobs: JobRequest, **options: Any) -> JobsResult:
    (result,) = analyse_jobs(bundle, on_planes(bundle, *jobs), JobsOptions(**{"draws": 4, **options}))
    assert result.jobs
    return result.jobs


def test_jobs_below_their_own_leaves_do_not_meet(bundle: Bundle) -> None:
    found = judged(bundle, job("a", "gpu-[000-003]"), job("b", "gpu-[004-007]"))
    assert [one.slowdown.highest for one in found.jobs] == [1, 1]
    assert (found.fairness.mean, found.least_share.mean, found.pairs, found.advice) == (1, 1, (), ())
    assert found.jobs[0].units == (("su00", 4),) and found.free_hosts == 0


def test_jobs_across_both_units_share_uplinks_by_even_load_too(bundle: Bundle) -> None:
    """A permutation between units needs all bytes of each job on the uplinks: two jobs, twice the time."""
    found = judged(bundle, job("a", "gpu-[000,004]"), job("b", "gpu-[001,005]"), job("c", "gpu-[002,006]"))
    assert [one.even_slowdown for one in found.jobs] == pytest.approx([1.5] * 3, rel=0.01)
    pair = found.pairs[0]
    assert pair.links > 0 and pair.slowdown.mean >= 1 and sum(links for _, links in pair.places) == pair.links
    assert found.least_share.mean == pytest.approx(1 / max(one.slowdown.mean for one in found.jobs), rel=0.2)
    assert "gpu" not in found.advice[0].text and "share" in found.advice[0].text


def test_advice_names_a_unit_with_room(bundle: Bundle) -> None:
    found = judged(bundle, job("a", "gpu-[000,004]"), job("b", "gpu-[001,005]"), draws=16)
    (advice,) = found.advice
    assert "put all 2 hosts of a into su00, where it has 1 already" in advice.text


def test_a_later_start_and_repetitions(bundle: Bundle) -> None:
    """A job that starts when the other has ended is not slowed; one that repeats takes as much longer."""
    first, other = job("a", "gpu-[000,004]"), job("b", "gpu-[001,005]", start_ns=1e9)
    assert judged(bundle, first, other).least_share.least == 1
    once, four = (
        judged(bundle, job("a", "gpu-[000,004]", repetitions=times)).jobs[0].alone_ns.mean for times in (1, 4)
    )
    assert four == pytest.approx(4 * once, rel=0.05)  # the latency is that of one message


def test_pauses_travel_through_a_job_to_another_that_shares_no_link() -> None:
    """The incast of a pauses links that b uses as well, and those of b pause one of c, which has no link of a."""
    plane = small_plane(5, 4, 2)
    jobs = [
        placed("a", [10, 12, 8, 11, 19, 1], "incast"),
        placed("b", [5, 0, 18, 16, 15, 7, 6, 9], "permutation"),
        placed("c", [4, 17, 14, 13, 3, 2], "ring-all-reduce"),
    ]
    mix = mix_of(plane.adapters, jobs, 0)
    flows = hashed_mix(plane, mix, 0).flows
    verdict = judge(plane.ports, flows, finite=False)
    blocks = job_blocks(plane.ports, [one.name for one in jobs], mix.owner, verdict)
    apart = [(one.job, one.by, one.victims) for one in blocks if not one.shares_links]
    assert apart == [("c", "a", 1)]
    ports = [set(flows.path[mix.owner == job].ravel().tolist()) - {NO_PORT} for job in range(3)]
    assert not ports[0] & ports[2] and ports[0] & ports[1] and ports[1] & ports[2]
    advice = advice_of(small_site(plane), jobs, [], blocks)
    assert advice[0].jobs == ("c", "a") and "do not share a link" in advice[0].text


def test_one_host_sends_nothing(bundle: Bundle) -> None:
    found = judged(bundle, job("a", "gpu-000"), job("b", "gpu-[004-007]"))
    assert (found.jobs[0].messages, found.jobs[0].slowdown.mean) == (0, 1)


def test_failures_name_the_jobs_that_they_hit(bundle: Bundle) -> None:
    """Two rings across two uplinks of each leaf: with one uplink they have half of the bandwidth, jobs below a leaf
    all of it."""
    planes = on_planes(
        bundle, job("wide", "gpu-[000,004]"), job("broad", "gpu-[001,005]"), job("near", "gpu-[006-007]")
    )
    (links,) = analyse_outages(bundle, OutageOptions("jobs"), jobs=planes)
    assert links.worst and links.worst.share == pytest.approx(0.5, abs=0.01)
    assert links.worst.jobs == (("broad", pytest.approx(0.5, abs=0.01)), ("wide", pytest.approx(0.5, abs=0.01)))
    (switches,) = analyse_outages(bundle, OutageOptions("jobs", switches=True), jobs=planes)
    assert dict(switches.stopped_jobs) == {"broad": 16, "near": 8, "wide": 16}
    assert switches.stopping == 16


def test_the_page_has_a_file_that_runs(cli: Cli, tmp_path: Path) -> None:
    write_files(ROOT / "docs" / "jobs.md", tmp_path)
    render_aside(ROOT / "inventories" / "quickstart", tmp_path / "b")
    base = ("simulate", "congestion", str(tmp_path / "b"), "--draws", "8")
    searching = ("--placement", "search", "--save-jobs", str(tmp_path / "better.yaml"))
    done = cli(*base, "--jobs-file", str(tmp_path / "jobs.yaml"), *searching, "--format", "json")
    own = json.loads(done.out)
    jobs = own["congestion"]["jobs"]
    shown = (ROOT / "docs" / "jobs.md").read_text()
    assert f"on {jobs['hosts']} hosts, {jobs['free_hosts']} free" in shown
    assert all(f"{one['together_ns']['mean'] / 1000:.1f}" in shown for one in jobs["jobs"])
    assert f"{jobs['proposal']['moved_hosts']} hosts moved" in shown
    assert (tmp_path / "better.yaml").read_text() == jobs["proposal"]["jobs_file"]
    codes = {one["code"] for one in own["findings"]}
    assert {"FG714", "FG716", "FG718"} <= codes
    better = cli(*base, "--jobs-file", str(tmp_path / "better.yaml"), "--format", "json").out
    assert json.loads(better)["congestion"]["jobs"]["least_share"]["least"] > 0.99


def test_command_line(cli: Cli, built: Path, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text("jobs:\n- {name: a, hosts: 'gpu-[000,004]'}\n- {name: b, hosts: 'gpu-[001,005-006]'}\n")
    base = ("simulate", "congestion", str(built), "--jobs-file", str(file))
    text = cli(*base, "--failures", "1").out
    assert "jobs        plane compute: 2 jobs on 5 hosts, 3 free; 1 draw: fairness" in text
    assert "the worst set hits" in text and f"{file}:2:4  note FG717" in text
    sarif = cli(*base, "--format", "sarif", "--fail-on", "never")
    assert json.loads(sarif.out)["runs"][0]["results"]
    whole = cli("simulate", "congestion", str(built), "--placement", "search", "--format", "json")
    assert json.loads(whole.out)["congestion"]["jobs"]["jobs"][0]["name"] == "all"
    assert yaml.safe_load(cli("schema", "jobs").out)["title"] == "fabricgen jobs"


@pytest.mark.parametrize(
    ("text", "options", "code", "words"),
    [
        ("jobs:\n- {name: a, hosts: gpu-099}\n", (), 1, "gpu-099 is not a host of the plane"),
        ("jobs:\n- {name: a, count: 2, sizes: 1}\n", (), 1, "unknown key"),
        ("jobs: [\n", (), 2, "not YAML"),
        ("jobs:\n- {name: a, count: 2}\n", ("--sizes", "1KiB:2KiB"), 2, "without --jobs-file"),
        ("jobs:\n- {name: a, count: 2}\n", ("--save-jobs", "x"), 2, "--placement search"),
        ("jobs:\n- {name: a, count: 2}\n", ("--pattern", "trace:x"), 2, "a trace has its hosts"),
    ],
)
def test_wrong_use(
    cli: Cli, built: Path, tmp_path: Path, text: str, options: tuple[str, ...], code: int, words: str
) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(text)
    done = cli("simulate", "congestion", str(built), "--jobs-file", str(file), *options)
    assert done.code == code and words in done.out + done.err
