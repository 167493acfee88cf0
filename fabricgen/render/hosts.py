"""The files of hosts: settings of NICs, kernel, NCCL and UCX that agree with the switches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address

import yaml

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.tenant_settings import TenantSettings
from fabricgen.design.model import Fabric, Host, Link
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error, note
from fabricgen.lossless.hosts import NicPlan, plan_nics
from fabricgen.lossless.plan import LosslessPlanner
from fabricgen.origin import Origin
from fabricgen.plain_yaml import compose
from fabricgen.platforms.catalog import nic_model
from fabricgen.platforms.model import HostModel, HostNic
from fabricgen.platforms.rdma_names import is_at, name_by_pci, protocol_of
from fabricgen.render.build_hosts import (
    bond_context,
    collective_context,
    interface_context,
    of_tenant,
    rdma_context,
    tagged_context,
)
from fabricgen.render.contexts_hosts import GroupContext, InterfaceContext
from fabricgen.render.forms import LineForm, Slot, unmarked
from fabricgen.render.sources import DeviceSources
from fabricgen.render.templates import TemplateLibrary
from fabricgen.sonic.addresses import read_address
from fabricgen.vocabulary import NicSettings, Purpose, RdmaNames, Technology

FOLDER = "hosts"
LONGEST_NAME = 15  # linux IFNAMSIZ
RDMA_RULES = "udev/60-rdma-persistent-naming.rules"  # rdma-core has a file of this name, which it replaces
_TENANTS = "tenants"  # the folder of what jobs of a tenant set, where it has some NICs of a host
_SCRIPT, _UNIT, _CHECK = "fabricgen-roce", "fabricgen-roce@.service", "gpudirect-check"

# Mellanox/nic-configuration-operator@8bfbeb34 nicconfigurationtemplate_types.go: nicType of spectrumXOptimized.
SPECTRUM_X_NICS = ("15b3:1023", "15b3:1025", "15b3:a2dc")
# Mellanox/spectrum-x-operator@246268d5 spectrumxrailpoolconfig_host_flows_controller.go: rdmaQoSToS 96 is DSCP 24, of
# priority 3; nic-configuration-operator pkg/spectrumx/spectrumx.go: cnpDscpExpectedValue.
SPECTRUM_X_DSCP, SPECTRUM_X_PRIORITY, SPECTRUM_X_CNP_DSCP = 24, 3, 48
_WITHOUT_NCCL = ("intel",)  # HCCL of Gaudi reads neither the file of NCCL nor that of UCX
_HINTS = {
    "Gaudi-3": "write gaudinet.json by the guide of Gaudi: it names ports by MAC address, which only the hosts have; "
    "fabric.json has their addresses"
}

Context = dict[str, object]


@dataclass(frozen=True)
class LinkedHosts:
    """Equal hosts, with the links of each by NIC, in the order of their model."""

    name: str
    model: HostModel
    hosts: tuple[tuple[str, Mapping[str, Link]], ...]  # name of the host -> its links

    @property
    def links(self) -> Iterator[Link]:
        """All links of all hosts."""
        return (link for _, links in self.hosts for link in links.values())


def host_groups(fabric: Fabric, allocation: Allocation) -> list[LinkedHosts]:
    """The groups that are on any plane, in the order of the inventory."""
    plugged: dict[str, dict[str, Link]] = {}
    for link in fabric.links:
        if link.nic is not None:
            plugged.setdefault(link.a.key, {})[link.a_port] = link
    groups: dict[str, list[Host]] = {name: [] for name in fabric.inventory.hosts}
    for host in fabric.hosts:
        groups[host.group].append(host)
    found = []
    for name, hosts in groups.items():
        if hosts:
            model = hosts[0].model
            links = (plugged.get(host.key, {}) for host in hosts)
            ordered = [{nic.name: own[nic.name] for nic in model.nics if nic.name in own} for own in links]
            names = [allocation.host_names[host.key] for host in hosts]
            found.append(LinkedHosts(name, model, tuple(zip(names, ordered, strict=True))))
    return found


def _with_rdma(group: LinkedHosts) -> Iterator[HostNic]:
    """The NICs of a group with an RDMA device on a plane, in the order of the model."""
    used = {link.a_port for link in group.links if nic_driver(link)}
    return (nic for nic in group.model.nics if nic.name in used)


def nic_driver(link: Link) -> str:
    """The driver of the NIC at a link's lower end; "" where its interface is not set up from here."""
    model = nic_model(link.nic.model) if link.nic else None
    return model.driver if model else ""


