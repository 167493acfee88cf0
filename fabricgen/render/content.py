"""The files of a bundle as named bytes, made one after the other."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from fabricgen.atomic import Private
from fabricgen.bundle.fabric_file import dump_wiring
from fabricgen.bundle.read import PLATFORMS
from fabricgen.bundle.scratch import Written
from fabricgen.bundle.wiring import Checks, Wiring
from fabricgen.control_plane.tenant_settings import plan_tenant_settings
from fabricgen.design.model import Fabric, Switch
from fabricgen.design.subnets import split_subnets
from fabricgen.errors import UsageError
from fabricgen.findings import has_errors
from fabricgen.inventory.model import Override
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.render.file_patterns import FilePatterns
from fabricgen.render.formed import FormedSwitch
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
from fabricgen.sonic.frr_lines import FRR_CONF, frr_conf
from fabricgen.sonic.secrets import literals, may_have_forms
from fabricgen.spread import apart, spread, worthwhile

_CABLING = "cabling.csv"

RenderedFile = tuple[bytes | None, DeviceSources]
Write = Callable[[str, bytes], Written]
Elsewhere = Callable[["BundleContent"], Iterator[RenderedFile]]  # those of all switches, in their order


def own_platforms(fabric: Fabric) -> list[SwitchPlatform]:
    """The switch models that differ from the catalog's: of the inventory's own files, or with stated buffers."""
    used = {switch.platform.name: switch.platform for switch in fabric.switches}
    known, release = {name: switch_platform(name) for name in used}, fabric.inventory.sonic.release
    catalog = {name: platform.at(release) for name, platform in known.items() if platform}
    return [platform for name, platform in sorted(used.items()) if platform != catalog.get(name)]


@dataclass
class _Made:
    """What the files of a bundle were made from: the sources of each switch and the overrides that were merged into it,
    the paths and sources of the other files, and the checks in fabric.json."""

    checks: Checks
    switches: list[DeviceSources] = field(default_factory=list)
    merged: list[object] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    beside: list[DeviceSources] = field(default_factory=list)
    lines: Sequence[LineSources | LineForm] = ()

    def noted(self, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
        """The files, whose paths are noted."""
        for path, content in files:
            self.others.append(path)
            yield path, content


def wiring_of(plans: Plans) -> Wiring:
    """The content of fabric.json."""
    return make_wiring(plans.fabric, plans.allocation, plans.control.outside, plans.cordons, plans.tenants)


class _Merged:
    """The overrides of an inventory, to be compared with those of another rendering."""

    def __init__(self, overrides: Sequence[Override]) -> None:
        self._overrides = [(one, (one.source("config_db"), _typed(one.config_db))) for one in overrides]

    def into(self, switch: Switch, name: str) -> object:
        """Those that are merged into the file of a switch."""
        return [content for override, content in self._overrides if matches(override, switch, name)]


def _typed(value: object) -> object:
    """A value with its types: a reference to a secret is not equal to a text."""
    if isinstance(value, Mapping):
        return [(name, _typed(inner)) for name, inner in value.items()]
    return [*map(_typed, value)] if isinstance(value, list | tuple) else (type(value), value)


@dataclass
class BundleContent:
    """The files of a bundle, rendered one after the other on demand."""

    plans: Plans
    only: str | None = None
    jobs: int = 1
    elsewhere: Elsewhere | None = None  # renders the switches on other machines
    write: Write | None = None  # writes files in the processes that make them

    def __post_init__(self) -> None:
        plans = self.plans
        assert not has_errors(plans.findings)
        templates = plans.templates
        self._library = TemplateLibrary("sonic", templates)
        self._renderer = renderer = SwitchRenderer(
            plans.rendered, plans.allocation, plans.control, plans.planner, self._library, plans.cordons,
            plans.tenants, plans.srv6,
        )  # fmt: skip
        self._patterns = FilePatterns(lambda formed: renderer.stamped(formed).tables)
        marks = LineMarks(self._library.marks)
        self._lines = TemplateLibrary(FOLDER, templates, marks)
        self._host_lines = TemplateLibrary(HOSTS_FOLDER, templates, marks)
        self._made: _Made | None = None
        self.names = [plans.allocation.names[switch.key] for switch in plans.rendered.switches]
        self.vteps = {plans.allocation.names[key] for key in plans.tenants.vteps}  # they have a frr.conf
        self.chosen = [
            switch
            for switch, name in zip(plans.rendered.switches, self.names, strict=True)
            if self.only is None or fnmatchcase(name, self.only)
        ]
        if not self.chosen and self.only is not None:
            raise UsageError(f"--only {self.only}: no switch name matches")

    def files(self) -> Iterator[tuple[str, bytes]]:
        """(path in the bundle, bytes) of every file but the manifest. Raises TemplateProblemError."""
        assert self.write is None
        return ((path, content) for path, content in self.made() if isinstance(content, bytes))

    def made(self) -> Iterator[tuple[str, bytes | Written]]:
        """`files`, of which some are written already where `write` is given."""
        made = _Made(self.plans.fabric.inventory.checks)
        if self.write is not None and self._processes() > 1:
            with apart(lambda: list(self._fabric_files())) as written:
                yield from self._made_with(made, written)
        else:
            yield from self._made_with(made, self._fabric_files)
        self._made = made

    def _made_with(
        self, made: _Made, fabric_files: Callable[[], Iterable[tuple[str, bytes | Written]]]
    ) -> Iterator[tuple[str, bytes | Written]]:
        merged = _Merged(self.plans.fabric.inventory.overrides)
        for switch, (content, source) in zip(self.plans.rendered.switches, self._switches(), strict=True):
            made.switches.append(source)
            made.merged.append(merged.into(switch, source.name))
            if content is not None:
                yield f"sonic/{source.name}/config_db.json", content
                if switch.key in self.plans.tenants.vteps and isinstance(content, bytes):
                    yield f"sonic/{source.name}/{FRR_CONF}", frr_conf(json.loads(content)).encode()
        subnets = SubnetRenderer(self.plans.allocation, self._lines, len(self._library.forms))
        for design in self.plans.fabric.planes:
            if choice := self.plans.subnets.get(design.plane.name):
                for subnet in split_subnets(design):
                    yield from made.noted(subnets.files(subnet, choice))
        plans = self.plans
        first = subnets.first_form + len(subnets.forms)
        tenants = plan_tenant_settings(plans.fabric, plans.allocation)
        hosts = HostRenderer(
            plans.fabric, plans.allocation, plans.planner, self._host_lines, tenants, plans.tenants.ends, first
        )
        for group in host_groups(plans.fabric, plans.allocation):
            yield from made.noted(hosts.files(group))
        platforms = own_platforms(plans.rendered)
        yield from made.noted((f"{PLATFORMS}/{one.name}.yaml", switch_entry_text(one).encode()) for one in platforms)
        yield from fabric_files()
        made.others.append(_CABLING)
        made.beside, made.lines = [*subnets.sources, *hosts.sources], [*subnets.forms, *hosts.forms]
        yield "sources.json", self._sources(made)

    def _fabric_files(self) -> Iterator[tuple[str, bytes | Written]]:
        """fabric.json and the list of cables."""
        wiring = wiring_of(self.plans)
        for path, dumped in (("fabric.json", dump_wiring), (_CABLING, dump_cabling)):
            content = dumped(wiring)
            yield path, self.write(path, content) if self.write else content

    def _processes(self) -> int:
        """How many processes make files. Beside the threads of a Dask client, no process can be forked."""
        return worthwhile(self.jobs, len(self.chosen)) if self.elsewhere is None else 1

    def files_again(self, plans: Plans) -> Iterator[tuple[str, bytes | None]]:
        """`files` after an edit of what `plan_again` takes from the inventory; None for a file that is as before. All
        files have been made before, without `only` and `templates`."""
        made, self._made, self.plans = self._made, None, plans
        assert made is not None
        inventory = plans.fabric.inventory
        merged = _Merged(inventory.overrides)
        for index, (switch, name) in enumerate(zip(plans.rendered.switches, self.names, strict=True)):
            content, now = None, merged.into(switch, name)
            if now != made.merged[index]:
                content, made.switches[index] = self.switch(switch)
                made.merged[index] = now
            yield f"sonic/{name}/config_db.json", content
            if switch.key in plans.tenants.vteps:
                yield f"sonic/{name}/{FRR_CONF}", None if content is None else frr_conf(json.loads(content)).encode()
        yield from ((path, None) for path in made.others)
        wiring = None
        if inventory.checks != made.checks:
            wiring = dump_wiring(wiring_of(plans))
            made.checks = inventory.checks
        yield "fabric.json", wiring
        yield "sources.json", self._sources(made)
        self._made = made

    def _sources(self, made: "_Made") -> bytes:
        accepted, devices = self.plans.fabric.inventory.suppressions, [*made.switches, *made.beside]
        return dump_sources(self._library.marks.origins, [*self._library.forms, *made.lines], devices, accepted)

    def _switches(self) -> Iterator[tuple[bytes | Written | None, DeviceSources]]:
        if self.elsewhere is not None:
            self.expand()
            yield from self.elsewhere(self)
        elif (jobs := self._processes()) > 1:
            yield from self._in_processes(jobs)
        else:
            yield from map(self.switch, self.plans.rendered.switches)

    def switch(self, switch: Switch) -> RenderedFile:
        """The bytes (None for a switch that --only excludes) and the sources of a switch."""
        return self._file(switch, self._formed(switch))

    def _formed(self, switch: Switch) -> FormedSwitch:
        formed = self._renderer.formed(switch)
        assert formed is not None, "plans without an error have a plan for every switch"
        return formed

    def _file(self, switch: Switch, formed: FormedSwitch) -> RenderedFile:
        if self._is_as_formed(switch, formed.name) and (text := self._patterns.content(formed)):
            return text, DeviceSources(formed.name, formed.forms, formed.port_forms)
        rendered = self._renderer.stamped(formed)
        applied = apply_overrides(self.plans.rendered, switch, rendered.name, rendered.tables)
        tables = self.plans.ownership.applied(rendered.name, rendered.tables)
        content = dump(tables) if self.only is None or fnmatchcase(rendered.name, self.only) else None
        if content is not None and self.plans.templates and any(literals(tables, has_forms=may_have_forms(content))):
            content = Private(content)  # only a site's own templates can write a secret
        return content, DeviceSources(rendered.name, rendered.forms, rendered.port_forms, applied)

    def _is_as_formed(self, switch: Switch, name: str) -> bool:
        """Whether the file of a switch has what the templates of fabricgen render, and nothing else."""
        if (
            self.plans.templates
            or not self.plans.ownership.is_whole
            or (self.only and not fnmatchcase(name, self.only))
        ):
            return False
        return not any(matches(override, switch, name) for override in self.plans.fabric.inventory.overrides)

    def _in_processes(self, jobs: int) -> Iterator[tuple[bytes | Written | None, DeviceSources]]:
        switches, apart = self.plans.rendered.switches, self.plans.tenants.vteps
        formed = self.expand()
        together = max(1, len(switches) // (4 * jobs))

        def made(place: int) -> tuple[bytes | Written | None, DeviceSources]:
            content, source = self._file(switches[place], formed[place])
            is_alone = switches[place].key not in apart  # a VTEP has another file of it
            if self.write is None or content is None or isinstance(content, Private) or not is_alone:
                return content, source
            return self.write(f"sonic/{source.name}/config_db.json", content), source

        return spread(made, range(len(switches)), jobs, together)  # the processes have the switches, places are sent

    def expand(self) -> list[FormedSwitch]:
        """The forms of all switches. They are expanded here, so that all processes have the same indices of forms."""
        return [self._formed(switch) for switch in self.plans.rendered.switches]
