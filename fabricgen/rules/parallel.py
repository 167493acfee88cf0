"""The checks of rules in several processes, which share the parsed files.

Rules of one module share what they derive from the fabric, so one process runs all of them. Only defects are sent back,
and each refers to its switch by name.
"""

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from fabricgen.bundle.device import ObservedDevice
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, Rule
from fabricgen.rules.turns import Turns, are_forgotten
from fabricgen.rules.view.fabric import Fabric
from fabricgen.spread import apart, spread, worthwhile

# The answers of `check_module` for the codes of each module, from processes that have read the same files.
Elsewhere = Callable[[Fabric, Sequence[Sequence[str]]], Iterator[bytes]]

T = TypeVar("T")
_BESIDE = ""  # in place of the name of a module: rules on the routes, which the work beside reads, too
_SLOWEST = (Basis.SCHEMA, Basis.CONSEQUENCE)  # they read every row, and the routes: the other rules run beside them


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
    switches, or so many that tables are forgotten, rules are checked in turns. `elsewhere` checks modules on other
    machines."""
    fabric = view()
    switches = len(fabric.switches)
    jobs = worthwhile(jobs, switches)
    devices = {("switch", name): switch.device for name, switch in fabric.switches.items()}
    devices |= {("file", name): device for name, device in fabric.bundle.devices.items()}

    @contextmanager
    def second(rules: Sequence[Rule]) -> Iterator[Callable[[], dict[str, list[Defect]]]]:
        with apart(lambda: check_module(fabric, rules)) as answer:
            yield lambda: _received(answer(), devices)

    if elsewhere is None and (jobs == 1 or are_forgotten(switches)):
        return Turns(fabric, rules, second if jobs > 1 else None).defects
    modules: dict[str, list[Rule]] = {_BESIDE: []} if beside else {}  # the longest work first
    for rule in sorted(rules, key=lambda rule: rule.basis not in _SLOWEST):
        name = _BESIDE if beside and rule.basis is Basis.CONSEQUENCE else rule.check.__module__
        modules.setdefault(name, []).append(rule)
    if elsewhere is None:
        _ = fabric.ends_of, fabric.pairs  # before the fork: the processes share them
        answers = _in_processes(fabric, modules, jobs, beside)
    else:
        answers = elsewhere(fabric, [[rule.code for rule in members] for members in modules.values()])
    found: dict[str, list[Defect]] = {}
    for defects in answers:
        found |= _received(defects, devices)
    return lambda rule: found[rule.code]


def _in_processes(
    fabric: Fabric, modules: Mapping[str, list[Rule]], jobs: int, beside: Beside[Any] | None
) -> Iterator[bytes]:
    """The answers of `check_module`, and the result of the work beside."""

    def done(name: str) -> tuple[Any, bytes]:
        result = beside.work() if beside and name == _BESIDE else None
        return result, check_module(fabric, modules[name])

    for name, (result, answer) in zip(modules, spread(done, [*modules], jobs), strict=True):
        if beside and name == _BESIDE:
            beside.result = result
        yield answer


def check_module(fabric: Fabric, rules: Sequence[Rule]) -> bytes:
    """The defects of the rules of a module, as `checked` receives them."""
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
