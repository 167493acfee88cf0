"""The runs in a text: the log of a job often has those of several programs, one behind another.

What starts a run: nccl-tests a0b82b2, src/util.cu, writeDeviceReport; perftest 00b55b6, src/perftest_parameters.c,
ctx_print_test_info, and the banner of a server; OSU Micro-Benchmarks, print_header. ROCm/rccl 2075 has such a log.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

PERFTEST_TITLE = re.compile(
    r"^[ \t]+(RDMA_Write|RDMA_Read|Send|Atomic)(?:_imm)? (Bidirectional )?.*\b(BW|Latency) Test\s*$", re.MULTILINE
)
OSU_TITLE = re.compile(r"^# OSU (?:MPI|NCCL|RCCL)\S* (.+?) (?:Latency )?Test\b", re.MULTILINE)
# The time that `docker logs --timestamps` and `kubectl logs --timestamps` put in front of lines, and the rank or host:
# Open MPI (--tag-output, --timestamp-output), PRRTE, Slurm (srun --label), Hydra of MPICH and Intel MPI
# (-prepend-rank), `kubectl logs --prefix`, clush and pdsh.
_LAUNCHER = re.compile(
    r"^(?:\d{4}-\d\d-\d\dT[\d:.]{8,}(?:Z|[+-]\d\d:\d\d) )?"
    r"(?:.{0,40}\[[^\s\[\]]*\d+,\d+\]<std(?:out|err)>: ?| *\d+: |\[(?:\d+|pod/\S+)\] |[a-z][\w.-]*: )?",
    re.MULTILINE,
)
_NCCL_HEAD = re.compile(r"#?\s*nThread \d+ nGpus ")
_NCCL_BEFORE = re.compile(r"# (?:nccl-tests version |Collective test starting:)")
# Ranks and rows of nccl-tests, addresses of perftest, rows of OSU.
_CONTENT = re.compile(r"#?\s+Rank +\d+ |\s*\d+\s+\d+\s+[a-z]\w*\s|\s*local address:|\d+\s+[\d.]+\s*$")
_NCCL_FOOT = re.compile(r"# Avg bus bandwidth\s*:")
_SERVER = re.compile(r"\* Waiting for client to connect")


@dataclass
class PrintedRun:
    """The lines of one run. `line` is the number of the first one in the file."""

    line: int
    lines: list[str] = field(default_factory=list)
    has_head: bool = False
    has_content: bool = False
    has_foot: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def printed_runs(text: str) -> list[PrintedRun]:
    """The runs in a text, without the ranks in front of lines; one with all lines if no program is known."""
    lines = _LAUNCHER.sub("", text).splitlines()
    found = [run for run in _split(lines) if run.has_head or run.has_foot]
    return found if len(found) > 1 else [PrintedRun(1, lines)]


def _split(lines: list[str]) -> Iterator[PrintedRun]:
    run = PrintedRun(1)
    for number, line in enumerate(lines, 1):
        is_nccl_head = bool(_NCCL_HEAD.match(line))
        is_title = bool(PERFTEST_TITLE.match(line) or OSU_TITLE.match(line))
        starts = is_title or is_nccl_head or bool(_NCCL_BEFORE.match(line) or _SERVER.match(line))
        # Processes that run at the same time print their heads before one of them prints more.
        if (starts and run.has_head and run.has_content) or (run.has_foot and (starts or not line.startswith("#"))):
            yield run
            run = PrintedRun(number)
        run.lines.append(line)
        run.has_head |= is_title or is_nccl_head
        run.has_content |= bool(_CONTENT.match(line))
        run.has_foot |= bool(_NCCL_FOOT.match(line))
    yield run
