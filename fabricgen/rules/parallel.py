"""The checks of rules in several processes, which share the parsed files.

Rules of one subject share what they derive from the fabric, so one process runs all of them. Only defects are sent
back, and each refers to its switch by name.
"""

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from fabricgen.bundle.device import ObservedDevice
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Rule, subject_of
from fabricgen.rules.turns import Turns, are_forgotten, is_on_routes
from fabricgen.rules.view.fabric import Fabric
from fabricgen.spread import apart, spread, worthwhile

# The answers of `check_together` for the codes of each part, from processes that have read the same files.
Elsewhere = Callable[[Fabric, Sequence[Sequence[str]]], Iterator[bytes]]

T = TypeVar("T")
_ROUTES = "routes"  # the rules on the routing model, which the work beside reads, too
_LONGEST = (_ROUTES, "schema", "hosts", "bgp")  # parts that begin first, so that none of them is left for the end


class Beside(Generic[T]):
    """Work on the same files that one process does while others check rules. Without processes it has no result."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.result: T | None = None


def checked(
    view: Callable[[], Fabric],
    rules: Sequence[Rule],
    jobs: int = 1,
    elsewhere: Elsewhere | None = None,
    beside: Beside[Any] | None = None,
) -> Callable[[Rule], Iterable[Defect]]:
    """The defects of a rule, in the order in which its check yields them, for each of `rules`. With one job, few
    switches, or so many that tables are forgotten, rules are checked in turns. `elsewhere` checks parts on other
    machines."""
    fabric = view()
    switches = len(fabric.switches)
    jobs = worthwhile(jobs, switches)
    devices = {("switch", name): switch.device for name, switch in fabric.switches.items()}
    devices |= {("file", name): device for name, device in fabric.bundle.devices.items()}

    @contextmanager
    def second(rules: Sequence[Rule]) -> Iterator[Callable[[], dict[str, list[Defect]]]]:
        with apart(lambda: check_together(fabric, rules)) as answer:
            yield lambda: _received(answer(), devices)

    if elsewhere is None and (jobs == 1 or are_forgotten(switches)):
        return Turns(fabric, rules, second if jobs > 1 else None).defects
    parts = {name: members for name, members in _parts(rules).items() if members or (beside and name == _ROUTES)}
    if elsewhere is None:
        _ = fabric.ends_of, fabric.pairs  # before the fork: the processes share them
        answers = _in_processes(fabric, parts, jobs, beside)
    else:
        answers = elsewhere(fabric, [[rule.code for rule in members] for members in parts.values()])
    found: dict[str, list[Defect]] = {}
    for defects in answers:
        found |= _received(defects, devices)
    return lambda rule: found[rule.code]


def _parts(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    """The rules that one process checks together: those on the routes, and those of each subject."""
    parts: dict[str, list[Rule]] = {name: [] for name in _LONGEST}
    for rule in rules:
        parts.setdefault(_ROUTES if is_on_routes(rule) else subject_of(rule), []).append(rule)
    return parts


def _in_processes(
    fabric: Fabric, parts: Mapping[str, Sequence[Rule]], jobs: int, beside: Beside[Any] | None
) -> Iterator[bytes]:
    """The answers of `check_together`, and the result of the work beside."""

    def done(name: str) -> tuple[Any, bytes]:
        result = beside.work() if beside and name == _ROUTES else None
        return result, check_together(fabric, parts[name])

    for name, (result, answer) in zip(parts, spread(done, [*parts], jobs), strict=True):
        if beside and name == _ROUTES:
            beside.result = result
        yield answer


def check_together(fabric: Fabric, rules: Sequence[Rule]) -> bytes:
    """The defects of the rules of a part, as `checked` receives them."""
    return _sent({rule.code: list(rule.check(fabric)) for rule in rules}, fabric)


def _sent(defects: Mapping[str, list[Defect]], fabric: Fabric) -> bytes:
    """The defects, with each device by its name. A device whose tables have another shape has two objects."""
    files, switches = fabric.bundle.devices, fabric.switches

    def name(one: Any) -> tuple[str, str] | None:
        if not isinstance(one, ObservedDevice):
            return None
        switch = switches.get(one.name)
        if switch and switch.device is one:
            return "switch", one.name
        return ("file", one.name) if files.get(one.name) is one else None

    stream = io.BytesIO()
    pickler = pickle.Pickler(stream, pickle.HIGHEST_PROTOCOL)
    pickler.persistent_id = name  # type: ignore[method-assign]
    pickler.dump(defects)
    return stream.getvalue()


def _received(sent: bytes, devices: Mapping[tuple[str, str], Any]) -> dict[str, list[Defect]]:
    unpickler = pickle.Unpickler(io.BytesIO(sent))
    unpickler.persistent_load = devices.__getitem__  # type: ignore[method-assign]
    found: dict[str, list[Defect]] = unpickler.load()
    return found
