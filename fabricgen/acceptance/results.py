"""Results of measuring programs: nccl-tests and rccl-tests (text and JSON), perftest (text and JSON), OSU, iperf3.

Sources: nccl-tests a0b82b2, src/util.cu (writeDeviceReport, writeResultHeader, writeBenchmarkLineBody); rccl-tests
ae3e635, src/common.cu; ROCm/cvs dddd914, rccl_lib.py; perftest 00b55b6, src/perftest_parameters.c (ctx_print_test_info,
print_full_bw_report, RESULT_FMT_QOS), perftest_resources.h (NOTIFY_COMP_ERROR_SEND) and perftest_communication.c
(ctx_print_pingpong_data, PERF_GID_FMT); OSU Micro-Benchmarks 5 to 7, osu_util.c (print_header), osu_bw.c, where a
megabyte has 10^6 bytes, and osu_util_nccl_interface.h (OMB_XCCL_TYPE_STR).
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import orjson

from fabricgen.acceptance.nccl_log import NcclLog
from fabricgen.acceptance.nccl_table import in_groups, read_table
from fabricgen.acceptance.planned import GBPS
from fabricgen.acceptance.printed_runs import OSU_TITLE, PERFTEST_TITLE, printed_runs
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes

MIBYTES = "MiB/s"
UNITS = (GBPS, MIBYTES)
_GBPS_OF = {GBPS: 1.0, MIBYTES: 8 * 2**20 / 1e9}
BITS_OF_MBYTE = 8 / 1e3  # MB/s of 10^6 bytes in Gb/s
_NCCL_COMMENT = re.compile(r"#?.*\bnThread\b|# Avg bus bandwidth\s*:")  # the first line, and the last of a cut log
_STARTS_JSON = re.compile(rb"\s*(?:\{|\[\s*[{\]])")  # not a line behind a rank in brackets: [1,0]<stdout>
_BARE_WORD = re.compile(rb'("sl"\s*:|\bsl:)')
_PERFTEST_UNIT = re.compile(r"#bytes.*BW average\[(\S+)\]")
_PERFTEST_ROW = re.compile(r"^\s*(\d+)\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+")
_PERFTEST_MTU = re.compile(r"\bMtu\s*:\s*(\d+)\[B\]")
_PERFTEST_ROW_OF_LEVEL = re.compile(r"^\s*(\d+)\s+\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+")  # with the column #sl
_PERFTEST_FAILED = re.compile(r"^[ \t]*(?:Completion with error at|Failed status)", re.MULTILINE)
_PERFTEST_GID = re.compile(r"^[ \t]*GID: (\d+(?::\d+){15})\s*$", re.MULTILINE)
_PERFTEST_DEVICE = re.compile(r"\bDevice\s*:\s*(\S+)")
_LATENCY = ": it measured latency, not bandwidth"
_PERFTEST_BOTH = re.compile(r"^[ \t]*Local results:", re.MULTILINE)  # with --report-both: rows of one direction follow
_PERFTEST_UNITS = {"Gb/sec": GBPS, "MiB/sec": "MiB/s", "MB/sec": "MiB/s"}  # MB/sec before 4.5, also of 2^20 bytes
_OSU_ROW = re.compile(r"^(\d+)\s+([\d.]+)")
_OSU_PAIRS = {"Bandwidth": 1, "Bi-Directional Bandwidth": 2}  # title -> the directions that are added up
_OSU_COLLECTIVES = {
    "Allreduce": "all_reduce",
    "Allgather": "all_gather",
    "All-to-All Personalized Exchange": "alltoall",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
}
_COLLECTIVE_NAMES = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "alltoall": "alltoall",
    "alltoallv": "alltoallv", "broadcast": "broadcast", "reduce": "reduce", "sendrecv": "sendrecv",
}  # fmt: skip
_STARTS = re.compile(r"# Collective test starting: *(?:\S*/)?(\S+)")
_LARGE_BYTES = 1 << 30  # of one size without others: less does not fill the links of many hosts
_RISING = 1.1  # growth by twice the size; with less, the largest buffer reaches 90 % of the plateau
_COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")  # gzip, xz, bzip2, zstd, zip
_PROGRAM = re.compile(r"\b([a-z_]+)_perf(?:_mpi)?\b")  # with the suffix of NAME_SUFFIX=_mpi


@dataclass(frozen=True, slots=True)
class Result:
    """What a file contains: the value in the unit of the planned test, None if the program measured nothing.

    `ranks` are the hosts of the ranks of a collective, one for each rank, or () if the file does not have them; `count`
    is their number. `wrong` is the number of wrong elements. `collective` is the name of a collective as in
    COLLECTIVES, or that of another program, "" if the file does not have it. A pair has the RDMA `device` of the file's
    host, and `ends`: the addresses of writer and reader, () if the file does not have them. `times` are (bytes,
    microseconds) of a collective whose bandwidth needs the number of ranks. `curve` are (bytes, GB/s) of a collective.
    `log` is what NCCL printed. `problem` is why the file cannot be read, and `line` is where.
    """

    file: str
    value: float | None
    ranks: tuple[str, ...] = ()
    count: int | None = None
    wrong: int = 0
    collective: str = ""
    device: str = ""
    ends: tuple[str, ...] = ()
    times: tuple[tuple[int, float], ...] = ()
    curve: tuple[tuple[int, float], ...] = ()
    is_pair: bool = False
    log: NcclLog | None = None
    problem: str = ""
    line: int = 0

    def of_ranks(self, ranks: int, collective: str) -> "Result":
        """The result with the largest bus bandwidth of its times, for a collective of `ranks`."""
        if self.value is not None or not self.times:
            return self
        name = self.collective or collective
        curve = tuple((size, bus_gbytes(name, size, time, ranks)) for size, time in self.times)
        return replace(self, value=max(speed for _, speed in curve), curve=curve)

    @property
    def plateau(self) -> float | None:
        """The bandwidth of endless buffers, from the two largest sizes: a buffer of s bytes reaches s / (s + h) of it.
        Infinite, which is not known, for a run that ended where larger buffers are clearly faster; None without
        sizes."""
        best: dict[int, float] = {}
        for size, speed in self.curve:
            best[size] = max(best.get(size, 0.0), speed)
        if self.value is None or not best:
            return None
        sizes = sorted(size for size in best if best[size] > 0)
        if not sizes:
            return math.inf  # too small for two decimals
        last = sizes[-1]
        if len(sizes) == 1:
            return self.value if last >= _LARGE_BYTES else math.inf
        growth = (best[last] / best[sizes[-2]]) ** (1 / math.log2(last / sizes[-2]))  # of twice the size
        return max(self.value, best[last] / (2 - growth)) if growth < _RISING else math.inf


def bus_gbytes(collective: str, size: int, time_us: float, ranks: int) -> float:
    """The bus bandwidth as nccl-tests prints it, from the size that OSU prints: of the buffer of a rank, but in an
    all-gather of one rank's part, and in an all-to-all of what goes to one rank."""
    factor = {"all_reduce": 2 * (ranks - 1) / ranks, "all_gather": ranks - 1, "alltoall": ranks - 1}.get(collective, 1)
    return size * factor / time_us / 1e3


