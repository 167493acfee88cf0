"""The files of a bundle as named bytes, made one after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from fabricgen.atomic import Private
from fabricgen.bundle.fabric_file import dump_wiring
from fabricgen.bundle.read import PLATFORMS
from fabricgen.control_plane.tenant_settings import plan_tenant_settings
from fabricgen.design.model import Fabric, Switch
from fabricgen.design.subnets import split_subnets
from fabricgen.errors import UsageError
from fabricgen.findings import has_errors
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.render.file_patterns import FilePatterns
from fabricgen.render.forms import LineForm, LineMarks
from fabricgen.render.hosts import FOLDER as HOSTS_FOLDER
from fabricgen.render.hosts import HostRenderer, host_groups
from fabricgen.render.infiniband import FOLDER, SubnetRenderer
from fabricgen.render.overrides import apply_overrides, matches
from fabricgen.render.plans import Plans
from fabricgen.render.sources import DeviceSources, LineSources, dump_sources
from fabricgen.render.switches import SwitchRenderer
from fabricgen.render.templates import TemplateLibrary
from fabricgen.render.wiring import dump_cabling, make_wiring
from fabricgen.sonic.dump import dump
from fabricgen.sonic.secrets import literals, may_have_forms
from fabricgen.spread import spread

RenderedFile = tuple[bytes | None, DeviceSources]
Elsewhere = Callable[["BundleContent"], Iterator[RenderedFile]]  # those of all switches, in their order

JOBS_FROM_SWITCHES = 64  # below, starting processes costs more than it saves


def own_platforms(fabric: Fabric) -> list[SwitchPlatform]:
    """The switch models that differ from the catalog's: of the inventory's own files, or with stated buffers."""
    used = {switch.platform.name: switch.platform for switch in fabric.switches}
    return [platform for name, platform in sorted(used.items()) if platform != switch_platform(name)]


@dataclass
class BundleContent:
    """The files of a bundle, rendered one after the other on demand."""

    plans: Plans
    templates: Path | None = None
    only: str | None = None
    jobs: int = 1
    elsewhere: Elsewhere | None = None  # renders the switches on other machines

    def __post_init__(self) -> None:
        plans = self.plans
        assert not has_errors(plans.findings)
        self._library = TemplateLibrary("sonic", self.templates)
        self._renderer = SwitchRenderer(
            plans.rendered, plans.allocation, plans.control, plans.planner, self._library, plans.cordons
        )
        self._patterns = FilePatterns(lambda formed: self._renderer.stamped(formed).tables)
        marks = LineMarks(self._library.marks)
        self._lines = TemplateLibrary(FOLDER, self.templates, marks)
        self._host_lines = TemplateLibrary(HOSTS_FOLDER, self.templates, marks)
        self.names = [plans.allocation.names[switch.key] for switch in plans.rendered.switches]
        self.chosen = [
            switch
            for switch, name in zip(plans.rendered.switches, self.names, strict=True)
            if self.only is None or fnmatchcase(name, self.only)
        ]
        if not self.chosen and self.only is not None:
            raise UsageError(f"--only {self.only}: no switch name matches")

    def files(self) -> Iterator[tuple[str, bytes]]:
        """(path in the bundle, bytes) of every file but the manifest. Raises TemplateProblemError."""
        wiring = make_wiring(self.plans.fabric, self.plans.allocation, self.plans.control.outside, self.plans.cordons)
        sources: list[DeviceSources] = []
        for content, source in self._switches():
            sources.append(source)
            if content is not None:
                yield f"sonic/{source.name}/config_db.json", content
        subnets = SubnetRenderer(self.plans.allocation, self._lines, len(self._library.forms))
        for design in self.plans.fabric.planes:
            if choice := self.plans.subnets.get(design.plane.name):
                for subnet in split_subnets(design):
                    yield from subnets.files(subnet, choice)
        plans = self.plans
        first = subnets.first_form + len(subnets.forms)
        tenants = plan_tenant_settings(plans.fabric, plans.allocation)
        hosts = HostRenderer(plans.fabric, plans.allocation, plans.planner, self._host_lines, tenants, first)
        for group in host_groups(plans.fabric, plans.allocation):
            yield from hosts.files(group)
        for platform in own_platforms(plans.rendered):
            yield f"{PLATFORMS}/{platform.name}.yaml", switch_entry_text(platform).encode()
        yield "fabric.json", dump_wiring(wiring)
        yield "cabling.csv", dump_cabling(wiring)
        yield (
            "sources.json",
            self._sources([*sources, *subnets.sources, *hosts.sources], [*subnets.forms, *hosts.forms]),
        )

    def _sources(self, devices: list[DeviceSources], lines: list[LineSources | LineForm]) -> bytes:
        accepted = self.plans.fabric.inventory.suppressions
        return dump_sources(self._library.marks.origins, [*self._library.forms, *lines], devices, accepted)

    def _switches(self) -> Iterator[RenderedFile]:
        if self.elsewhere is not None:
            self.expand()
            yield from self.elsewhere(self)
        elif self.jobs > 1 and len(self.chosen) >= JOBS_FROM_SWITCHES:
            yield from self._in_processes()
        else:
            yield from map(self.switch, self.plans.rendered.switches)

    def switch(self, switch: Switch) -> RenderedFile:
        """The bytes (None for a switch that --only excludes) and the sources of a switch."""
        formed = self._renderer.formed(switch)
        assert formed is not None, "plans without an error have a plan for every switch"
        if self._is_as_formed(switch, formed.name) and (text := self._patterns.content(formed)):
            return text, DeviceSources(formed.name, formed.forms, formed.port_forms)
        rendered = self._renderer.stamped(formed)
        applied = apply_overrides(self.plans.rendered, switch, rendered.name, rendered.tables)
        tables = self.plans.ownership.applied(rendered.name, rendered.tables)
        content = dump(tables) if self.only is None or fnmatchcase(rendered.name, self.only) else None
        if content is not None and self.templates and any(literals(tables, has_forms=may_have_forms(content))):
            content = Private(content)  # only a site's own templates can write a secret
        return content, DeviceSources(rendered.name, rendered.forms, rendered.port_forms, applied)

    def _is_as_formed(self, switch: Switch, name: str) -> bool:
        """Whether the file of a switch has what the templates of fabricgen render, and nothing else."""
        if self.templates or not self.plans.ownership.is_whole or (self.only and not fnmatchcase(name, self.only)):
            return False
        return not any(matches(override, switch, name) for override in self.plans.fabric.inventory.overrides)

    def _in_processes(self) -> Iterator[RenderedFile]:
        switches = self.plans.rendered.switches
        self.expand()
        together = max(1, len(switches) // (4 * self.jobs))
        places = range(len(switches))  # a place is sent, and the processes have the switches
        return spread(lambda place: self.switch(switches[place]), places, self.jobs, together)

    def expand(self) -> None:
        """Expand the forms of all switches, so that all processes have the same indices of forms."""
        for switch in self.plans.rendered.switches:
            self._renderer.formed(switch)
