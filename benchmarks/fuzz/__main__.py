"""Mutate the inputs of fabricgen and run it on each, in one process: no exit code 3, no hang, under 2 GiB.

python -m benchmarks.fuzz [--inputs N] [--seed N] [--only GLOB]

Each failing input is written with its command and traceback to build/fuzz/KIND/, once for each kind. The exit code is 1
if there is any. The inputs depend only on the seed and the sources.
"""

import argparse
import contextlib
import fnmatch
import gc
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.fuzz.mutate import mutated
from benchmarks.fuzz.run import LONGEST_CPU_S, Outcome, run_command
from benchmarks.fuzz.seeds import Case, build, cases, warm_up

MOST_MIB = 2048
KEPT = Path("build/fuzz")
_FRAME = re.compile(r'File "[^"]*/(fabricgen/[^"]+)", line (\d+), in (\S+)')


@dataclass
class Report:
    """What happened: exit codes, and how often each kind of failure."""

    codes: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", help="files of the cases, for example 'roce.bundle/*'")
    given = parser.parse_args(arguments)
    report = fuzz(given.inputs, given.seed, given.only)
    peak = peak_mib()
    codes = ", ".join(f"{count} with exit code {code}" for code, count in sorted(report.codes.items()))
    print(
        f"{given.inputs} inputs: {codes}; peak {peak} MiB; slowest {report.slowest[0]:.1f} s CPU: {report.slowest[1]}"
    )
    for kind, count in report.kinds.most_common():
        print(f"{count:6} {kind}")
    return 1 if report.kinds or peak > MOST_MIB else 0


def peak_mib() -> int:
    """The peak of the resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def fuzz(inputs: int, seed: int, only: str = "*") -> Report:
    """Run so many mutated inputs."""
    report, chosen = Report(), [case for case in cases() if fnmatch.fnmatch(case.files, only)]
    kept = KEPT.absolute()
    with _workplace() as top:
        folder = top / "0"
        folder.mkdir()
        build(folder)
        os.chdir(folder)
        for command in warm_up():
            run_command(command, None)
        base = shutil.copytree(folder, top / "base", symlinks=True)
        for number in range(inputs):
            random = Random(f"{seed}/{number}")  # a string is hashed with SHA-512: the same in each process
            folder = folder.rename(top / str(number))  # files are remembered by path
            os.chdir(folder)
            _one(random, base, folder, chosen, report, kept)
            if number % 50 == 0:
                gc.collect()
            if number % 1000 == 999:
                print(
                    f"{number + 1} inputs, {len(report.kinds)} kinds, peak {peak_mib()} MiB",
                    file=sys.stderr,
                    flush=True,
                )
    return report


@contextlib.contextmanager
def _workplace() -> Iterator[Path]:
    """A temporary folder. No program of the machine, such as OpenSM, is found meanwhile."""
    before, path = Path.cwd(), os.environ["PATH"]
    with tempfile.TemporaryDirectory(prefix="fabricgen-fuzz-") as name:
        os.environ["PATH"] = name
        try:
            yield Path(name)
        finally:
            os.chdir(before)
            os.environ["PATH"] = path


def _one(random: Random, base: Path, folder: Path, chosen: list[Case], report: Report, kept: Path) -> None:
    case = random.choices(chosen, [case.weight for case in chosen])[0]
    files = sorted(file.relative_to(base) for file in base.glob(case.files) if file.is_file() and not file.is_symlink())
    name = random.choice(files)
    command = [word.format(parent=name.parent) for word in random.choice(case.commands)]
    content = mutated(name.name, (base / name).read_bytes(), random)
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    start = time.process_time()
    outcome = run_command(command)
    used, peak = time.process_time() - start, peak_mib()
    report.codes[outcome.code] += 1
    report.slowest = max(report.slowest, (used, f"{' '.join(command)} ({name})"))
    kind = _kind(outcome, peak)
    if kind:
        if kind not in report.kinds:
            _keep(kept / re.sub(r"[^\w.-]+", "-", kind), name, content, command, outcome)
        report.kinds[kind] += 1
    _restore(base, folder, name)


def _kind(outcome: Outcome, peak: int) -> str:
    """A name of the failure: the exception and the place in fabricgen; "" for a success."""
    if outcome.code not in (3, 124, 130) and peak <= MOST_MIB:
        return ""
    if outcome.code == 124 or outcome.cpu_s > LONGEST_CPU_S:
        return outcome.error.strip().splitlines()[-1] if outcome.error.strip() else "hang"
    frames = _FRAME.findall(outcome.error)
    lines = [line for line in outcome.error.splitlines() if line.startswith("fabricgen has a bug")]
    problem = lines[-1].split(": ")[1] if lines else f"exit {outcome.code}, {peak} MiB"
    return f"{problem} at {frames[-1][0]}:{frames[-1][1]} {frames[-1][2]}" if frames else problem


def _keep(place: Path, name: Path, content: bytes, command: Sequence[str], outcome: Outcome) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / name.name).write_bytes(content)
    (place / "command").write_text(f"# {name} was replaced\nfabricgen {' '.join(command)}\n")
    (place / "stderr").write_text(outcome.error)


def _restore(base: Path, folder: Path, name: Path) -> None:
    """Undo what the mutation and the command have written."""
    for made in folder.glob("out*"):
        shutil.rmtree(made) if made.is_dir() else made.unlink()
    for file in {name, *(Path(each) / "allocations.lock.yaml" for each in ("roce", "infiniband"))}:
        shutil.copyfile(base / file, folder / file)


if __name__ == "__main__":
    sys.exit(main())