def read_result(file: Path, unit: str) -> Result:
    """The result in a file of one run. `unit` is that of bandwidths of perftest, whose JSON does not contain it.

    Raises UnreadableInputError for a file of another program, or of several runs.
    """
    first, *others = read_results(file, unit)
    if others:
        why = f"{len(others) + 1} runs in the file of one test"
        raise UnreadableInputError(why, Location(str(file), others[0].line))
    return first


def read_results(file: Path, unit: str) -> list[Result]:
    """The results of all runs in a file. If there are several, each has its first line, and a run that cannot be read
    is a result with its problem.

    Raises UnreadableInputError for a file of another program.
    """
    text = read_bytes(file)
    if text.startswith(_COMPRESSED):
        raise UnreadableInputError("the file is compressed; decompress it first", Location(str(file)))
    if _STARTS_JSON.match(text):
        return _from_json(_json(text, file), file, unit)
    runs = printed_runs(text.decode(errors="replace"))
    if len(runs) == 1:
        return [_from_text(runs[0].text, file)]
    found = []
    for run in runs:
        try:
            found.append(replace(_from_text(run.text, file), line=run.line))
        except UnreadableInputError as error:
            found.append(Result(str(file), None, problem=error.problem, line=run.line))
    return found


def _from_json(content: Any, file: Path, unit: str) -> list[Result]:
    if isinstance(content, list) and content and all(isinstance(one, dict) and "test_info" in one for one in content):
        return [found for one in content for found in _from_json(one, file, unit)]
    try:
        if isinstance(content, list) or "busBw" in content:
            return _from_rccl(content if isinstance(content, list) else [content], file)
        if "test_info" in content:
            return [_from_perftest_json(content, file, unit)]
        if isinstance(content.get("end"), dict):
            return [Result(str(file), content["end"]["sum_received"]["bits_per_second"] / 1e9)]
        if "results" in content and "nccl_version" in content:
            return [_from_nccl(content, file)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unknown(file, f": {_in_words(error)}") from error
    raise _unknown(file)


def _in_words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error) if isinstance(error, ValueError) else "a value has another type than the program writes"


