"""Layouts that versions and options of the programs and switches print, and logs with several runs."""

import gzip
import json
from pathlib import Path

import pytest

from fabricgen.acceptance.host_counters import nic_rises
from fabricgen.acceptance.nccl_log import read_log
from fabricgen.acceptance.planned import GBPS
from fabricgen.acceptance.results import read_result, read_results
from fabricgen.bundle.read import Bundle
from fabricgen.errors import UnreadableInputError
from tests.acceptance.printed import ethtool, nccl_json, nccl_text, osu_bw, perftest_json, perftest_text, rccl_json
from tests.acceptance.runs import put
from tests.acceptance.test_causes import HOSTS, L0, RAILS, RANKS, Lab
from tests.acceptance.test_faults import judged
from tests.conftest import Cli

# nccl-tests v2.10.0, src/common.cu: the head, and ranks without a group.
OLD = """\
# nThread 1 nGpus 8 minBytes 4294967296 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid 167261 on    gpu-000 device  0 [0x07] NVIDIA A100-SXM4-40GB
#   Rank  1 Pid 167262 on    gpu-001 device  0 [0x07] NVIDIA A100-SXM4-40GB
#
"""
# print_header of src/all_reduce.cu (redop), all_gather.cu (neither), alltoall.cu (a blank redop), reduce.cu (both).
OLD_TABLES = {
    "all_reduce": ("redop     time   algbw   busbw  error     time   algbw   busbw  error", "     sum"),
    "all_gather": ("   time   algbw   busbw  error     time   algbw   busbw  error", ""),
    "alltoall": ("redop     time   algbw   busbw  error     time   algbw   busbw  error", "        "),
    "reduce": ("redop    root     time   algbw   busbw  error     time   algbw   busbw  error", "     sum       0"),
}


@pytest.mark.parametrize("program", OLD_TABLES)
@pytest.mark.parametrize(("error", "wrong", "bounds"), [("2e-07", 0, "0 OK"), ("  inf", 2, "2 FAILED")])
def test_tables_of_nccl_tests_before_2_13(program: str, error: str, wrong: int, bounds: str, tmp_path: Path) -> None:
    """The column `error` is the largest difference; times from 10 ms on have no decimals."""
    titles, words = OLD_TABLES[program]
    half = f"    22032  194.94  {365.52:6.2f}  {error}"
    lines = [
        f"#       size         count      type  {titles}",
        f"  4294967296    1073741824     float{words}{half}{half.replace('365.52', '366.68')}",
        f"# Out of bounds values : {bounds}",
        "# Avg bus bandwidth    : 366.1 ",
    ]
    put(tmp_path / "a.txt", OLD + "\n".join(lines) + "\n")
    found = read_result(tmp_path / "a.txt", GBPS)
    assert (found.value, found.ranks, found.wrong) == (366.68, ("gpu-000", "gpu-001"), wrong)


HALF = "    22032  194.94  365.52       0"
ROW = "  4294967296    1073741824     float     sum      -1"


@pytest.mark.parametrize(
    ("row", "value"),
    [
        (f"{ROW}{HALF}{HALF}  2026-11-29 18:00:00", 365.52),  # writeTimestamp
        (f"{ROW}{' ' * 32}{HALF}", 365.52),  # a replay is in place only
        (f"{ROW}{HALF}", 365.52),  # rccl-tests -O 1
        (f"{ROW}{HALF}gpu-001:9000:9100 [0] NCCL INFO Channel 00/0", None),  # two processes in one line
        (f"{ROW}gpu-001:9000:9100 [0] NCCL INFO Connected all trees", None),
        (f"{ROW}    22032     inf     nan       0", None),
    ],
)
def test_rows_of_nccl_tests(row: str, value: float | None, tmp_path: Path) -> None:
    put(tmp_path / "a.txt", OLD + row + "\n# Avg bus bandwidth    : 366.1 \n")
    assert read_result(tmp_path / "a.txt", GBPS).value == value


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("# Collective test starting: all_gather_perf_mpi", "all_gather"),  # make NAME_SUFFIX=_mpi
        ("+ mpirun -np 64 /opt/nccl-tests/build/reduce_scatter_perf -b 1G -e 8G", "reduce_scatter"),
        ("for p in all_reduce_perf alltoall_perf; do", ""),
        ("# Collective test starting: /opt/scatter_perf", "scatter_perf"),
    ],
)
def test_the_name_of_the_program(before: str, expected: str, tmp_path: Path) -> None:
    put(tmp_path / "a.txt", f"{before}\n{OLD}{ROW}{HALF}\n")
    assert read_result(tmp_path / "a.txt", GBPS).collective == expected


