"""The files of a subnet: those of its managers, and its topology for ibsim and for comparison."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.managers import manager_links, plan_managers
from fabricgen.control_plane.mlnx_sm import plan_mlnx_options
from fabricgen.control_plane.opensm import SubnetPlan
from fabricgen.control_plane.opensm_options import PlaneManagers, plan_options
from fabricgen.control_plane.partitions import Partition, plan_partitions
from fabricgen.control_plane.sharp import plan_sharp
from fabricgen.design.registry import graph_of
from fabricgen.design.subnets import SubnetDesign
from fabricgen.opensm import mlnx_sm, sharp
from fabricgen.opensm.options import MAX_PARTITION_LINE_BYTES, option_problem
from fabricgen.render.build_grid import grid_context
from fabricgen.render.build_infiniband import (
    guid_lists,
    manager_context,
    node_names,
    partition_contexts,
    policy_context,
    prefix_routes,
)
from fabricgen.render.build_topology import netlist_context, topo_context
from fabricgen.render.contexts_infiniband import SubnetContext
from fabricgen.render.forms import unmarked
from fabricgen.render.sources import DeviceSources, LineSources
from fabricgen.render.templates import TemplateLibrary

FOLDER = "infiniband"
CONF = "opensm.conf"
_CONF_TEMPLATE, _GUIDS_TEMPLATE = f"{CONF}.j2", "guids.j2"

Context = Mapping[str, object]


@dataclass
class SubnetRenderer:
    """Renders the subnets of one fabric. `forms` are the sources of each opensm.conf, `sources` those of each subnet;
    their indices start at `first_form`."""

    allocation: Allocation
    library: TemplateLibrary
    first_form: int = 0
    forms: list[LineSources] = field(default_factory=list)
    sources: list[DeviceSources] = field(default_factory=list)

    def files(self, subnet: SubnetDesign, choice: SubnetPlan) -> Iterator[tuple[str, bytes]]:
        """(path in the bundle, bytes) of every file of a subnet. Raises TemplateProblemError."""
        folder = f"{FOLDER}/{subnet.key}"
        managers = manager_links(subnet, self.allocation)
        partitions = plan_partitions(subnet, self.allocation, managers)
        files: dict[str, Context] = {
            "partitions.conf": partition_contexts(subnet.plane.plane, partitions),
            **self._shared(subnet, choice, partitions),
            "topology.ibsim": netlist_context(subnet, self.allocation, managers),
            "topology.topo": topo_context(subnet, self.allocation),
        }
        lists: Mapping[str, Context] = guid_lists(subnet, self.allocation, tree=graph_of(subnet.plane).is_tree)
        options = plan_options(subnet, choice, self.allocation, partitions, [*files, *lists])
        first = self.first_form + len(self.forms)
        for manager in plan_managers(subnet, self.allocation):
            place = f"{manager.folder}/{CONF}" if manager.folder else CONF
            context: Context = {"manager": manager_context(manager), "options": options}
            yield f"{folder}/{place}", self._options(subnet, place, _CONF_TEMPLATE, context, option_problem)
        if subnet.plane.plane.infiniband.mlnx_sm:
            yield from self._for_ufm(subnet, options, files, lists)
        forms = list(range(first, self.first_form + len(self.forms)))
        self.sources.append(DeviceSources(folder, forms, {}))
        for name, context in lists.items():
            yield f"{folder}/{name}", self._text(subnet, _GUIDS_TEMPLATE, context).encode()
        for name, context in files.items():
            text = self._text(subnet, f"{name}.j2", context)
            if name == "partitions.conf":
                self._check_lines(subnet, text)
            yield f"{folder}/{name}", text.encode()

    def _shared(self, subnet: SubnetDesign, choice: SubnetPlan, partitions: Sequence[Partition]) -> dict[str, Context]:
        """The files that all managers of the subnet share, beside its partitions."""
        plane = subnet.plane.plane
        files: dict[str, Context] = {"node-name-map": node_names(subnet, self.allocation)}
        if choice.qos:
            files["qos-policy.conf"] = policy_context(plane, partitions)
        if "torus-2QoS" in choice.engines and plane.torus:
            files["torus-2QoS.conf"] = grid_context(subnet, plane.torus, self.allocation)
        if plane.infiniband.prefix_routes:
            files["prefix-routes.conf"] = prefix_routes(plane)
        return files

    def _text(self, subnet: SubnetDesign, template: str, context: Context) -> str:
        return self.library.text(template, {"subnet": SubnetContext(subnet.key), **context}, subnet.key)

    def _for_ufm(
        self, subnet: SubnetDesign, same: PlaneManagers, files: Mapping[str, Context], lists: Mapping[str, Context]
    ) -> Iterator[tuple[str, bytes]]:
        """The other dialect, in a separate folder, with the file names of UFM."""
        spec, dialect = subnet.plane.plane.infiniband.mlnx_sm, mlnx_sm.DIALECT
        assert spec
        templates = {
            "partitions.conf": (f"{dialect}/partitions.conf.j2", files["partitions.conf"]),
            mlnx_sm.NODE_NAME_MAP: ("node-name-map.j2", files["node-name-map"]),
        }
        if "root_guids" in lists:
            templates["root_guids"] = (_GUIDS_TEMPLATE, lists["root_guids"])
        if "prefix-routes.conf" in files:
            templates["prefix-routes.conf"] = ("prefix-routes.conf.j2", files["prefix-routes.conf"])
        options: Context = {"options": plan_mlnx_options(subnet.plane, spec, same, list(templates))}
        place, template = f"{dialect}/{CONF}", f"{dialect}/{_CONF_TEMPLATE}"
        folder = f"{FOLDER}/{subnet.key}"
        yield f"{folder}/{place}", self._options(subnet, place, template, options, mlnx_sm.option_problem)
        if spec.sharp:
            place, template = f"{dialect}/{sharp.CONFIG_NAME}", f"{dialect}/{sharp.CONFIG_NAME}.j2"
            aggregation: Context = {"sharp": plan_sharp(subnet, spec)}
            yield f"{folder}/{place}", self._options(subnet, place, template, aggregation, sharp.option_problem)
        for name, (of, context) in templates.items():
            yield f"{folder}/{dialect}/{name}", self._text(subnet, of, context).encode()

    def _options(
        self, subnet: SubnetDesign, place: str, template: str, context: Context, check: Callable[[str, str], str | None]
    ) -> bytes:
        """opensm.conf or sharp_am.cfg; checks each line against the options of its manager, and records its origin."""
        fields: dict[str, tuple[int, ...]] = {}
        lines = []
        for marked in self._text(subnet, template, context).splitlines():
            line, origins = unmarked(marked)
            lines.append(line)
            name, _, text = line.partition("#")[0].strip().partition(" ")
            if not name:
                continue
            problem = "the option twice: " + name if name in fields else check(name, text.strip())
            if problem:
                raise self.library.refuse(template, problem, subnet.key)
            fields[name] = origins
        self.forms.append(LineSources(template, {f"{CONF}|{place}": fields}))
        return ("\n".join(lines) + "\n").encode()

    def _check_lines(self, subnet: SubnetDesign, text: str) -> None:
        longest = max(len(line.encode()) for line in text.splitlines())
        if longest > MAX_PARTITION_LINE_BYTES:
            problem = f"a line of {longest} bytes: OpenSM cuts it at {MAX_PARTITION_LINE_BYTES}"
            raise self.library.refuse("partitions.conf.j2", problem, subnet.key)