def _json(text: bytes, file: Path) -> Any:
    """The content: one value, or the values of several lines. perftest writes one key without its quotes."""
    fixed = _BARE_WORD.sub(b'"sl":', text)
    try:
        return orjson.loads(fixed)
    except orjson.JSONDecodeError as error:
        try:
            return [orjson.loads(line) for line in fixed.splitlines() if line.strip()]
        except orjson.JSONDecodeError:
            raise UnreadableInputError(
                f"not JSON: {error.msg}", Location(str(file), error.lineno, error.colno)
            ) from error


def _unknown(file: Path, why: str = "") -> UnreadableInputError:
    known = "nccl-tests or rccl-tests (text or JSON), perftest (text or JSON), OSU Micro-Benchmarks, iperf3 JSON"
    return UnreadableInputError(f"not a result of a known program{why}; known are {known}", Location(str(file)))


def _from_perftest_json(content: dict[str, Any], file: Path, unit: str) -> Result:
    """The bandwidth of one direction: of a run with -b, the JSON has the sum of both, as the text."""
    test, results = str(content["test_info"].get("test", "")), content["results"]
    if "Latency" in test:
        raise _unknown(file, _LATENCY)
    value = float(results["BW_average" if "BW_average" in results else "bw_avg"]) * _GBPS_OF[unit]
    device = str(content["test_info"].get("Device", ""))
    _refuse_small(int(results.get("MsgSize", 0)), int(content["test_info"].get("Mtu", 0)), file)
    return Result(str(file), value / (2 if "Bidirectional" in test else 1), device=device, is_pair=True)


def _refuse_small(message_bytes: int, mtu_bytes: int, file: Path) -> None:
    """Refuse messages that do not fill a packet: the NIC sends as many as it can, and the link is not full."""
    if 0 < message_bytes < mtu_bytes:
        why = f"messages of {message_bytes} bytes do not fill packets of {mtu_bytes}: measure with -s 1048576"
        raise UnreadableInputError(why, Location(str(file)))


def _from_nccl(content: dict[str, Any], file: Path) -> Result:
    sized = [(int(row.get("size", 0)), half) for row in content["results"] for name in ("out_of_place", "in_place")
             if (half := row.get(name))]  # fmt: skip
    rows = [half for _, half in sized]
    ranks = [str(rank["hostname"]) for rank in content.get("devices", ())]
    wrong = sum(int(row["nwrong"]) for row in rows if row.get("nwrong"))
    groups = {rank.get("group", 0) for rank in content.get("devices", ())}
    if len(groups) > 1:
        raise UnreadableInputError(in_groups(len(groups)), Location(str(file)))
    program = _program(" ".join(map(str, content.get("args", ()))))
    return replace(_collective(file, ((size, row["bus_bw"]) for size, row in sized), ranks, wrong), collective=program)


def _program(text: str) -> str:
    """The collective of the program such as all_reduce_perf that a text has; "" if it has none or several."""
    names = {_COLLECTIVE_NAMES.get(name.replace("_", ""), "") for name in _PROGRAM.findall(text)}
    return names.pop() if len(names) == 1 else ""


def _from_rccl(rows: Sequence[dict[str, Any]], file: Path) -> list[Result]:
    """A result for each collective."""
    of_name: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of_name.setdefault(str(row.get("name", "")).lower(), []).append(row)
    found = []
    for name, group in (of_name or {"": []}).items():
        wrong = sum(int(row["wrong"]) for row in group if str(row.get("wrong", "")).isdecimal())
        one = _collective(file, ((int(row.get("size", 0)), row["busBw"]) for row in group), (), wrong)
        count = int(group[0]["ranks"]) if group and "ranks" in group[0] else None
        found.append(replace(one, count=count, collective=_COLLECTIVE_NAMES.get(name, "")))
    return found


