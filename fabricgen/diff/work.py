"""The changes of a switch with what they cost, once for all switches with the same changes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabricgen.diff.buffermgrd import written_back
from fabricgen.diff.changes import Change, changes
from fabricgen.diff.drift import Drift, sort_out
from fabricgen.diff.likeness import likeness
from fabricgen.diff.patch import Operation, Route, holds_secret, operations, route, worst
from fabricgen.diff.patch_findings import written_back_message
from fabricgen.diff.plan import Plan, make_plan
from fabricgen.diff.price import Price, price
from fabricgen.diff.sorting import Sorting, sorting
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater.verdicts import Cost


@dataclass(frozen=True, eq=False)
class Work:
    """The changes of a switch. `old` and `new` are the configurations of the first switch that has them."""

    drift: Drift
    old: ConfigDb
    new: ConfigDb
    release: int

    @property
    def changes(self) -> Sequence[Change]:
        """The changes, without the rows that the switch adds."""
        return self.drift.changes

    @cached_property
    def patch(self) -> list[Operation]:
        """The operations that change the old configuration into the new one; none if one patch cannot make them."""
        return [] if self.problem else operations(self.changes, self.old, self.new)

    @cached_property
    def cost(self) -> Cost:
        """The highest cost of the changes."""
        return worst({change.verdict.cost for change in self.changes})

    @property
    def route(self) -> Route:
        """How the changes come to the switch as one patch: apply-patch | plan | reload | reboot."""
        found = route(self.cost)
        return Route.PLAN if found is Route.APPLY_PATCH and self.problem else found

    @cached_property
    def problem(self) -> str:
        """Why one patch does not make the changes although the updater accepts each of them; "" if it does."""
        late = written_back(self.changes, self.old, self.new, self.release)
        return self.sorting.problem or (written_back_message(late, self.release) if late else "")

    @cached_property
    def sorting(self) -> Sorting:
        """What the updater does with one patch that has all changes."""
        return sorting(self.changes, self.old, self.new, self.release)

    @cached_property
    def price(self) -> Price:
        """The time and the memory of this patch."""
        return price(self.sorting)

    @cached_property
    def plan(self) -> Plan:
        """The patches in order, or a reload."""
        from fabricgen.diff.lookup import profiles  # only a plan needs the catalog

        return make_plan(self.old, self.new, self.release, self.changes, profiles(self.new, self.release))

    @cached_property
    def withheld(self) -> int:
        """The number of changes that contain a secret, which no patch shows."""
        return sum(map(holds_secret, self.changes))


@dataclass
class Works:
    """The work of all switches of a comparison. `drift`: one side is a running fabric."""

    drift: bool
    running_is_new: bool
    _known: dict[Hashable, Work] = field(default_factory=dict)

    def of(self, old: ConfigDb, new: ConfigDb, release: int) -> Work:
        """The work of a switch."""
        key = likeness(old, new, release)
        if (found := self._known.get(key)) is None:
            differences = changes(old, new, release)
            drift = sort_out(differences, running_is_new=self.running_is_new) if self.drift else Drift(differences)
            found = self._known[key] = Work(drift, old, new, release)
        return found
