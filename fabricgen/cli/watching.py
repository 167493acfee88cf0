"""`check --watch`: judge an inventory again whenever a file that was read changes, and show what differs."""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from fabricgen.cli.settings import Settings
from fabricgen.cli.streams import write
from fabricgen.errors import FabricgenError
from fabricgen.findings import Finding
from fabricgen.inputs import noted
from fabricgen.report.formats.concise import concise_report
from fabricgen.report.isolation import isolation_headline
from fabricgen.report.summary import headline
from fabricgen.results import CongestionModel, Verdict
from fabricgen.units import counted
from fabricgen.visible import visible

if TYPE_CHECKING:
    from fabricgen.api.checking import Check

_POLL_S = 0.25
_SETTLED_S = 0.1  # an editor that writes a file anew may remove it first
State = Mapping[Path, tuple[object, ...]]


def watch_inventories(
    settings: Settings,
    inventories: Sequence[Path],
    bundle: Path,
    judge: Callable[[], "Check"],
    show: Callable[["Check", Path], int],
) -> NoReturn:
    """Judge now and after each change, until an interrupt.

    `judge` renders into `bundle`; `show` prints the first result. Of later ones the verdict and the findings that
    are new or gone are printed. An inventory that cannot be read is reported, and judged again when it changes.
    """
    last: Check | None = None
    files = set(inventories)
    while True:
        before, began_ns = state_of(files), time.time_ns()
        with noted(bundle) as read:
            try:
                found = judge()
            except FabricgenError as problem:
                write(f"error: {visible(str(problem))}", err=True, wraps=True)
            else:
                if last is None:
                    show(found, bundle)
                else:
                    color = settings.paints(sys.stdout)
                    write(difference(last, found, f"{bundle}/", color).rstrip("\n"), color=color, wraps=True)
                last = _without_folder(found, f"{bundle}/")
            files |= read.files.keys()  # some are read once and kept
        settings.say(f"watching {counted(len(files), 'file')}; Ctrl-C ends")
        changed = wait_for_change(files, before, began_ns)
        settings.say(f"changed: {', '.join(sorted(map(str, changed)))}")


def state_of(files: Collection[Path]) -> State:
    """File -> what changes when it is written or replaced; of a folder, the names in it. () for a missing file."""
    found: dict[Path, tuple[object, ...]] = {}
    for path in files:
        found[path] = ()
        with suppress(OSError):
            if path.is_dir():
                found[path] = tuple(sorted(each.name for each in path.iterdir() if not each.name.startswith(".")))
            else:
                about = path.stat()
                found[path] = (about.st_mtime_ns, about.st_size, about.st_ino)
    return found


def wait_for_change(files: Collection[Path], before: State, began_ns: int) -> list[Path]:
    """The files that differ from their state before the run, as soon as they rest.

    A file that the run was the first to read counts as changed if it was written after the run began.
    """
    now = state_of(files)
    known = {path: before.get(path, () if _written_since(path, began_ns) else now[path]) for path in files}
    for now in _states(files):
        if now != known and now == _later(files):
            return [path for path in files if now[path] != known[path]]
    raise AssertionError("the states do not end")


def _states(files: Collection[Path]) -> Iterator[State]:
    while True:
        yield state_of(files)
        time.sleep(_POLL_S)


def _later(files: Collection[Path]) -> State:
    time.sleep(_SETTLED_S)
    return state_of(files)


def _written_since(path: Path, moment_ns: int) -> bool:
    try:
        return path.is_file() and path.stat().st_mtime_ns >= moment_ns
    except OSError:
        return False


def difference(old: "Check", new: "Check", folder: str, color: bool) -> str:
    """The verdict, and the findings that are new (+) or gone (-). A finding that only moves to another line is neither.

    `folder` is the bundle of the new result, which is left out of the texts.
    """
    new = _without_folder(new, folder)
    before, after = ({_key(one): one for one in each.findings} for each in (old, new))
    added = [one for key, one in after.items() if key not in before]
    gone = [one for key, one in before.items() if key not in after]
    simulated = ["deadlock"] * any(one.verdict is not Verdict.UNKNOWN for one in new.deadlock)
    simulated += ["congestion"] * any(one.model is not CongestionModel.SKIPPED for one in new.congestion)
    tenants = [*isolation_headline(new.isolation)]
    lines = [headline(new.findings, new.counts, simulated, failed=new.has_errors, verdicts=tenants)]
    for sign, those in (("+", added), ("-", gone)):
        lines += [f"{sign} {line}" for line in concise_report(those, color).splitlines()]
    if not (added or gone):
        lines.append("no finding differs")
    return "\n".join(lines) + "\n"


def _key(one: Finding) -> tuple[str, ...]:
    return (one.code, one.severity, one.device, one.path, one.message, str(one.twin), *one.devices)


def _without_folder(found: "Check", folder: str) -> "Check":
    """The result with findings that do not name the temporary folder."""

    def shortened(one: Finding) -> Finding:
        location = one.location and replace(one.location, file=one.location.file.removeprefix(folder))
        return replace(one, message=one.message.replace(folder, ""), location=location)

    return replace(found, findings=tuple(map(shortened, found.findings)))
