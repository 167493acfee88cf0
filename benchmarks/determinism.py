"""Run every verb with other hash seeds, another order of files in the folders, and other numbers of processes.

python -m benchmarks.determinism [INVENTORY ...]

Standard output and all written files are compared byte for byte. Commands that refuse the bundle are listed: they show
nothing. The exit code is 1 if anything differs or ends without a verdict.
"""

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricgen.cli.main import run
from fabricgen.handoff import handoffs

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("quickstart", "spectrum", "dragonfly", "superpod")
VARIANTS = ((0, False, 1), (1, True, 2), (2, True, 1))  # hash seed, reversed order of files, processes

_VERDICTS = ("0", "1", "2", "None")  # exit codes; None is a return without one
_REFUSED = "2"

Digests = dict[str, str]  # command, or file -> sha256


def differences(inventory: Path, variants: Sequence[tuple[int, bool, int]] = VARIANTS) -> tuple[list[str], list[str]]:
    """The commands and files that are not the same in all variants or end without a verdict; and the commands that
    refuse the bundle."""
    found: list[Digests] = []
    for seed, is_reversed, jobs in variants:
        with tempfile.TemporaryDirectory(prefix="fabricgen-determinism-") as folder:
            copy_in_order(inventory, Path(folder) / "inventory", is_reversed=is_reversed)
            command = [sys.executable, "-m", "benchmarks.determinism", "--child", str(int(is_reversed)), str(jobs)]
            path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
            environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout))
    names = dict.fromkeys(name for digests in found for name in digests)
    codes = {name: digest.split()[0] for name, digest in found[0].items() if " " in digest}
    without_verdict = [name for name, code in codes.items() if code not in _VERDICTS]
    refused = [name for name, code in codes.items() if code == _REFUSED]
    return [name for name in names if len({digests.get(name) for digests in found}) > 1] + without_verdict, refused


def copy_in_order(source: Path, target: Path, *, is_reversed: bool) -> None:
    """Copy a folder, file by file in sorted or reversed order, which is the order in the new folders."""
    for file in sorted((file for file in source.rglob("*") if file.is_file()), reverse=is_reversed):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)


def commands(bundle: Path, jobs: int) -> Iterator[tuple[str, ...]]:
    """Every verb on the bundle in the working directory, and on the inventory that it is rendered from."""
    name, many = str(bundle), ("--jobs", str(jobs))
    yield ("validate", name, "--expand", *many)
    yield ("validate", name, "--format", "json", *many)
    yield ("simulate", "deadlock", name, "--failures", "1", "--format", "json", *many)
    yield ("simulate", "deadlock", name, "--certificate", "out/certificate.json")
    yield ("simulate", "congestion", name, "--format", "json", *many)
    yield ("simulate", "packets", name, "--pattern", "permutation", "--size", "10KB")
    yield ("diff", name, "other", "--format", "json")
    yield ("capacity", "inventory", "--format", "json")
    yield ("check", "inventory", "--format", "json", *many)
    switches = sorted(path.parent.name for path in bundle.glob("sonic/*/config_db.json"))
    if switches:
        yield ("explain", name, f"{switches[0]}:PORT|Ethernet0|mtu")
        yield ("import", "config-db", f"{name}/sonic", "-o", "out/imported")
    for each in handoffs():
        yield ("handoff", each, name, "-o", f"out/{each}")


def child(is_reversed: bool, jobs: int) -> Digests:
    """The digests of one variant, in the working directory."""
    found: Digests = {}
    for target in ("bundle.new", "other"):
        found[f"render {target}"] = _digest(("render", "inventory", "-o", target, "-q", "--jobs", str(jobs)))
    copy_in_order(Path("bundle.new"), Path("bundle"), is_reversed=is_reversed)
    for command in commands(Path("bundle"), jobs):
        Path("out").mkdir(exist_ok=True)
        text = " ".join(command).replace(f" --jobs {jobs}", "")
        found[text] = _digest(command)
        found |= {f"{text}: {path}": digest for path, digest in _files(Path("out")).items()}
        shutil.rmtree("out")
    return found | _files(Path("bundle"))


def _files(folder: Path) -> Digests:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _digest(command: Sequence[str]) -> str:
    """The exit code and the sha256 of standard output."""
    code: object = 0
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            run(list(command))
        except SystemExit as stop:
            code = stop.code
    out.flush()
    content = out.buffer.getvalue() if isinstance(out.buffer, io.BytesIO) else b""
    return f"{code} {hashlib.sha256(content).hexdigest()}"


def main(arguments: Sequence[str]) -> int:
    """Run; returns the exit code."""
    if arguments[:1] == ["--child"]:
        print(json.dumps(child(arguments[1] == "1", int(arguments[2]))))
        return 0
    code = 0
    for inventory in arguments or [str(ROOT / "inventories" / name) for name in EXAMPLES]:
        found, refused = differences(Path(inventory))
        print(f"{inventory}: {f'{len(found)} differences' if found else 'the same bytes'}", *found, sep="\n  ")
        for command in refused:
            print(f"  refused: {command}")
        code = 1 if found else code
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