def host_problems(fabric: Fabric) -> Iterator[Finding]:
    """Findings for NICs on a plane with PFC without rendered settings, and for NIC names too long for an interface."""
    seen: dict[tuple[str, str], Link] = {}
    for link in fabric.links:
        if isinstance(link.a, Host) and link.nic is not None:
            seen.setdefault((link.a.group, link.a_port), link)
    bare: dict[tuple[str, str, str], None] = {}
    for (group, name), link in seen.items():
        plane, spec = fabric.inventory.planes[link.plane], fabric.inventory.hosts[group]
        if plane.technology != Technology.ROCE or link.nic is None:
            continue
        if nic_driver(link) and len(name) > LONGEST_NAME:
            message = f"{name!r} is longer than the {LONGEST_NAME} characters of an interface's name"
            yield error("FG931", message, spec, "model", hint="give the NIC of `host_models` a shorter name")
        elif not nic_driver(link) and plane.lossless.classes:
            bare[group, link.nic.model, plane.name] = None
        if plane.lossless.classes and (problem := _operator_problem(fabric, link)):
            yield error("FG920", problem[0], spec, "nic_settings", hint=problem[1])
    yield from _rdma_problems(fabric, seen.values())
    for group, model, plane_name in bare:
        message = f"no settings are rendered for the {model} of group {group} on plane {plane_name}"
        hint = _HINTS.get(
            model, "configure these NICs by the guide of their vendor; docs/hosts.md lists the supported drivers"
        )
        yield note("FG930", message, fabric.inventory.hosts[group], "model", hint=hint)


def _rdma_problems(fabric: Fabric, links: Iterable[Link]) -> Iterator[Finding]:
    """Findings for RDMA devices that cannot get the names of their NICs, or have a name that another place gives."""
    for link in links:
        assert isinstance(link.a, Host) and link.nic is not None
        spec, nic = fabric.inventory.hosts[link.a.group], link.nic
        if spec.rdma_names == RdmaNames.NIC and nic_driver(link):
            if is_of_spectrum_x(fabric, link):
                message = f"NVIDIA's operator for Spectrum-X names the RDMA device of {nic.name}, too"
                yield error("FG925", message, spec, "rdma_names", hint="remove `rdma_names`")
            elif not nic.pci:
                message = f"host model {spec.model} has no PCI address of {nic.name}, by which the udev rule finds it"
                hint = "write the model in `host_models` with `pci` for each NIC, or remove `rdma_names`"
                yield error("FG925", message, spec, "rdma_names", hint=hint)
            continue
        protocol = protocol_of(nic.rdma)
        is_infiniband = fabric.inventory.planes[link.plane].technology == Technology.INFINIBAND
        expected = "ib" if is_infiniband else "roce"
        if protocol and (protocol != expected or not is_at(nic.rdma, nic.pci)):
            right = name_by_pci(expected, nic.pci)
            message = f"{nic.rdma} is not the RDMA device of {nic.name} at {nic.pci or 'an unknown PCI address'}"
            hint = f"set `rdma` to {right}" if right else f"use a name that begins with {expected}"
            yield error("FG925", message, spec, "model", hint=hint)


def is_of_spectrum_x(fabric: Fabric, link: Link) -> bool:
    """Whether NVIDIA's operator for Spectrum-X owns the NIC at a link's lower end: those of rails on compute planes."""
    if not isinstance(link.a, Host) or link.rail is None:
        return False
    is_chosen = fabric.inventory.hosts[link.a.group].nic_settings == NicSettings.SPECTRUM_X
    return is_chosen and fabric.inventory.planes[link.plane].purpose == Purpose.COMPUTE


