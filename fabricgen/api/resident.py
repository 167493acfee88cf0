"""What a process keeps of one check for the next: the rendered folder, its parsed files, and what judges derived."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fabricgen.api.aside import LastRendering
from fabricgen.api.judgement import Judging, Policy
from fabricgen.bundle.inputs import InputBundle, is_one_rendering
from fabricgen.bundle.read import Bundle, open_again, open_bundle
from fabricgen.engine.derived import Engine
from fabricgen.results import CongestionResult, DeadlockResult, IsolationResult, without_evidence
from fabricgen.suppressions import Suppressions

if TYPE_CHECKING:
    from fabricgen.rules.kept import KeptRules
    from fabricgen.rules.view.fabric import LayoutLookup

Result = TypeVar("Result", DeadlockResult, CongestionResult, IsolationResult)


class KeptVerdicts:
    """The verdicts on a bundle and on what it becomes, as values of an engine."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = InputBundle(bundle, Engine())
        self._rules: tuple[str, KeptRules] | None = None

    def become(self, bundle: Bundle, files: frozenset[str]) -> bool:
        """Go on with the bundle after an edit of these files. False if all has to be judged anew."""
        from fabricgen.rules.kept import have_plain_rows

        old = self._bundle.now.devices
        new = [one for name, one in bundle.devices.items() if name in old and old[name].content is not one.content]
        return have_plain_rows(new) and self._bundle.become(bundle, files)

    def rules(self, lookup: "LayoutLookup", platforms: object) -> "KeptRules":
        """How `run` finds the defects of the rules. `platforms` are those that are used before the catalog's."""
        from fabricgen.rules.kept import KeptRules

        about = repr(platforms)
        if self._rules is None or self._rules[0] != about:
            self._bundle = InputBundle(self._bundle.now, Engine())
            self._rules = about, KeptRules(self._bundle, lookup)
        return self._rules[1]

    def deadlock(
        self, judging: Judging, about: object, prove: Callable[[Judging], Sequence[DeadlockResult]]
    ) -> Sequence[DeadlockResult]:
        """The results of `prove`, which depend on the bundle and on `about`. What it finds is added to `judging`."""
        return self._added(judging, "deadlock", about, lambda one: [without_evidence(each) for each in prove(one)])

    def congestion(
        self, judging: Judging, about: object, analyse: Callable[[Judging], Sequence[CongestionResult]]
    ) -> Sequence[CongestionResult]:
        """The same for the results of `analyse`."""
        return self._added(judging, "congestion", about, analyse)

    def isolation(
        self, judging: Judging, about: object, prove: Callable[[Judging], Sequence[IsolationResult]]
    ) -> Sequence[IsolationResult]:
        """The same for the proof that tenants are apart."""
        return self._added(judging, "isolation", about, prove)

    def _added(
        self, judging: Judging, kind: str, about: object, judge: Callable[[Judging], Sequence[Result]]
    ) -> Sequence[Result]:
        codes = frozenset(judging.codes)

        def now() -> tuple[Sequence[Result], Judging]:
            fresh = Judging(self._bundle.seen, judging.policy, judging.suppressions, codes=set(codes))
            return judge(fresh), fresh

        results, fresh = self._bundle.engine.value(now, kind, repr(about), codes)
        judging.findings += fresh.findings
        judging.codes |= fresh.codes
        return results


class Resident:
    """A folder to render into, again and again, and what was read and judged there. `verdicts` are those of earlier
    checks; None for files whose judges cannot be recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.last = LastRendering(folder)
        self.verdicts: KeptVerdicts | None = None
        self._bundle: Bundle | None = None

    def open(self, policy: Policy) -> Judging:
        """What was rendered, to be judged."""
        from fabricgen.rules.kept import have_plain_rows

        files, old, self._bundle = self.last.files.changed(), self._bundle, None
        bundle = open_again(old, files) if old else open_bundle([self.folder])
        if self.verdicts is None or not self.verdicts.become(bundle, files):
            is_kept = is_one_rendering(bundle) and have_plain_rows(bundle.devices.values())
            self.verdicts = KeptVerdicts(bundle) if is_kept else None
        self._bundle = bundle
        accepted = bundle.sources.suppressions if bundle.sources else ()
        return Judging(bundle, policy, Suppressions([*accepted, *policy.suppressions]))