def _from_text(text: str, file: Path) -> Result:
    """The result of one run."""
    if title := PERFTEST_TITLE.search(text):
        if title[3] == "Latency":
            raise _unknown(file, _LATENCY)
        return _from_perftest(text, file, reads=title[1] == "RDMA_Read", directions=2 if title[2] else 1)
    if title := OSU_TITLE.search(text):
        return _from_osu(text, file, title[1])
    return _from_nccl_text(text, file)


def _from_nccl_text(text: str, file: Path) -> Result:
    """The collective is that of the line that says it, or of the command that a shell printed."""
    lines = text.splitlines()
    if not any(_NCCL_COMMENT.match(line) for line in lines):
        raise _unknown(file)
    table = read_table(lines)
    if table.problem:
        raise UnreadableInputError(table.problem, Location(str(file)))
    try:
        found = _collective(file, table.speeds, table.ranks, table.wrong)
    except ValueError as error:
        raise _unknown(file, f": {error}") from error
    starts = next((name[1] for line in lines if (name := _STARTS.match(line))), "")
    return replace(found, collective=_program(starts or text) or starts, log=table.log)


def _from_perftest(text: str, file: Path, *, reads: bool, directions: int) -> Result:
    """The last row, for one of its `directions`; no value of a run that failed. GIDs are sixteen decimal numbers;
    the client writes to the server, or reads from it."""
    text = _PERFTEST_BOTH.split(text, maxsplit=1)[0]
    unit = _PERFTEST_UNIT.search(text)
    row_form = _PERFTEST_ROW_OF_LEVEL if re.search(r"^[ \t]*#bytes\s+#sl\b", text, re.MULTILINE) else _PERFTEST_ROW
    rows = [row for line in text.splitlines() if (row := row_form.match(line))]
    values = [row[2] for row in rows]
    if rows and (mtu := _PERFTEST_MTU.search(text)):
        _refuse_small(int(rows[-1][1]), int(mtu[1]), file)
    if _PERFTEST_FAILED.search(text):
        values = []
    if unit and unit[1] not in _PERFTEST_UNITS:
        raise _unknown(file, f": unit {unit[1]}")
    value = float(values[-1]) * _GBPS_OF[_PERFTEST_UNITS[unit[1]]] / directions if unit and values else None
    device = _PERFTEST_DEVICE.search(text)
    gids = [_address(gid) for gid in _PERFTEST_GID.findall(text)]
    others = sorted({*gids} - {*gids[:1]})
    if len(others) > 1:
        why = f"{len(others) + 1} addresses in one run: its lines are mixed with those of another"
        raise UnreadableInputError(why, Location(str(file)))
    ends = (gids[0], *(others or gids[:1])) if len(gids) > 1 else ()
    if ("Waiting for client" in text) != reads:
        ends = ends[::-1]
    return Result(str(file), value, device=device[1] if device else "", ends=ends, is_pair=True)


def _address(gid: str) -> str:
    """The address of a GID: IPv4 where it is mapped to IPv6."""
    address = IPv6Address(bytes(int(part) % 256 for part in gid.split(":")))
    return str(address.ipv4_mapped or address)


def _from_osu(text: str, file: Path, title: str) -> Result:
    rows = [(int(row[1]), float(row[2])) for line in text.splitlines() if (row := _OSU_ROW.match(line))]
    if title in _OSU_PAIRS:
        value = max((speed for _, speed in rows), default=None)
        gbps = None if value is None else value * BITS_OF_MBYTE / _OSU_PAIRS[title]
        return Result(str(file), gbps, is_pair=True)
    if title in _OSU_COLLECTIVES:
        times = tuple((size, time) for size, time in rows if time > 0)
        return Result(str(file), None, collective=_OSU_COLLECTIVES[title], times=times)
    raise _unknown(file, f": OSU {title}")


def _collective(file: Path, speeds: Iterable[tuple[int, object]], ranks: Sequence[str], wrong: int) -> Result:
    """The largest bus bandwidth of all sizes: small buffers do not fill the links. `speeds` are (bytes, GB/s)."""
    numbers = ((size, float(str(speed))) for size, speed in speeds)
    curve = tuple((size, speed) for size, speed in numbers if math.isfinite(speed))
    hosts = tuple(name.partition(".")[0] for name in ranks)
    value = max((speed for _, speed in curve), default=None)
    return Result(str(file), value, hosts, len(hosts) or None, wrong, curve=tuple(one for one in curve if one[0]))