def _operator_problem(fabric: Fabric, link: Link) -> tuple[str, str] | None:
    """Why NVIDIA's operator cannot give the NIC of a link the settings of its plane, and what to do; None if it can."""
    assert isinstance(link.a, Host) and link.nic is not None
    settings, plane = fabric.inventory.hosts[link.a.group].nic_settings, fabric.inventory.planes[link.plane]
    if settings == NicSettings.SCRIPT:
        return None
    model = nic_model(link.nic.model)
    if model is None or model.driver != "mlx5_core":
        return f"NVIDIA's operator does not configure the {link.nic.model} of {link.a_port}", "use `script`"
    spec = plane.lossless
    if not is_of_spectrum_x(fabric, link):
        mapped = [(dscp, priority) for priority, those in spec.classes.items() for dscp in those]
        if wrong := next((pair for pair in mapped if pair[0] >> 3 != pair[1]), None):
            return (
                f"NVIDIA's operator cannot map DSCP {wrong[0]} to priority {wrong[1]}: it has no DSCP map, and the "
                f"default of the NIC is priority {wrong[0] >> 3}",
                f"use a DSCP from {wrong[1] * 8} to {wrong[1] * 8 + 7} in the class, or `script`",
            )
        return None
    if model.pci_id not in SPECTRUM_X_NICS:
        return f"Spectrum-X does not run on the {link.nic.model} of {link.a_port}", "use `roce-optimized` or `script`"
    if set(spec.classes) != {SPECTRUM_X_PRIORITY} or SPECTRUM_X_DSCP not in spec.classes[SPECTRUM_X_PRIORITY]:
        return (
            f"with Spectrum-X pods send DSCP {SPECTRUM_X_DSCP} on priority {SPECTRUM_X_PRIORITY}, which is not the "
            f"only lossless class of plane {plane.name}",
            f"write `classes: {{{SPECTRUM_X_PRIORITY}: {{dscp: [{SPECTRUM_X_DSCP}]}}}}` in `lossless` of the plane",
        )
    if spec.cnp_dscp != SPECTRUM_X_CNP_DSCP:
        return (
            f"with Spectrum-X NICs send CNPs with DSCP {SPECTRUM_X_CNP_DSCP}, but that of plane {plane.name} is "
            f"{spec.cnp_dscp}",
            f"write `cnp: {{dscp: {SPECTRUM_X_CNP_DSCP}}}` in `lossless` of the plane",
        )
    return None


