"""An inventory in an editor: judged with the texts that are not saved yet, and the values that it renders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen.api.judgement import DEFAULT_POLICY, Policy, outcome_of_inventory
from fabricgen.api.places import InventoryPlaces
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, has_errors
from fabricgen.inputs import unsaved

if TYPE_CHECKING:
    from fabricgen.bundle.sources import Sources
    from fabricgen.inventory.nodes import Node
    from fabricgen.render.plans import Plans
    from fabricgen.render.switches import RenderedSwitch


@dataclass(frozen=True)
class RenderedValue:
    """A value of a switch's file: its device, TABLE|key|field, and text."""

    device: str
    path: str
    value: str


@dataclass(frozen=True)
class Draft:
    """The findings of the inventory stage of `check`. `problem` is the error of a file that cannot be read, None if all
    files were read; with a problem, nothing was checked."""

    findings: tuple[Finding, ...] = ()
    problem: UnreadableInputError | None = None
    plans: "Plans | None" = None

    @property
    def tree(self) -> "Node | None":
        """The merged inventory without its invalid parts; None if it could not be read."""
        return self.plans.fabric.inventory.node if self.plans else None

    @cached_property
    def switch_names(self) -> Sequence[str]:
        """The names of all switches, in the order of the design."""
        return tuple(self.plans.allocation.names.values()) if self.plans else ()

    @cached_property
    def capacity(self) -> Mapping[str, Mapping[str, Any]]:
        """Plane -> its row of the capacity table."""
        from fabricgen.render.plans import capacity_table

        return {plane["name"]: plane for plane in capacity_table(self.plans.fabric)["planes"]} if self.plans else {}

    def values(self, place: str) -> Iterator[RenderedValue]:
        """The values that come from an inventory value, file#dotted.path, or from one below it.

        Of equal switches, and of equal ports of a switch, the first is shown. Nothing is rendered while the inventory
        has errors.
        """
        sources, samples = self._samples
        for sample in samples:
            for path, value in sources.caused(sample.name, sample.tables, place) if sources else ():
                yield RenderedValue(sample.name, path, value)

    @cached_property
    def _samples(self) -> "tuple[Sources | None, Sequence[RenderedSwitch]]":
        """One switch of each plane, role and layout, with the sources of its values."""
        if self.plans is None or has_errors(self.plans.findings):
            return None, ()
        import orjson

        from fabricgen.bundle.sources import Sources
        from fabricgen.render.sources import DeviceSources, dump_sources
        from fabricgen.render.switches import SwitchRenderer
        from fabricgen.render.templates import TemplateLibrary

        plans, library = self.plans, TemplateLibrary("sonic", self.plans.templates)
        renderer = SwitchRenderer(
            plans.rendered, plans.allocation, plans.control, plans.planner, library, plans.cordons,
            plans.tenants,
        )  # fmt: skip
        first = {
            (one.identity.plane, one.role, one.layout.hwsku, one.layout.name): one
            for one in reversed(plans.rendered.switches)
        }
        rendered = [found for one in reversed(first.values()) if (found := renderer.render(one))]
        devices = [DeviceSources(one.name, one.forms, one.port_forms) for one in rendered]
        return Sources(orjson.loads(dump_sources(library.marks.origins, library.forms, devices))), rendered


def judge_draft(inventory: Path, texts: Mapping[Path, str], policy: Policy = DEFAULT_POLICY) -> Draft:
    """Judge an inventory, a YAML file or a folder, as far as `check` does before it renders.

    `texts` are the files that an editor has changed: resolved path -> text. Nothing is written.
    """
    from fabricgen.inventory.load import LOCK_NAME, inventory_root
    from fabricgen.render.plans import lock_would_change, make_plans

    with unsaved(texts):
        try:
            plans = make_plans(inventory)
        except UnreadableInputError as problem:
            return Draft(problem=problem)
        plans.findings += lock_would_change(plans, inventory_root(inventory) / LOCK_NAME, strict=False)
        places = InventoryPlaces(None, inventory, plans.fabric.inventory.node)
        outcome = outcome_of_inventory(plans.findings, plans.fabric.inventory.suppressions, places, policy)
    return Draft(outcome.findings, plans=plans)