PREFIXES = [
    "[0] ",
    "gpu-000: ",
    "[pod/nccl-launcher-x/main] ",
    "2026-11-29T18:00:00.123456789Z ",
    "[1,0]<stdout>:",
    " 0: ",
    "[prterun-gpu-000-77@1,0]<stdout>: ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_what_launchers_print_in_front_of_lines(prefix: str, tmp_path: Path) -> None:
    """Hydra with -prepend-rank, clush, kubectl logs --prefix and --timestamps, and others. A file with a bracket in
    front is not always JSON."""
    lines = [
        "[gpu-000:77] a warning of Open MPI",
        *(prefix + line for line in nccl_text("all_reduce", RANKS, 366.0).splitlines()),
    ]
    put(tmp_path / "a.txt", "\n".join(lines[prefix != "[0] " :]))
    found = read_result(tmp_path / "a.txt", GBPS)
    assert (found.value, found.count, found.collective) == (366.0, 64, "all_reduce")


def test_processes_that_ran_alone_measured_nothing_of_the_fabric(fabric: Path, tmp_path: Path, cli: Cli) -> None:
    """NVIDIA/nccl-tests 107: without MPI=1 mpirun starts the test once for each process."""
    head, rows = OLD.splitlines()[:3], [f"{ROW}{HALF}{HALF}"] * 2
    ranks = [f"#   Rank {gpu:2d} Pid 9 on {host} device {gpu:2d} [0x07] x" for host in HOSTS[:2] for gpu in range(8)]
    put(tmp_path / "all_reduce.txt", "\n".join([*head, *head, *ranks, *rows, "# Avg bus bandwidth    : 366.1 "]))
    outcome = cli("accept", fabric, tmp_path / "all_reduce.txt")
    assert (outcome.code, "2 processes ran alone, each as rank 0" in outcome.err) == (2, True), outcome.err


@pytest.mark.parametrize("form", ["text", "json"])
def test_groups_of_ranks_are_not_one_collective(form: str, tmp_path: Path) -> None:
    """NCCL_TESTS_SPLIT: the bandwidth is that of a group."""
    text = nccl_text("all_reduce", RANKS, 45.0) if form == "text" else nccl_json("all_reduce", RANKS, 45.0)
    text = text.replace("Rank  7 Group  0", "Rank  7 Group  7").replace(
        '"rank": 7, "group": 0', '"rank": 7, "group": 7'
    )
    put(tmp_path / "a.txt", text)
    with pytest.raises(UnreadableInputError, match="ran in 2 groups at the same time"):
        read_result(tmp_path / "a.txt", GBPS)


def test_perftest_in_both_directions(tmp_path: Path) -> None:
    """write_test_info_to_file: Bidirectional_ is in the name of the test, and the values are those of both directions;
    --report-both of send_bw.c prints the rows of each side behind that of both."""
    put(tmp_path / "a.json", perftest_json(700.0).replace("RDMA_Write_BW", "RDMA_Write_Bidirectional_BW"))
    assert read_result(tmp_path / "a.json", GBPS).value == 350.0
    text = perftest_text("10.64.0.1", "10.64.0.2", 700.0, title="Send Bidirectional BW")
    sides = [
        f"\n {side} results: \n{perftest_text('10.64.0.1', '10.64.0.2', 350.0).splitlines()[-2]}"
        for side in ("Local", "Remote")
    ]
    put(tmp_path / "a.txt", text + "".join(sides))
    assert read_result(tmp_path / "a.txt", GBPS).value == 350.0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", perftest_json(2.1).replace("RDMA_Write_BW", "RDMA_Write_Latency")),
        ("a.txt", perftest_text("10.64.0.1", "10.64.0.2", 2.1, title="RDMA_Write Latency")),
    ],
)
def test_latency_is_no_bandwidth(name: str, content: str, tmp_path: Path) -> None:
    put(tmp_path / name, content)
    with pytest.raises(UnreadableInputError, match="it measured latency, not bandwidth"):
        read_result(tmp_path / name, GBPS)


