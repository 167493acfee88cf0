"""Jobs files: every mistake with its line, and the hosts that jobs get."""

from pathlib import Path

import pytest

from fabricgen.errors import UnreadableInputError
from fabricgen.hostlist import expanded, hostlist
from fabricgen.simulate.patterns import Adapter, Placement
from fabricgen.simulate.workload import JobsFile, PlacedJob, PlaneSite, Unit, jobs_text, place_jobs, read_jobs
from fabricgen.simulate.workload.messages import mix_of

HOSTS = [f"gpu-{number:03d}" for number in range(8)]
ADAPTERS = [Adapter(host, f"rail{rail}", rail, "gpu", "dgx-h100") for host in HOSTS for rail in range(2)]
SITE = PlaneSite(ADAPTERS, {host: Unit(-1, number // 4, f"su0{number // 4}") for number, host in enumerate(HOSTS)})


def written(folder: Path, text: str) -> Path:
    file = folder / "jobs.yaml"
    file.write_text(text)
    return file


def read(folder: Path, text: str) -> JobsFile:
    return read_jobs(written(folder, text), "ring-all-reduce", 1000)


def place(folder: Path, text: str, seed: int = 0) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    jobs = read(folder, text)
    assert not jobs.mistakes
    placed, mistakes = place_jobs(jobs.jobs, {one.name: ["compute"] for one in jobs.jobs}, {"compute": SITE}, seed)
    return {one.name: one.hosts for one in placed}, [f"{one.code} {one.location}: {one.message}" for one in mistakes]


def test_defaults_and_values(tmp_path: Path) -> None:
    first, second = read(
        tmp_path,
        "jobs:\n- {name: a, count: 2}\n"
        "- {name: b, hosts: [gpu-001, 'gpu-00*'], size: 1GiB, start: 1.5us, repetitions: 3, pattern: incast,"
        " rails: [1], pinned: true}\n",
    ).jobs
    assert (first.pattern, first.size_bytes, first.placement, first.start_ns) == ("ring-all-reduce", 1000, "aligned", 0)
    assert (second.size_bytes, second.start_ns, second.sent_bytes, second.rails) == (1 << 30, 1500, 3 << 30, (1,))
    assert second.pinned and second.hosts == ("gpu-001", "gpu-00*")


def test_json_is_read_as_well(tmp_path: Path) -> None:
    assert read(tmp_path, '{"jobs": [{"name": "a", "count": 1, "size": 5}]}').jobs[0].size_bytes == 5


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ("{name: a, count: 1, siz: 2}", "2:21", "jobs[0].siz: unknown key; the keys are name, hosts"),
        ("{name: a, count: 0}", "2:11", "0 is less than the minimum"),
        ("{name: a, count: 1, size: 1 furlong}", "2:21", "'1 furlong' is not valid here"),
        ("{name: a, count: 1, size: 0MiB}", "2:21", "'0MiB' is not valid here"),
        ("{name: a, count: 1, start: 5}", "2:21", "5 is not text"),
        ("{name: a, count: 1, start: 5 min}", "2:21", "'5 min' is not valid here"),
        ("{name: a, count: 1, pattern: ring}", "2:21", '"ring" is not allowed: write ring-all-reduce, '),
        ("{name: a, count: 1, pattern: ring-allreduce}", "2:21", "is not allowed: did you mean ring-all-reduce?"),
        ("{name: a b, count: 1}", "2:2", "'a b' is not valid here"),
        ("{count: 1}", "2:1", "name is missing"),
        ("{name: a}", "2:1", "neither hosts nor count"),
        ("{name: a, count: 1, hosts: gpu-001}", "2:11", "either hosts or count"),
        ("{name: a, hosts: gpu-001, unit: 0}", "2:27", "unit is for jobs with count"),
        ("{name: a, count: 1, unit: 0, placement: aligned}", "2:30", "either a placement or a unit"),
        ("{name: a, count: 1, count: 2}", "2:11", "this key is given twice"),
    ],
)
def test_mistakes(tmp_path: Path, line: str, place: str, words: str) -> None:
    found = read(tmp_path, f"jobs:\n- {line}\n")
    assert not found.jobs
    (mistake,) = found.mistakes
    row, column = place.split(":")
    assert (mistake.code, mistake.severity) == ("FG792", "error")
    assert words in mistake.message
    assert mistake.location and mistake.location.line == int(row) and mistake.location.column == int(column) + 2


def test_all_mistakes_at_once_and_the_other_jobs(tmp_path: Path) -> None:
    found = read(tmp_path, "jobs:\n- {name: a, count: 1}\n- {name: a, count: 1}\n- {name: c}\n- {name: d, count: x}\n")
    assert [one.name for one in found.jobs] == ["a"]
    assert [one.location.line for one in found.mistakes if one.location] == [5, 4, 3]


@pytest.mark.parametrize(
    ("jobs", "place", "path"),
    [
        ("- {name: a, hosts: [gpu-001, gpu-009]}", "2:30", "a.hosts[1]"),
        ("- name: a\n  hosts:\n  - gpu-001\n  - gpu-[002-009]", "5:5", "a.hosts[1]"),
        ("- {name: a, hosts: gpu-9*}", "2:20", "a.hosts"),
        ("- {name: a, hosts: ['gpu-001', 'gpu-[3-1]']}", "2:32", "a.hosts[1]"),
        ("- {name: a, hosts: [gpu-001, gpu-002, gpu-00*]}", "2:39", "a.hosts[2]"),
        ("- {name: a, count: 1, unit: [0, 4]}", "2:33", "a.unit[1]"),
        ("- {name: a, count: 1, unit: 4}", "2:29", "a.unit"),
        ("- {name: a, count: 1, rails: [0, 7]}", "2:34", "a.rails[1]"),
        ("- {name: a, count: 9}", "2:13", "a.count"),
    ],
)
def test_a_name_that_the_fabric_does_not_have_is_located_itself(
    tmp_path: Path, jobs: str, place: str, path: str
) -> None:
    file = read(tmp_path, f"jobs:\n{jobs}\n")
    _, (mistake,) = place_jobs(file.jobs, {"a": ["compute"]}, {"compute": SITE}, 0)
    assert (str(mistake.location), mistake.path) == (f"{tmp_path / 'jobs.yaml'}:{place}", path)


@pytest.mark.parametrize("text", ["- a\n", "jobs: [\n", "", "jobs: !x 1\n"])
def test_what_is_not_a_jobs_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableInputError):
        read(tmp_path, text)


