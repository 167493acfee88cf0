"""The planes of a first inventory: platforms by technology and speed, the first layout, and the room to grow."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from math import ceil
from typing import NamedTuple

from fabricgen.bundle.wiring import MANAGEMENT_PURPOSES
from fabricgen.design.first_layout import Demand, FirstLayout, NoLayoutError
from fabricgen.design.parts import purpose_nics
from fabricgen.design.registry import designs
from fabricgen.design.sizing import FirstClos, host_seats
from fabricgen.errors import UsageError
from fabricgen.platforms import catalog
from fabricgen.platforms.model import HostModel, HostNic, Layout
from fabricgen.units import counted, format_speed
from fabricgen.vocabulary import Purpose, Role, Technology

DEFAULT_PLATFORM = {Technology.ROCE: "arista-7060x6-64pe", Technology.INFINIBAND: "nvidia-qm9700"}
# Where the default has no ports of the NICs' speed.
_FASTER = {(Technology.ROCE, 800_000): "nvidia-sn5600", (Technology.INFINIBAND, 800_000): "nvidia-q3400"}
# Two lossless classes, and the one that NICs have which support one.
_CLASSES = "{3: {dscp: [26]}, 4: {dscp: [34]}}", "{3: {dscp: [26]}}"
_ONE_PORT_MODEL, _TWO_PORT_MODEL = "dgx-h100", "dgx-b300"
_OUT_OF_BAND = "nvidia-sn2201", "nvidia-sn2201", "nvidia-sn4600c"  # leaf, small spine, large spine
_SERVED = {Technology.ROCE: Technology.ETHERNET, Technology.INFINIBAND: Technology.INFINIBAND}
_DESIGN_BESIDE_COMPUTE = "fat-tree"


@dataclass(frozen=True, kw_only=True)
class Start:
    """The options of a new inventory. `planned_hosts` 0: `hosts`. `host_model` "": the one of the design.
    `oversubscription` is that of the leaves of the compute plane."""

    name: str
    design: str
    hosts: int
    planned_hosts: int = 0
    platform: str | None = None
    technology: Technology = Technology.ROCE
    purposes: tuple[Purpose, ...] = (Purpose.COMPUTE,)
    host_model: str = ""
    oversubscription: float = 1.0

    @property
    def model(self) -> str:
        """The host model, by default the one whose NICs the design needs."""
        return self.host_model or host_model_of(self.design)


@dataclass(frozen=True)
class PlaneStart:
    """One plane of the template. `pools` are its prefixes, `growth` is a sentence about its room for hosts."""

    purpose: Purpose
    technology: Technology
    design: str
    oversubscription: float
    first: FirstLayout
    platforms: Mapping[str, str]  # role -> switch
    speed: str
    uplink_speed: str
    classes: str  # the lossless classes; "" for a plane without
    pools: Mapping[str, str] = field(default_factory=dict)
    growth: str = ""


class _Chosen(NamedTuple):
    name: str
    layout: Layout


def host_model_of(design: str) -> str:
    """The host model that `init` uses with a design."""
    return _TWO_PORT_MODEL if designs()[design].nic_ports > 1 else _ONE_PORT_MODEL


def gpus_of_host(design: str, host_model: str = "") -> int:
    """GPUs of the hosts that `init` uses with a design. Raises UsageError for an unknown model."""
    return _host_model(host_model or host_model_of(design)).gpus


def unnamed_nics(options: Start) -> str:
    """What to do on hosts whose NICs have no PCI addresses in the catalog; "" if they have."""
    bare = [nic.name for purpose in options.purposes for nic in _nics(options, purpose) if not nic.pci]
    bare = [name for name in bare if name != "bmc"]
    if not bare:
        return ""
    return (
        f"host model {options.model} has no PCI addresses, because they differ between servers: before you deploy, "
        f"copy it into host_models with `pci` for {bare[0]} to {bare[-1]} (docs/hosts.md)"
    )


def first_planes(options: Start) -> list[PlaneStart]:
    """The planes in the order of the options. Raises UsageError."""
    made = []
    for number, purpose in enumerate(options.purposes):
        plane = _plane(options, purpose)
        links, hosts = (f"10.{first + 16 * number}.0.0/12" for first in (128, 64))
        pools = {"loopbacks": f"10.{number}.0.0/16", "links": links, "hosts": hosts}
        made.append(replace(plane, pools=pools if plane.technology == Technology.ROCE else {}))
    return made


def _plane(options: Start, purpose: Purpose) -> PlaneStart:
    nics = _nics(options, purpose)
    design = options.design if purpose == Purpose.COMPUTE else _DESIGN_BESIDE_COMPUTE
    subplanes = _subplanes(design, purpose, nics)
    nics = nics[: len(nics) // subplanes]
    speed_mbps, planned = nics[0].speed_mbps, max(options.planned_hosts, options.hosts)
    management = purpose in MANAGEMENT_PURPOSES
    technology = Technology.ROCE if management else options.technology
    if purpose == Purpose.OUT_OF_BAND:
        leaf, spine = _out_of_band_switches(planned, speed_mbps)
    else:
        leaf = spine = _switch(options, purpose, technology, speed_mbps)
    uplink_mbps = leaf.layout.speed_mbps
    ports_above = len(spine.layout.ports_at(uplink_mbps))
    demand = Demand(
        hosts=options.hosts,
        planned_hosts=planned,
        nics=len(nics),
        rails=len({nic.rail for nic in nics if nic.rail is not None}),
        host_mbps=speed_mbps,
        uplink_mbps=uplink_mbps,
        leaf_host_ports=len(leaf.layout.ports_at(speed_mbps)),
        leaf_uplink_ports=len(leaf.layout.ports_at(uplink_mbps)),
        spine_ports=ports_above,
        core_ports=ports_above,
        leaf_oversubscription=_oversubscription(options, purpose, leaf.layout, speed_mbps),
    )
    first = _first_layout(design, purpose, demand)
    if subplanes > 1:
        first = replace(first, keys={"subplanes": str(subplanes), **first.keys}, switches=first.switches * subplanes)
    return PlaneStart(
        purpose,
        technology,
        design,
        demand.leaf_oversubscription,
        first,
        {role: (leaf if role == Role.LEAF else spine).name for role in first.tiers},
        format_speed(speed_mbps),
        format_speed(uplink_mbps) if uplink_mbps != speed_mbps else "",
        classes="" if management else _classes(nics),
        growth=_growth(design, purpose, demand, first, subplanes),
    )


def _subplanes(design: str, purpose: Purpose, nics: Sequence[HostNic]) -> int:
    """The networks of equal form, one for each port of a cage; 1 where the design itself joins the ports."""
    if purpose != Purpose.COMPUTE or designs()[design].nic_ports > 1:
        return 1
    return len({nic.port for nic in nics})


def _classes(nics: Sequence[HostNic]) -> str:
    """As many lossless classes as the NICs support, at most two."""
    models = [catalog.nic_model(nic.model) for nic in nics]
    is_single = any(model and model.lossless_priorities == 1 for model in models)
    return _CLASSES[is_single]


def _out_of_band_switches(hosts: int, speed_mbps: int) -> tuple[_Chosen, _Chosen]:
    """Leaf and spine of the BMC ports: a larger spine where more leaves must be joined."""
    leaf, small, large = (_known(name) for name in _OUT_OF_BAND)
    leaves = ceil(hosts / len(leaf.layout.ports_at(speed_mbps)))
    return leaf, small if 2 * leaves <= len(small.layout.ports_at(leaf.layout.speed_mbps)) else large


def _oversubscription(options: Start, purpose: Purpose, leaf: Layout, speed_mbps: int) -> float:
    if purpose == Purpose.OUT_OF_BAND:
        return _two_uplinks(leaf, speed_mbps)
    return options.oversubscription if purpose == Purpose.COMPUTE else 1.0


def _two_uplinks(leaf: Layout, speed_mbps: int) -> float:
    """The oversubscription of a full leaf with two uplinks: one of them may fail."""
    return len(leaf.ports_at(speed_mbps)) * speed_mbps / (2 * leaf.speed_mbps)


def _nics(options: Start, purpose: Purpose) -> list[HostNic]:
    """The NICs of a host for a purpose. Raises UsageError if it has none."""
    model = _host_model(options.model)
    nics = purpose_nics(model, purpose)
    if not nics:
        having = ", ".join(each for each in Purpose if purpose_nics(model, each))
        raise UsageError(f"{model.name}, the host of a {options.design} design, has NICs for: {having}; not {purpose}")
    return nics


def _first_layout(design: str, purpose: Purpose, demand: Demand) -> FirstLayout:
    """The layout; storage and in-band NICs of a host are each on their own leaf. Raises UsageError."""
    first_layout = designs()[design].first_layout
    assert first_layout, "the choices of --design have a first layout"
    try:
        if purpose != Purpose.COMPUTE:
            return FirstClos(partial(host_seats, homes=demand.nics))(demand)
        return first_layout(demand)
    except NoLayoutError as problem:
        raise UsageError(f"{problem}; choose another --design, --hosts or --platform") from None


def _growth(design: str, purpose: Purpose, demand: Demand, first: FirstLayout, subplanes: int) -> str:
    """The room of the layout, and what room for twice the hosts costs; "" for a layout without counts."""
    if not first.switches:
        return ""
    room, head = first.room_hosts, f"plane {purpose}: {counted(first.switches, 'switch')}"
    head += f", room for {counted(room, 'host')}"
    if room >= 2 * demand.hosts:
        return f"{head} without a moved cable"
    twice = 2 * demand.hosts
    try:
        larger = _first_layout(design, purpose, replace(demand, planned_hosts=twice))
    except UsageError:
        return f"{head}; no layout of these switches has room for {twice}"
    return (
        f"{head}; to grow to {twice} without moved cables, add --planned-hosts {twice}: "
        f"{counted(larger.switches * subplanes, 'switch')}"
    )


def _switch(options: Start, purpose: Purpose, technology: Technology, speed_mbps: int) -> _Chosen:
    """The switch of a plane, with ports of the NICs' speed. Raises UsageError.

    Where the chosen platform does not suit a plane beside compute, that plane has the default.
    """
    default = _FASTER.get((technology, speed_mbps), DEFAULT_PLATFORM[technology])
    if options.platform and purpose != Purpose.COMPUTE:
        with suppress(UsageError):
            return _Chosen(options.platform, _layout(options.platform, technology, speed_mbps, options.model))
        return _Chosen(default, _layout(default, technology, speed_mbps, options.model))
    name = options.platform or default
    return _Chosen(name, _layout(name, technology, speed_mbps, options.model))


def _layout(name: str, technology: Technology, speed_mbps: int, model: str) -> Layout:
    """The layout of a switch with ports of this speed. Raises UsageError."""
    platform = catalog.switch_platform(name)
    if platform is None:
        names = catalog.switch_names()
        close = [each for each in names if name.lower() in each] or get_close_matches(name, names)
        hint = f"did you mean {' or '.join(close[:5])}?" if close else "`fabricgen list platforms` lists them"
        raise UsageError(f"unknown switch platform {name!r}; {hint}")
    if not platform.serves(_SERVED[technology]):
        kind = "an InfiniBand" if technology == Technology.ROCE else "an Ethernet"
        raise UsageError(f"{name} is {kind} switch, and --technology is {technology}")
    fitting = [layout for layout in platform.layouts if layout.speed_mbps == speed_mbps]
    if not fitting:
        raise UsageError(f"{name} has no layout of {format_speed(speed_mbps)}, the speed of {model}'s NICs")
    lossless = [layout for layout in fitting if layout.buffers or technology == Technology.INFINIBAND]
    if not lossless:
        raise UsageError(f"{name} can only be counted: its buffers are not known, so it cannot be lossless")
    return lossless[0]


def _host_model(name: str) -> HostModel:
    model = catalog.host_model(name)
    if model is None:
        close = get_close_matches(name, catalog.host_names())
        hint = f"did you mean {' or '.join(close)}?" if close else "`fabricgen list hosts` lists them"
        raise UsageError(f"unknown host model {name!r}; {hint}")
    return model


def _known(name: str) -> _Chosen:
    platform = catalog.switch_platform(name)
    assert platform is not None, "the catalog has the switches of this module"
    return _Chosen(name, platform.layouts[0])
