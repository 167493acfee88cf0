"""What a process keeps of one check for the next: the rendered folder, its parsed files, and what judges derived."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fabricgen.api.aside import LastRendering
from fabricgen.api.judgement import Judging, Policy
from fabricgen.bundle.read import Bundle, open_again, open_bundle
from fabricgen.cache.recorded import Recordable
from fabricgen.cache.resident import ResidentBundle
from fabricgen.results import CongestionResult, DeadlockResult, without_evidence
from fabricgen.suppressions import Suppressions

if TYPE_CHECKING:
    from fabricgen.rules.resident import ResidentRules
    from fabricgen.rules.view.fabric import LayoutLookup

Result = TypeVar("Result", DeadlockResult, CongestionResult)
_PROOF = "deadlock"


class ResidentMemory:
    """The verdicts on a bundle and on what it becomes, of which the parts that an edit does not concern are kept."""

    def __init__(self, bundle: ResidentBundle) -> None:
        self._bundle = bundle
        self._rules: tuple[str, ResidentRules] | None = None
        self._verdicts: dict[object, Any] = {}
        self._proof: Callable[[], Any] | None = None

    def become(self, bundle: Bundle, files: frozenset[str]) -> bool:
        """Go on with the bundle after an edit. False if all has to be judged anew."""
        from fabricgen.rules.view.shape import well_shaped

        old = self._bundle.bundle.devices
        new = [one for name, one in bundle.devices.items() if name in old and old[name].content is not one.content]
        return all(well_shaped(one, {}) is one for one in new) and self._bundle.become(bundle, files)

    def rules(self, lookup: "LayoutLookup", platforms: object) -> "ResidentRules | None":
        """How `run` finds the defects of the rules; None for rows of a shape that is not recorded."""
        from fabricgen.rules.recorded import recorded_fabric
        from fabricgen.rules.resident import ResidentRules

        about = repr(platforms)
        if self._rules is None or self._rules[0] != about:
            fabric = recorded_fabric(self._bundle.recorded, lookup, self._bundle.readings)
            if fabric is None:
                return None
            self._rules = about, ResidentRules(self._bundle, fabric)
        return self._rules[1]

    def deadlock(
        self, judging: Judging, about: object, prove: Callable[[Judging], Sequence[DeadlockResult]]
    ) -> Sequence[DeadlockResult]:
        """The results of `prove`, which depend on the bundle and on `about`. What it finds is added to `judging`."""

        def judge(fresh: Judging) -> Sequence[DeadlockResult]:
            return [without_evidence(one) for one in prove(fresh)]

        self._proof = self._kept(judging, (_PROOF, repr(about)), judge)
        return self._added(judging, self._proof)

    def congestion(
        self, judging: Judging, about: object, analyse: Callable[[Judging], Sequence[CongestionResult]]
    ) -> Sequence[CongestionResult]:
        """The same for the results of `analyse`, which uses the routes of the proof."""

        def judge(fresh: Judging) -> Sequence[CongestionResult]:
            if self._proof is not None:
                fresh.routed |= self._proof()[1].routed
            return analyse(fresh)

        return self._added(judging, self._kept(judging, ("congestion", repr(about)), judge))

    def finish(self) -> None:
        """Nothing is stored."""

    def _kept(
        self, judging: Judging, about: tuple[str, str], judge: Callable[[Judging], Sequence[Result]]
    ) -> Callable[[], tuple[Sequence[Result], Judging]]:
        codes = frozenset(judging.codes)

        def now() -> tuple[Sequence[Result], Judging]:
            fresh = Judging(self._bundle.recorded, judging.policy, judging.suppressions, codes=set(codes))
            return judge(fresh), fresh

        return lambda: self._bundle.readings.kept(self._verdicts, (*about, tuple(sorted(codes))), now)

    @staticmethod
    def _added(judging: Judging, found: Callable[[], tuple[Sequence[Result], Judging]]) -> Sequence[Result]:
        results, fresh = found()
        judging.findings += fresh.findings
        judging.codes |= fresh.codes
        return results


class Resident:
    """A folder to render into, again and again, and what was read and judged there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.last = LastRendering(folder)
        self._bundle: Bundle | None = None
        self._memory: ResidentMemory | None = None

    def open(self, policy: Policy) -> Judging:
        """What was rendered, to be judged."""
        files, old, self._bundle = self.last.files.changed(), self._bundle, None
        bundle = open_again(old, files) if old else open_bundle([self.folder])
        if self._memory is None or not self._memory.become(bundle, files):
            recordable = Recordable.of(bundle)
            self._memory = ResidentMemory(ResidentBundle(recordable)) if recordable else None
        self._bundle = bundle
        accepted = bundle.sources.suppressions if bundle.sources else ()
        return Judging(bundle, policy, Suppressions([*accepted, *policy.suppressions]))

    @property
    def memory(self) -> ResidentMemory | None:
        """The verdicts of earlier checks; None for files whose judges cannot be recorded."""
        return self._memory
