"""Results of measuring programs: nccl-tests and rccl-tests (text and JSON), perftest, iperf3.

Sources: nccl-tests a0b82b2, src/util.cu; ROCm/cvs dddd914, rccl_lib.py; perftest 00b55b6, src/perftest_parameters.c.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from fabricgen.acceptance.planned import GBPS
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes

MIBYTES = "MiB/s"
UNITS = (GBPS, MIBYTES)
_GBPS_OF = {GBPS: 1.0, MIBYTES: 8 * 2**20 / 1e9}
_RANK = re.compile(r"^#\s+Rank\s+\d+\s.*?\bon\s+(\S+)\s+device\b")
_MEASURED = re.compile(r"^\s*\d+\s+\d+\s+\w+\s+\w+\s+-?\d+\s+(.*)")
_BARE_WORD = re.compile(rb'("sl"\s*:|\bsl:)')


@dataclass(frozen=True, slots=True)
class Result:
    """What a file contains: the value in the unit of the planned test, None if the program measured nothing.

    `ranks` are the hosts of the ranks of a collective, one for each rank, or () if the file does not have them; `count`
    is their number. `wrong` is the number of wrong elements. `problem` is why the file cannot be read,
    and `line` is where.
    """

    file: str
    value: float | None
    ranks: tuple[str, ...] = ()
    count: int | None = None
    wrong: int = 0
    problem: str = ""
    line: int = 0


def read_result(file: Path, unit: str) -> Result:
    """The result in a file. `unit` is that of bandwidths of perftest, which does not write it.

    Raises UnreadableInputError for a file of another program.
    """
    text = read_bytes(file)
    if not text.lstrip().startswith((b"{", b"[")):
        return _from_text(text.decode(errors="replace"), file)
    content = _json(text, file)
    try:
        if isinstance(content, list) or "busBw" in content:
            return _from_rccl(content if isinstance(content, list) else [content], file)
        if "test_info" in content:
            return Result(str(file), _perftest_gbps(content["results"], unit))
        if isinstance(content.get("end"), dict):
            return Result(str(file), content["end"]["sum_received"]["bits_per_second"] / 1e9)
        if "results" in content and "nccl_version" in content:
            return _from_nccl(content, file)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unknown(file, f": {error!r}") from error
    raise _unknown(file)


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
    known = "nccl-tests or rccl-tests (text or JSON), perftest JSON, iperf3 JSON"
    return UnreadableInputError(f"not a result of a known program{why}; known are {known}", Location(str(file)))


def _perftest_gbps(results: dict[str, Any], unit: str) -> float:
    return float(results["BW_average" if "BW_average" in results else "bw_avg"]) * _GBPS_OF[unit]


def _from_nccl(content: dict[str, Any], file: Path) -> Result:
    rows = [half for row in content["results"] for name in ("out_of_place", "in_place") if (half := row.get(name))]
    ranks = [str(rank["hostname"]) for rank in content.get("devices", ())]
    wrong = sum(int(row["nwrong"]) for row in rows if row.get("nwrong"))
    return _collective(file, (row["bus_bw"] for row in rows), ranks, wrong)


def _from_rccl(rows: Sequence[dict[str, Any]], file: Path) -> Result:
    wrong = sum(int(row["wrong"]) for row in rows if str(row.get("wrong", "")).isdecimal())
    found = _collective(file, (row["busBw"] for row in rows), (), wrong)
    return Result(found.file, found.value, (), int(rows[0]["ranks"]) if rows and "ranks" in rows[0] else None, wrong)


def _from_text(text: str, file: Path) -> Result:
    """Rows of size, count, type, redop, root, then time, algbw, busbw and #wrong out of place and in place."""
    ranks: list[str] = []
    speeds: list[str] = []
    wrong = 0
    lines = text.splitlines()
    if not any(line.startswith("#") and "nThread" in line for line in lines):
        raise _unknown(file)
    for line in lines:
        if rank := _RANK.match(line):
            ranks.append(rank[1])
        elif row := _MEASURED.match(line):
            words = row[1].split()
            speeds += words[2::4]
            wrong += sum(int(float(word)) for word in words[3::4] if word != "N/A")
    try:
        return _collective(file, speeds, ranks, wrong)
    except ValueError as error:
        raise _unknown(file, f": {error}") from error


def _collective(file: Path, speeds: Iterable[object], ranks: Sequence[str], wrong: int) -> Result:
    """The largest bus bandwidth of all sizes: small buffers do not fill the links."""
    value = max((float(str(speed)) for speed in speeds), default=None)
    hosts = tuple(name.partition(".")[0] for name in ranks)
    return Result(str(file), value, hosts, len(hosts) or None, wrong)