def test_order_of_placement(tmp_path: Path) -> None:
    hosts, mistakes = place(
        tmp_path,
        "jobs:\n- {name: spread, count: 2, placement: fragmented}\n- {name: next, count: 2}\n"
        "- {name: unit, count: 1, unit: 1}\n- {name: own, hosts: ['gpu-000', 'gpu-00[4-5]']}\n",
    )
    assert not mistakes
    assert hosts["own"] == ("gpu-000", "gpu-004", "gpu-005")
    assert hosts["unit"] == ("gpu-006",) and hosts["next"] == ("gpu-001", "gpu-002")
    assert set(hosts["spread"]) == {"gpu-003", "gpu-007"}
    assert list(hosts) == ["spread", "next", "unit", "own"]


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ("- {name: a, hosts: [gpu-009, x]}", ["FG792", "gpu-009 is not a host", "x is not a host"]),
        ("- {name: a, hosts: gpu-9*}", ["'gpu-9*' is not a host"]),
        ("- {name: a, hosts: 'gpu-[3-1]'}", ["'3-1' is not a number or a range"]),
        ("- {name: a, hosts: [gpu-001, gpu-00*]}", ["gpu-001: a job uses a host once"]),
        ("- {name: a, count: 9}", ["9 hosts requested, the plane has 8 free"]),
        ("- {name: a, count: 5, unit: 0}", ["5 hosts requested, unit 0 has 4 free"]),
        ("- {name: a, count: 1, unit: 4}", ["unit 4 is not in the plane"]),
        ("- {name: a, count: 1, rails: [7]}", ["rail 7 is not in the plane"]),
        (
            "- {name: a, hosts: gpu-00*}\n- {name: b, hosts: 'gpu-00[1-2]'}",
            ["FG793", "2 hosts of job a as well: gpu-[001-002]"],
        ),
        ("- {name: a, hosts: gpu-001, rails: [0]}\n- {name: b, hosts: gpu-001}", ["FG793"]),
    ],
)
def test_mistakes_of_placement(tmp_path: Path, jobs: str, words: list[str]) -> None:
    _, mistakes = place(tmp_path, f"jobs:\n{jobs}\n")
    assert all(any(word in mistake for mistake in mistakes) for word in words), mistakes


def test_jobs_share_hosts_by_rail(tmp_path: Path) -> None:
    text = "jobs:\n- {name: a, hosts: gpu-00*, rails: [0]}\n- {name: b, count: 8, rails: [1]}\n"
    hosts, mistakes = place(tmp_path, text)
    assert not mistakes and hosts["a"] == hosts["b"] == tuple(HOSTS)
    jobs = read(tmp_path, text).jobs
    mix = mix_of(ADAPTERS, [PlacedJob(one, hosts[one.name], ("compute",)) for one in jobs], 0)
    rails = [{ADAPTERS[number].rail for number in mix.messages.source[mix.owner == job].tolist()} for job in (0, 1)]
    assert rails == [{0}, {1}]


def test_a_written_file_gives_the_same_jobs(tmp_path: Path) -> None:
    text = "jobs:\n- {name: '7', hosts: [gpu-003, gpu-001], size: 3MiB, start: 1.5us, rails: [1], pinned: true}\n" \
           "- {name: b, hosts: 'gpu-00[4-6]', repetitions: 2}\n"  # fmt: skip
    jobs = read(tmp_path, text).jobs
    placed, _ = place_jobs(jobs, {one.name: ["compute"] for one in jobs}, {"compute": SITE}, 0)
    again = read(tmp_path, jobs_text(placed)).jobs
    second, mistakes = place_jobs(again, {one.name: ["compute"] for one in again}, {"compute": SITE}, 0)
    assert not mistakes and [one.hosts for one in second] == [one.hosts for one in placed]
    same = ("name", "pattern", "size_bytes", "start_ns", "rails", "repetitions", "pinned")
    for one, other in zip(again, jobs, strict=True):
        assert [getattr(one, key) for key in same] == [getattr(other, key) for key in same]


def test_hostlists_and_back() -> None:
    names = ["a-008", "a-009", "a-010", "a-012", "b", "c7"]
    assert expanded(hostlist(names)) == names
    assert expanded("x[1-2]y,z") == ["x1y", "x2y", "z"]
    for wrong in ("", "a,", "a[1", "a]", "a[]", "a[2-1]", "a[1]b[2]", "a[0-99999]"):
        with pytest.raises(ValueError):
            expanded(wrong)


def test_fragmented_depends_on_the_seed(tmp_path: Path) -> None:
    text = "jobs:\n- {name: a, count: 5, placement: fragmented}\n"
    assert place(tmp_path, text, 1) == place(tmp_path, text, 1) != place(tmp_path, text, 2)
    jobs = read_jobs(written(tmp_path, "jobs:\n- {name: a, count: 5}\n"), "incast", 1, Placement.FRAGMENTED).jobs
    assert jobs[0].placement is Placement.FRAGMENTED