def test_both_ends_of_a_pair_in_one_file_are_not_a_loopback(tmp_path: Path) -> None:
    """A server in the background and its client print to the same file: one behind the other, or mixed."""
    client, server = (perftest_text("10.64.0.1", "10.64.0.2", 380.0, server=side) for side in (False, True))
    server = server.replace("255:255:10:64:00:01", "x").replace("255:255:10:64:00:02", "255:255:10:64:00:01")
    server = server.replace("255:255:10:64:00:01", "255:255:10:64:00:02", 2).replace("x", "255:255:10:64:00:01")
    put(tmp_path / "a.txt", client + server)
    assert {frozenset(one.ends) for one in read_results(tmp_path / "a.txt", GBPS)} == {
        frozenset(("10.64.0.1", "10.64.0.2"))
    }
    head, rest = client.split(" local address", 1)
    put(tmp_path / "a.txt", head + server + " local address" + rest)
    (found,) = read_results(tmp_path / "a.txt", GBPS)
    assert set(found.ends) == {"10.64.0.1", "10.64.0.2"}
    third = perftest_text("10.64.0.1", "10.64.0.3", 380.0)
    put(tmp_path / "a.txt", head + third + " local address" + rest)
    with pytest.raises(UnreadableInputError, match="3 addresses in one run"):
        read_result(tmp_path / "a.txt", GBPS)


