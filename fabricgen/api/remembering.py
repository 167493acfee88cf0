"""Verdicts that are remembered: the rules by subject, the deadlock proof, and the analysis of congestion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from fabricgen.api.judgement import Judging
from fabricgen.cache import Store
from fabricgen.cache.readings import Readings
from fabricgen.cache.recorded import Recordable
from fabricgen.cache.traces import remembered
from fabricgen.cache.values import dump_value, load_value
from fabricgen.findings import Finding, Location
from fabricgen.results import CongestionResult, DeadlockResult, without_evidence

if TYPE_CHECKING:
    from fabricgen.routing.fabric import RoutedFabric
    from fabricgen.rules.remembered import RememberedRules
    from fabricgen.rules.view.fabric import LayoutLookup

Result = TypeVar("Result", DeadlockResult, CongestionResult)


@dataclass(frozen=True)
class _Verdicts:
    """What a simulator adds to a judging, and its results as JSON."""

    results: str
    findings: tuple[Finding, ...]
    codes: tuple[str, ...]


@dataclass
class Memory:
    """The verdicts of earlier runs on bundles whose judges can be recorded.

    Both a verdict that was stored and one of now are read from their JSON, so they cannot differ.
    """

    store: Store
    bundle: Recordable
    _rules: "RememberedRules | None" = field(default=None, init=False)
    _readings: Readings | None = field(default=None, init=False)  # of a proof of now, whose routes are used again
    _routed: dict[str, "RoutedFabric"] = field(default_factory=dict, init=False)

    def rules(self, lookup: "LayoutLookup", platforms: object) -> "RememberedRules":
        """How `run` finds the defects of the rules. `platforms` are those that are used before the catalog's."""
        from fabricgen.rules.remembered import RememberedRules

        about = sha256(repr(platforms).encode()).digest()
        self._rules = RememberedRules(self.store, self.bundle, lookup, about)
        return self._rules

    def finish(self) -> None:
        """Store what the rules found, and keep the folder within its size."""
        if self._rules is not None:
            self._rules.finish()
        self.store.shrink()

    def deadlock(
        self, judging: Judging, about: object, prove: Callable[[Judging], Sequence[DeadlockResult]]
    ) -> Sequence[DeadlockResult]:
        """The results of `prove`, which depend on the bundle and on `about`. What it finds is added to `judging`."""

        def run(fresh: Judging, readings: Readings) -> Sequence[DeadlockResult]:
            found = [without_evidence(one) for one in prove(fresh)]
            self._readings, self._routed = readings, fresh.routed
            return found

        found = self._verdicts(judging, "deadlock", about, run, DeadlockResult, None)
        return prove(judging) if found is None else found

    def congestion(
        self, judging: Judging, about: object, analyse: Callable[[Judging], Sequence[CongestionResult]]
    ) -> Sequence[CongestionResult]:
        """The same for the results of `analyse`."""

        def run(fresh: Judging, _: Readings) -> Sequence[CongestionResult]:
            fresh.routed |= self._routed
            return analyse(fresh)

        found = self._verdicts(judging, "congestion", about, run, CongestionResult, self._readings)
        return analyse(judging) if found is None else found

    def _verdicts(
        self,
        judging: Judging,
        kind: str,
        about: object,
        run: Callable[[Judging, Readings], Sequence[Result]],
        result: type[Result],
        readings: Readings | None,
    ) -> Sequence[Result] | None:
        """The results; None if they cannot be remembered."""
        root = str(self.bundle.bundle.root)
        known = frozenset(judging.codes)

        def judge(own: Readings) -> bytes | None:
            fresh = Judging(self.bundle.recorded(own), judging.policy, judging.suppressions, codes=set(known))
            results = dump_value(tuple(run(fresh, own)), tuple[result, ...])  # type: ignore[valid-type]
            if results is None:
                return None
            findings = tuple(_moved(one, root, "") for one in fresh.findings)
            return dump_value(_Verdicts(results.decode(), findings, tuple(sorted(fresh.codes))), _Verdicts)

        key = f"{about!r} {sorted(known)}".encode()
        content = remembered(self.store, kind, key, self.bundle, judge, readings)
        if content is None:
            return None
        found: _Verdicts = load_value(content, _Verdicts)
        judging.findings += [_moved(one, "", root) for one in found.findings]
        judging.codes |= set(found.codes)
        results: tuple[Result, ...] = load_value(found.results.encode(), tuple[result, ...])  # type: ignore[valid-type]
        return results


def memory_of(store: Store | None, judging: Judging) -> Memory | None:
    """The memory of a store; None without one, and for files whose judges cannot be recorded."""
    bundle = Recordable.of(judging.bundle) if store else None
    return Memory(store, bundle) if store and bundle else None


def _moved(one: Finding, old: str, new: str) -> Finding:
    """The finding in another folder. Its texts do not name the folder, because no judge has read its path."""

    def place(location: Location) -> Location:
        path = location.file
        return replace(location, file=f"{new}{path.removeprefix(old)}" if path.startswith(old or "/") else path)

    related = tuple(replace(each, location=place(each.location)) for each in one.related)
    return replace(one, location=place(one.location) if one.location else None, related=related)
