"""fabricgen in a process that finds the package of a test."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOOP = """\
import io, json, sys
from fabricgen.cli.main import run
requests, answers = sys.stdin, sys.stdout
for line in requests:
    sys.stdout, sys.stderr = out, err = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "oe"]
    try:
        run(json.loads(line))
    except SystemExit as end:
        code = end.code or 0
    texts = [one.buffer.getvalue().decode() for one in (out, err)]
    print(json.dumps([code, *texts]), file=answers, flush=True)
"""
Done = subprocess.CompletedProcess[str]


class Installed:
    """Runs commands one after the other in one process, which imports fabricgen and the package once."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def __call__(self, *arguments: str | Path) -> Done:
        """The exit code and the output of a command."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests and answers
        words = [str(argument) for argument in arguments]
        print(json.dumps(words), file=requests, flush=True)
        return Done(words, *json.loads(answers.readline()))


@contextmanager
def installed(site: Path) -> Iterator[Installed]:
    """fabricgen with the package of a folder on the path."""
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    with subprocess.Popen(
        [sys.executable, "-c", LOOP], env={**os.environ, "PYTHONPATH": path}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        yield Installed(process)