def test_each_run_of_a_log_is_judged(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    """ROCm/rccl 2075: one job runs several programs. A good one does not hide a slow one."""
    lab = Lab(opened, tmp_path / "r")
    pairs = [
        perftest_text(lab.address[HOSTS[0], rail], lab.address[HOSTS[1], rail], 388.0 if rail != "rail3" else 190.0)
        for rail in RAILS
    ]
    runs = [
        *pairs,
        "======== all_gather_perf\n" + nccl_text("all_gather", RANKS, 371.0),
        nccl_text("reduce_scatter", RANKS, 205.0) + "# Collective test concluded: reduce_scatter_perf\n\nsrun: done\n",
        "+ all_reduce_perf -g 1\n" + nccl_text("all_reduce", RANKS, 372.0, is_rccl=True),
        perftest_text("192.0.2.1", "192.0.2.2", 388.0),
        osu_bw(388.0),
    ]
    put(lab.folder / "slurm-17.out", "".join(runs))
    code, report = judged(cli, fabric, lab.folder / "slurm-17.out")
    found = [(one["test"], one["value"], one["verdict"]) for one in report["acceptance"]["measurements"]]
    slow = [(name, value) for name, value, verdict in found if verdict != "pass"]
    assert (code, len(found), slow) == (1, 11, [("slurm-17#4", 190.0), ("slurm-17#10", 205.0)])
    first, second = report["acceptance"]["unjudged"]
    lines = ["".join(runs[:number]).count("\n") + 1 for number in (-2, -1)]
    assert first.startswith(f"{lab.folder}/slurm-17.out:{lines[0]}: no host of the fabric has the address 192.0.2.1")
    assert second.startswith(f"{lab.folder}/slurm-17.out:{lines[1]}: it has no addresses")


def test_a_file_of_one_test_has_one_run(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", nccl_text("all_reduce", RANKS, 366.0) * 2)
    with pytest.raises(UnreadableInputError, match="2 runs in the file of one test") as refused:
        read_result(tmp_path / "a.txt", GBPS)
    assert refused.value.location.line == nccl_text("all_reduce", RANKS, 366.0).count("\n") + 1


def test_rows_of_several_collectives_in_json(tmp_path: Path) -> None:
    """rccl-tests -Z json: the rows of all programs in one file."""
    put(tmp_path / "a.json", rccl_json("AllReduce", 8, 64, 150.0) + "\n" + rccl_json("AllGather", 8, 64, 350.0))
    found = [(one.collective, one.value) for one in read_results(tmp_path / "a.json", GBPS)]
    assert found == [("all_reduce", 150.0), ("all_gather", 350.0)]
    rows = [json.loads(line) for line in rccl_json("AllReduce", 8, 64, 150.0).splitlines()]
    put(tmp_path / "a.json", json.dumps(rows))
    assert read_result(tmp_path / "a.json", GBPS).value == 150.0


def test_one_host_alone_says_nothing_of_the_fabric(fabric: Path, tmp_path: Path, cli: Cli) -> None:
    put(tmp_path / "all_reduce.txt", nccl_text("all_reduce", ["gpu-000"] * 8, 420.0))
    outcome = cli("accept", fabric, tmp_path / "all_reduce.txt")
    assert (outcome.code, "it ran on gpu-000 only, not on the fabric" in outcome.err) == (2, True), outcome.err


def test_two_files_of_one_name_are_two_tests(fabric: Path, tmp_path: Path, cli: Cli) -> None:
    put(tmp_path / "r" / "all_reduce.txt", nccl_text("all_reduce", RANKS, 372.0))
    put(tmp_path / "r" / "all_reduce.log", nccl_text("all_reduce", RANKS, 205.0))
    _, report = judged(cli, fabric, tmp_path / "r")
    found = {one["test"]: one["verdict"] for one in report["acceptance"]["measurements"]}
    assert found == {"all_reduce": "fail", "all_reduce#2": "pass"}


def drops(lab: Lab, moment: str, text: str) -> None:
    put(lab.folder / moment / L0 / "pg-drops.txt", text)


def pg_drops(port: str, **lost: int) -> str:
    """sonic-utilities 691b1bb, scripts/pg-drop: build_header has the priority groups of COUNTERS_PG_NAME_MAP only, and
    with create_only_config_db_buffers these are those of the configuration."""
    titles, values = "  ".join(lost), "  ".join(map(str, lost.values()))
    return f"Ingress PG dropped packets:\n     Port    {titles}\n---------  -----\n{port}  {values}\n"


def test_priority_groups_of_the_configuration_only(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    lab = Lab(opened, tmp_path / "r")
    lab.pairs(far=False)
    port = lab.leaf["gpu-000", "rail0"][1]
    drops(lab, "before", pg_drops(port, PG0=7, PG3=0, PG4=0))
    drops(lab, "after", pg_drops(port, PG0=9, PG3=17, PG4=0))
    _, report = judged(cli, fabric, lab.folder)
    assert [one["path"] for one in report["findings"] if one["code"] == "FG966"] == [f"BUFFER_PG|{port}|3"]


@pytest.mark.parametrize("before", [None, "", "Header info is not available!\n", "sudo: a password is required\n"])
def test_what_was_lost_before_the_tests_is_no_fault(
    before: str | None, fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli
) -> None:
    """A counter without a reading before did not rise, and a message is not a reading."""
    lab = Lab(opened, tmp_path / "r")
    lab.pairs(far=False)
    lab.errors(L0, {})
    port = lab.leaf["gpu-000", "rail0"][1]
    if before is not None:
        drops(lab, "before", before)
    drops(lab, "after", pg_drops(port, PG3=4711))
    code, report = judged(cli, fabric, lab.folder)
    messages = [one["message"] for one in report["findings"] if one["device"] == L0]
    assert (code, messages) == (
        0,
        [] if before is None else ["no output of a command in pg-drops.txt before the tests"],
    )
    assert report["acceptance"]["causes"][0]["cause"] == "none"


def test_messages_instead_of_tables_are_not_counted_as_read(
    fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli
) -> None:
    lab = Lab(opened, tmp_path / "r")
    for moment in ("before", "after"):
        for name in ("pfc.txt", "watchdog.txt", "pg-drops.txt", "errors.txt", "fec.txt"):
            put(lab.folder / moment / L0 / name, "Error: No such command\n")
    _, report = judged(cli, fabric, lab.folder)
    assert "no output of a command in pfc.txt" in " ".join(one["message"] for one in report["findings"])
    none = "(lost packets: of 0, pause storms: of 0, damaged frames: of 0)"
    assert none in report["acceptance"]["causes"][0]["sentence"]


IONIC = {"frames_rx_ok": 5, "frames_rx_bad_fcs": 1, "frames_tx_pripause": 0}


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (
            ethtool(IONIC),
            ethtool({**IONIC, "frames_rx_bad_fcs": 9, "frames_tx_pripause": 3}),
            ({"frames_rx_bad_fcs": 8}, {"frames_tx_pripause": 3}),
        ),
        (
            ethtool(IONIC),
            "Authorized users only\n" + ethtool({**IONIC, "frames_rx_bad_fcs": 9}),
            ({"frames_rx_bad_fcs": 8}, {}),
        ),
        ("no stats available\n", ethtool({**IONIC, "frames_rx_bad_fcs": 9}), None),
        (ethtool({"rx_prio3_pause": 0}), "Cannot get stats strings information: Operation not supported\n", None),
    ],
)
def test_counters_of_nics(
    first: str, last: str, expected: tuple[dict[str, int], dict[str, int]] | None, tmp_path: Path
) -> None:
    """do_gstats of ethtool, with the counters of AMD Pensando NICs, and what is printed in front or instead."""
    for moment, text in (("before", first), ("after", last)):
        put(tmp_path / moment / "gpu-000" / "rail0.txt", text)
    found = nic_rises([tmp_path], [("gpu-000", "rail0")]).get(("gpu-000", "rail0"))
    assert (found and (found.errors, found.pauses)) == expected


def test_a_program_without_a_ceiling_is_not_judged_by_the_name_of_its_file(
    fabric: Path, tmp_path: Path, cli: Cli
) -> None:
    put(tmp_path / "all_gather.txt", nccl_text("scatter", RANKS, 371.0))
    outcome = cli("accept", fabric, tmp_path / "all_gather.txt")
    assert (outcome.code, "scatter_perf has no expected value" in outcome.err) == (2, True), outcome.err


def test_a_bandwidth_below_two_decimals_is_one_of_small_buffers(fabric: Path, tmp_path: Path, cli: Cli) -> None:
    """NVIDIA/nccl-tests 294: 8 to 128 bytes."""
    row = f"         128            32     float     sum      -1{'    41.74    0.00    0.00       0' * 2}"
    text = "\n".join(line for line in nccl_text("all_reduce", RANKS, 1.0).splitlines() if "float" not in line)
    put(tmp_path / "all_reduce.txt", f"{text}\n{row}\n")
    code, report = judged(cli, fabric, tmp_path / "all_reduce.txt")
    (cause,) = report["acceptance"]["causes"]
    assert (code, cause["cause"]) == (1, "unknown") and "larger ones can reach" in cause["sentence"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_messages_that_do_not_fill_a_packet(form: str, tmp_path: Path) -> None:
    text = perftest_text("10.64.0.1", "10.64.0.2", 12.0).replace(" 1048576", " 64     ")
    content = text if form == "text" else perftest_json(12.0).replace(str(1 << 20), "64")
    put(tmp_path / "a", content)
    with pytest.raises(UnreadableInputError, match="messages of 64 bytes do not fill packets of 4096"):
        read_result(tmp_path / "a", GBPS)


def test_a_pair_above_the_wire_is_not_good(fabric: Path, tmp_path: Path, cli: Cli) -> None:
    """46,253 MiB/s, read as Gb/s. Several objects are those of `jq -s`."""
    values = [perftest_json(388.0 * 1e9 / 8 / 2**20), perftest_json(388.0)]
    put(tmp_path / "gpu-000_rail0_gpu-001_rail0.json", f"[{','.join(values)}]")
    code, report = judged(cli, fabric, tmp_path)
    verdicts = [one["verdict"] for one in report["acceptance"]["measurements"]]
    (cause,) = report["acceptance"]["causes"]
    assert (code, verdicts, cause["cause"]) == (1, ["above", "pass"], "unknown")
    assert (cause["next"], "46253.2 Gb/s" in cause["sentence"]) == (
        "add --unit MiB/s if perftest ran without --report_gbits", True,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["nccl.o12345", "nccl.12345", "nccl.err", "nccl"])
def test_names_of_the_logs_of_jobs(name: str, fabric: Path, tmp_path: Path, cli: Cli) -> None:
    """A slow result beside good ones is not left out for its name."""
    put(tmp_path / "good.txt", nccl_text("all_gather", RANKS, 371.0))
    put(tmp_path / name, nccl_text("all_reduce", RANKS, 205.0))
    code, report = judged(cli, fabric, tmp_path)
    assert (code, len(report["acceptance"]["measurements"])) == (1, 2)


NOT_READ = {
    "slow.txt.gz": (gzip.compress(b"a slow result"), "the file is compressed; decompress it first"),
    "slow.csv": (b"size,busbw\n8,1.0\n", "not a result of a known program"),
}


@pytest.mark.parametrize("name", NOT_READ)
def test_tables_and_compressed_files_are_named(name: str, fabric: Path, tmp_path: Path, cli: Cli) -> None:
    """They are not read, and not left out in silence either: what they measured can be slow."""
    content, why = NOT_READ[name]
    put(tmp_path / "good.txt", nccl_text("all_gather", RANKS, 371.0))
    (tmp_path / name).write_bytes(content)
    code, report = judged(cli, fabric, tmp_path)
    (unjudged,) = report["acceptance"]["unjudged"]
    assert (code, len(report["acceptance"]["measurements"])) == (0, 1)
    assert unjudged.startswith(f"{tmp_path / name}: {why}")


@pytest.mark.parametrize(
    ("sent", "transport", "gdr"),
    [
        ("Channel 00 : 3[b1000] -> 4[18000] [send] via NET/Socket/0", "Socket", 0),  # NVIDIA/nccl 2.7, net.cc
        ("Channel 01 : 1[101d0] -> 8[101c0] [send] via NET/AWS Libfabric/0/GDRDMA", "", 1),
        ("Channel 00/0 : 3[3] -> 14[6] [send] via NET/IB/3(1)/GDRDMA(PCI)/Shared", "IB", 1),
    ],
)
def test_connections_in_logs_of_nccl(sent: str, transport: str, gdr: int) -> None:
    found = read_log([f"gpu-000:1481:2165 [3] NCCL INFO {sent}"])
    assert found is not None
    assert (found.transport, found.sends, found.gdr) == (transport, 1, gdr)


def test_blank_lines_in_front_do_not_hide_a_result(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", "\n" * 100_000 + perftest_text("10.64.0.1", "10.64.0.2", 380.0))
    assert read_result(tmp_path / "a.txt", GBPS).value == 380.0