@dataclass
class HostRenderer:
    """Renders the groups of one fabric. `tenants` are the settings of their tenants, `ends` the links of each tenant of
    RoCE planes. `forms` and `sources`
    as those of subnets, from `first_form`."""

    fabric: Fabric
    allocation: Allocation
    planner: LosslessPlanner
    library: TemplateLibrary
    tenants: Mapping[str, TenantSettings] = field(default_factory=dict)
    ends: Mapping[str, Sequence[Link]] = field(default_factory=dict)
    first_form: int = 0
    forms: list[LineForm] = field(default_factory=list)
    sources: list[DeviceSources] = field(default_factory=list)

    def files(self, group: LinkedHosts) -> Iterator[tuple[str, bytes]]:
        """(path in the bundle, bytes) of every file of a group. Raises TemplateProblemError."""
        first = self.first_form + len(self.forms)
        folder = f"{FOLDER}/{group.name}"
        nics = self._interfaces(group)
        bonds = self._bonds(nics)
        vlans = self._vlans(group, nics, bonds)
        for path, text in (*self._shared(group, nics, bonds, vlans), *self._addresses(group, nics, bonds, vlans)):
            yield f"{folder}/{path}", text.encode()
        self.sources.append(DeviceSources(folder, range(first, self.first_form + len(self.forms)), {}))

    def _interfaces(self, group: LinkedHosts) -> dict[str, InterfaceContext]:
        """The Ethernet ports that are set up, by NIC."""
        planes = self.fabric.inventory.planes
        first = {link.a_port: link for link in reversed(list(group.links))}
        found = {}
        for index, nic in enumerate(group.model.nics):
            link = first.get(nic.name)
            if link is None or not self._is_set_up(link):
                continue
            families = [(ip_address(mine).version, length) for mine, _, length in self._pairs(link)]
            found[nic.name] = interface_context(group.model, nic, index, planes[link.plane], families, link.access)
        return found

    def _bonds(self, nics: Mapping[str, InterfaceContext]) -> dict[str, InterfaceContext]:
        """The bonds of these ports, by name."""
        ports: dict[str, list[InterfaceContext]] = {}
        for nic in nics.values():
            if nic.bond is not None:
                ports.setdefault(str(nic.bond), []).append(nic)
        return {name: bond_context(those) for name, those in ports.items()}

    def _vlans(
        self, group: LinkedHosts, nics: Mapping[str, InterfaceContext], bonds: Mapping[str, InterfaceContext]
    ) -> dict[str, tuple[InterfaceContext, ...]]:
        """NIC -> its tagged VLANs; those of a bond are of its first NIC."""
        links = {link.a_port: link for link in reversed(list(group.links)) if link.access and link.access.tagged}
        found: dict[str, tuple[InterfaceContext, ...]] = {}
        for index, model in enumerate(group.model.nics):
            nic, link = nics.get(model.name), links.get(model.name)
            if nic is None or link is None or link.access is None:
                continue
            parent = nic if nic.bond is None else bonds[str(nic.bond)]
            if parent is not nic and parent.ports[0] != nic.name:
                continue
            contexts = []
            for place, one in enumerate(link.access.tagged):
                pairs = self.allocation.vlan_addresses(one.block, link.access.slot)
                families = [(ip_address(mine).version, length) for mine, _, length in pairs]
                contexts.append(tagged_context(parent, index, place, one.number, link.access, families))
            found[model.name] = tuple(contexts)
        return found

    def _is_set_up(self, link: Link) -> bool:
        """Whether the files set up the interface: not where NVIDIA's operator names it, and pods have its address."""
        return self._has_driver(link) and not is_of_spectrum_x(self.fabric, link)

    def _has_driver(self, link: Link) -> bool:
        return bool(nic_driver(link)) and self.fabric.inventory.planes[link.plane].technology == Technology.ROCE

    def _pairs(self, link: Link) -> list[tuple[str, str, int]]:
        return self.allocation.link_addresses(link)

    def _shared(
        self,
        group: LinkedHosts,
        nics: Mapping[str, InterfaceContext],
        bonds: Mapping[str, InterfaceContext],
        vlans: Mapping[str, Sequence[InterfaceContext]],
    ) -> Iterator[tuple[str, str]]:
        """The files that all hosts of the group share."""
        plans = self._plans(group)
        lossless = [link for link in group.links if link.plane in plans and self._is_set_up(link)]
        drivers = sorted({nic_driver(link) for link in lossless} - {""})
        context: Context = {"group": GroupContext(group.name, group.model.name, tuple(drivers))}
        for plane, plan in plans.items():
            own = [nic for nic in nics.values() if nic.plane == plane]
            if own:
                roce = {**context, "plane": plane, "roce": plan, "nics": own}
                yield self._file(group, f"roce/{plane}.conf", "roce.conf.j2", roce)
        spec = self.fabric.inventory.hosts[group.name]
        has_script = spec.nic_settings == NicSettings.SCRIPT
        for name in (_SCRIPT, _UNIT) if drivers and has_script else ():
            yield self._file(group, name, f"{name}.j2", context)
        if nics:
            with_addresses = [*(nic for nic in nics.values() if nic.bond is None), *bonds.values()]
            with_addresses += [vlan for those in vlans.values() for vlan in those]
            yield self._file(group, "sysctl.conf", "sysctl.conf.j2", {**context, "nics": with_addresses})
            yield self._file(group, "networkd.conf", "networkd.conf.j2", context)
        for nic in nics.values():
            if nic.pci:
                yield self._file(group, f"links/10-{nic.name}.link", "nic.link.j2", {**context, "nic": nic})
        if spec.rdma_names == RdmaNames.NIC:
            devices = [rdma_context(group.model, nic) for nic in _with_rdma(group)]
            yield self._file(group, RDMA_RULES, "rdma.rules.j2", {**context, "devices": devices})
        planes = self.fabric.inventory.planes
        used = {link.a_port: (link.nic, planes[link.plane]) for link in group.links if link.nic}
        runs_nccl = group.model.gpus and group.model.vendor not in _WITHOUT_NCCL
        if runs_nccl and any(plane.purpose == Purpose.COMPUTE for _, plane in used.values()):
            ordered = [used[nic.name] for nic in group.model.nics if nic.name in used]
            collective = collective_context(
                group.model, spec.rdma_names, ordered, nics, plans, self.tenants.get(group.name)
            )
            context["collective"] = collective
            nccl = "rccl.conf" if group.model.vendor == "amd" else "nccl.conf"
            nvshmem = (("nvshmem.conf", "nvshmem.conf"),) if group.model.vendor == "nvidia" else ()
            of_jobs = ((nccl, "nccl.conf"), ("ucx.conf", "ucx.conf"), *nvshmem)
            for path, template in (*of_jobs, (_CHECK, _CHECK)):
                yield self._file(group, path, f"{template}.j2", context)
            for folder, tenant, chosen in self._parts_of_hosts(group, [nic.name for nic, _ in ordered]):
                some = [pair for pair in ordered if pair[0].name in chosen]
                part = of_tenant(collective, self.fabric.inventory.tenants[tenant], group.model, spec.rdma_names, some)
                for path, template in of_jobs:
                    yield self._file(group, f"{folder}/{path}", f"{template}.j2", {**context, "collective": part})

    def _parts_of_hosts(self, group: LinkedHosts, names: Sequence[str]) -> Iterator[tuple[str, str, frozenset[str]]]:
        """(folder, tenant, NICs) of tenants that have some of the compute NICs of a host and not all, on planes that
        separate tenants; `names` are all NICs in order. The folder has the names of a tenant's NICs where it has
        different ones on other hosts."""
        planes = self.fabric.inventory.planes
        compute = {link.a_port: planes[link.plane] for link in group.links}
        compute = {name: plane for name, plane in compute.items() if plane.purpose == Purpose.COMPUTE}
        rented = frozenset(name for name, plane in compute.items() if plane.isolation is not None)
        hosts = {link.a.key for link in group.links}
        for tenant, links in self.ends.items():
            of_host: dict[str, set[str]] = {}
            for link in links:
                if link.a.key in hosts and link.a_port in rented:
                    of_host.setdefault(link.a.key, set()).add(link.a_port)
            parts = dict.fromkeys(map(frozenset, of_host.values()))
            for part in parts:
                if part != rented:
                    place = "/" + "-".join(name for name in names if name in part) if len(parts) > 1 else ""
                    yield f"{_TENANTS}/{tenant}{place}", tenant, part | (compute.keys() - rented)

    def _plans(self, group: LinkedHosts) -> dict[str, NicPlan]:
        """The settings that agree with the switches of the group, for each plane with PFC."""
        links: dict[str, list[Link]] = {}
        for link in group.links:
            if self._has_driver(link):
                links.setdefault(link.plane, []).append(link)
        found = {}
        for name, own in links.items():
            switches = {link.b.key: link.b for link in own}
            plans = [plan for switch in switches.values() if (plan := self.planner.plan(switch))]
            longest = max(own, key=lambda link: link.cable.length_m).cable
            settings = plan_nics(self.fabric.inventory.planes[name], plans, longest) if plans else None
            if settings:
                found[name] = settings
        return found

    def _file(self, group: LinkedHosts, path: str, template: str, context: Context) -> tuple[str, str]:
        marked = self.library.text(template, context, f"{FOLDER}/{group.name}")
        keys = ((unmarked(line)[0].partition("=")[0].strip(), line) for line in marked.splitlines() if "=" in line)
        self.forms.append(LineForm(template, marked, [(f"{path}|{key}", line) for key, line in keys]))
        return path, self.forms[-1].stamp({})

    def _addresses(
        self,
        group: LinkedHosts,
        nics: Mapping[str, InterfaceContext],
        bonds: Mapping[str, InterfaceContext],
        vlans: Mapping[str, Sequence[InterfaceContext]],
    ) -> Iterator[tuple[str, str]]:
        """The netplan file of each host."""
        forms: dict[tuple[InterfaceContext, ...], LineForm] = {}
        places = {nic.name: index for index, nic in enumerate(group.model.nics)}
        for host, links in group.hosts:
            own = tuple(name for name in nics if name in links)
            if not own:
                continue
            contexts = tuple(nics[name] for name in own)
            if contexts not in forms:
                used = dict.fromkeys(str(nic.bond) for nic in contexts if nic.bond is not None)
                tagged = [vlan for name in own for vlan in vlans.get(name, ())]
                forms[contexts] = self._address_form(group, contexts, [bonds[bond] for bond in used], tagged)
                self.forms.append(forms[contexts])
            values = {"host.name": host}
            for name in own:
                slot, link = f"nic{places[name]}", links[name]
                values |= _address_slots(slot, self._pairs(link))
                for one in link.access.tagged if link.access else ():
                    pairs = self.allocation.vlan_addresses(one.block, link.access.slot if link.access else 0)
                    values |= _address_slots(f"{slot}.vlan{one.number}", pairs)
            yield f"netplan/{host}.yaml", forms[contexts].stamp(values)

    def _address_form(
        self,
        group: LinkedHosts,
        nics: Sequence[InterfaceContext],
        bonds: Sequence[InterfaceContext],
        vlans: Sequence[InterfaceContext],
    ) -> LineForm:
        template, host = "netplan.yaml.j2", Slot("host.name", Origin(inventory="names"))
        of_group = GroupContext(group.name, group.model.name, ())
        context = {"group": of_group, "host": host, "nics": nics, "bonds": bonds, "vlans": vlans}
        marked = self.library.text(template, context, f"{FOLDER}/{group.name}")
        try:
            tree = compose(marked, template)
        except UnreadableInputError as error:
            raise self.library.refuse(template, error.problem, f"{FOLDER}/{group.name}") from error
        leaves = ((path.removeprefix("network."), text) for path, text in _leaves(tree))
        keys = [(f"netplan/{host}.yaml|{path}", text) for path, text in leaves]
        return LineForm(template, marked, keys)


def _address_slots(slot: str, pairs: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """What fills the blanks of the addresses of an interface."""
    found: dict[str, str] = {}
    for number, (mine, switch, length) in enumerate(pairs):
        address = read_address(f"{mine}/{length}")
        assert address is not None
        found |= {
            f"{slot}.{number}.local": mine,
            f"{slot}.{number}.gateway": switch,
            f"{slot}.{number}.subnet": str(address.network),
        }
    return found


def _leaves(tree: yaml.Node | None, path: str = "") -> Iterator[tuple[str, str]]:
    """(dotted path, text) of the leaves of a YAML tree; a list is one leaf."""
    if isinstance(tree, yaml.MappingNode):
        for key, child in tree.value:
            yield from _leaves(child, f"{path}.{key.value}" if path else key.value)
    elif isinstance(tree, yaml.SequenceNode):
        yield path, " ".join(text for child in tree.value for _, text in _leaves(child))
    elif isinstance(tree, yaml.ScalarNode):
        yield path, tree.value
