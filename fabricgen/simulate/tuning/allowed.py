"""Whether the rules on lossless QoS allow a setting: they must not add findings to those of the files."""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabricgen.results import Setting
from fabricgen.rules.run import run
from fabricgen.simulate.tuning.files import TunedFiles

_RULES = ("FG52", "FG54")  # buffers, marking


@dataclass
class Allowed:
    """The verdicts of the rules on settings, each judged once."""

    files: TunedFiles
    _known: dict[Setting, tuple[str, ...]] = field(default_factory=dict)

    def refusals(self, setting: Setting) -> tuple[str, ...]:
        """The codes that a setting adds to those of the present files; empty if it is allowed."""
        key = replace(setting, queue_pairs=self.files.present.queue_pairs)  # no rule on switches depends on these
        if key not in self._known:
            found = self._codes(key)
            self._known[key] = tuple(sorted(code for code, count in found.items() if count > self._now[code]))
        return self._known[key]

    @property
    def refused(self) -> Counter[str]:
        """How many of the judged settings each code refuses."""
        return Counter(code for codes in self._known.values() for code in codes)

    @cached_property
    def _now(self) -> Counter[str]:
        return self._codes(self.files.present)

    def _codes(self, setting: Setting) -> Counter[str]:
        found = run(self.files.with_setting(setting), _RULES)
        return Counter(finding.code for finding in found for _ in range(finding.count))
