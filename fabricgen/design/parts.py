"""Look-ups of every design: platforms and host models by name, layouts by speed, hosts of a plane."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fabricgen.design.buffers import with_buffers
from fabricgen.design.model import Host, Identity, Switch
from fabricgen.design.ports import configured, suggested
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding
from fabricgen.inventory.host_models import OwnHostModel
from fabricgen.inventory.mistakes import error, note, suggest
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import Tier
from fabricgen.platforms import catalog, generic
from fabricgen.platforms.model import HostModel, HostNic, Layout, SwitchPlatform
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.units import format_speed
from fabricgen.vocabulary import Purpose, Role, Technology

_SWITCHES_FOR = {
    Technology.ROCE: Technology.ETHERNET,
    Technology.INFINIBAND: Technology.INFINIBAND,
}  # a plane's technology -> that of its switches


class TierParts(NamedTuple):
    """Platform and layout of the switches of a tier; `newer` has those of later units, from the lowest unit up."""

    tier: Tier
    platform: SwitchPlatform
    layout: Layout
    newer: tuple["TierParts", ...] = ()

    def of_unit(self, unit: int) -> "TierParts":
        """Platform and layout of a switch of this unit."""
        later = [parts for parts in self.newer if parts.tier.from_unit <= unit]
        return later[-1] if later else self

    def all(self) -> tuple["TierParts", ...]:
        """Every platform and layout of the tier."""
        return (self, *self.newer)

    def radix(self, speed_mbps: int) -> int:
        """Ports of that speed that a switch of the first units can use. The layout is made for these."""
        return len(self.layout.ports_at(speed_mbps)) - self.tier.spare_ports


@dataclass
class PartsList:
    """Look-ups of one inventory; a name that is not found becomes one finding for each place."""

    inventory: Inventory
    root: Path
    findings: list[Finding]
    units: Mapping[str, Sequence[int]]  # plane/group -> its units, from the lock file
    _platforms: dict[str, SwitchPlatform | None] = field(default_factory=dict)  # by name, with stated buffers

    @cached_property
    def own_platforms(self) -> dict[str, SwitchPlatform]:
        """The platforms of the inventory's own files."""
        found = {}
        for index, name in enumerate(self.inventory.platform_files):
            try:
                platform = catalog.load_switch_platform(self.root / name)
            except UnreadableInputError as problem:
                self.findings.append(
                    error(
                        "FG211",
                        f"platform file {name} cannot be used: {problem.problem}",
                        self.inventory,
                        "platforms",
                        index,
                        hint="correct the file, or remove it from `platforms`; docs/platforms.md describes its form",
                    )
                )
                continue
            found[platform.name] = platform
        return found

    @cached_property
    def own_host_models(self) -> dict[str, HostModel]:
        """The host models of the inventory; checks the speeds of their NICs."""
        return {
            name: HostModel(
                name, own.vendor, own.gpus, own.nvlink_domain, tuple(self._own_nics(own)), {"all": own.path}
            )
            for name, own in self.inventory.host_models.items()
        }

    def _own_nics(self, own: OwnHostModel) -> Iterator[HostNic]:
        for row in own.nics:
            card = catalog.nic_model(row.model)
            if card is None:
                hint = f"known: {', '.join(catalog.nic_names())}"
                message = f"the NIC {row.model!r} is unknown: its speeds and lossless priorities are not checked"
                self.findings.append(note("FG114", message, row, "model", hint=hint))
            elif row.speed_mbps not in card.speeds_mbps:
                offered = ", ".join(map(format_speed, card.speeds_mbps))
                message = f"{card.name} has no port of {format_speed(row.speed_mbps)}"
                self.findings.append(error("FG115", message, row, "speed", hint=f"it has: {offered}"))
            for nic in row.made:
                yield HostNic(
                    nic.name, row.model, nic.pci, 1, row.speed_mbps, nic.rail, row.plane, nic.gpu, nic.rdma, nic.port
                )

    def platform(self, name: str, part: Part) -> SwitchPlatform | None:
        """The switch model of this name; None, with a finding, if it is unknown."""
        if name not in self._platforms:
            known_platform = self.own_platforms.get(name) or catalog.switch_platform(name)
            buffers, release = self.inventory.buffers, self.inventory.sonic.release
            self._platforms[name] = (
                with_buffers(known_platform.at(release), buffers, self.findings) if known_platform else None
            )
        platform = self._platforms[name]
        if platform is None:
            known = sorted({*self.own_platforms, *catalog.switch_names(), generic.EXAMPLE})
            self.findings.append(
                error("FG107", f"no switch platform is called {name!r}", part, "platform", hint=suggest(name, known))
            )
        return platform

    @property
    def used_hwskus(self) -> set[str]:
        """The hwskus of the platforms that were looked up."""
        used = (platform for platform in self._platforms.values() if platform)
        return {layout.hwsku for platform in used for layout in platform.layouts}

    def serves(self, platform: SwitchPlatform, plane: Plane, part: Part) -> bool:
        """Whether the platform runs the plane's technology; a finding if not."""
        if platform.serves(_SWITCHES_FOR[plane.technology]):
            return True
        kind = {Technology.ETHERNET: "an Ethernet", Technology.INFINIBAND: "an InfiniBand"}[platform.technology]
        setting = f"plane {plane.name} has `technology: {plane.technology}`"
        hint = f"choose another platform or `technology`; a bare switch such as {generic.EXAMPLE} runs both"
        self.findings.append(
            error("FG239", f"{platform.name} is {kind} switch, {setting}", part, "platform", hint=hint)
        )
        return False

    def layout(
        self,
        platform: SwitchPlatform,
        name: str | None,
        ports: Mapping[str, str],
        speeds_mbps: Collection[int | None],
        part: Part,
    ) -> Layout | None:
        """The layout of this name, else the first layout with ports of all these speeds (Mb/s). With `ports`, a layout
        with the cages in those modes."""
        speeds = sorted({speed for speed in speeds_mbps if speed})
        if name is None and not speeds:
            return None  # a finding exists for the missing speed
        if ports and name is None:
            return configured(platform, platform.layouts, part, ports, self.findings, speeds)
        if name is not None:
            found = next((layout for layout in platform.layouts if name and name in (layout.name, layout.hwsku)), None)
            key, missing = "layout", f"layout {name!r}"
        else:
            found = platform.layout_for(speeds)
            key, missing = "platform", f"layout for {' and '.join(map(format_speed, speeds))}"
        if found is None:
            message = f"{platform.name} has no {missing}"
            way = suggested(platform, speeds) if name is None else ""
            hint = f"it has: {_offered(platform)}" + (f"; or configure its cages, for example `{way}`" if way else "")
            self.findings.append(error("FG202", message, part, key, hint=hint))
        return configured(platform, [found], part, ports, self.findings) if found and ports else found

    def tier(self, plane: Plane, role: Role) -> TierParts | None:
        """Platform and layout of a plane's tier; None if the plane has no such tier, or it cannot be used."""
        tier = plane.tiers.get(role)
        speeds = {plane.uplink_mbps, plane.speed_mbps if role == Role.LEAF else plane.uplink_mbps}
        return self._tier_parts(plane, tier, speeds) if tier else None

    def _tier_parts(self, plane: Plane, tier: Tier, speeds: Collection[int | None]) -> TierParts | None:
        platform = self.platform(tier.platform, tier)
        serves = platform is not None and self.serves(platform, plane, tier)
        layout = self.layout(platform, tier.layout, tier.ports, speeds, tier) if platform and serves else None
        if platform and layout and not self._runs_at(platform, layout, speeds, tier):
            return None
        newer = [self._tier_parts(plane, each, speeds) for each in tier.newer]
        if platform is None or layout is None or None in newer:
            return None
        return TierParts(tier, platform, layout, tuple(each for each in newer if each))

    def _runs_at(self, platform: SwitchPlatform, layout: Layout, speeds: Collection[int | None], tier: Tier) -> bool:
        """Whether the layout has ports of the plane's speeds; a finding if not."""
        missing = sorted({speed for speed in speeds if speed} - set(layout.speeds_mbps))
        if missing:
            key, what = ("ports", "`ports`") if tier.ports else ("layout", f"layout {layout.name} of {platform.name}")
            message = f"{what} has no port of {format_speed(missing[0])}"
            hint = f"it has: {_offered(platform)}"
            if tier.ports:
                hint = f"give cages of {platform.name} a breakout mode with ports of {format_speed(missing[0])}"
            self.findings.append(error("FG202", message, tier, key, hint=hint))
        return not missing

    def host_model(self, group: str) -> HostModel | None:
        """The host model of a group, of the inventory or else of the catalog; None if it cannot be used."""
        spec = self.inventory.hosts[group]
        own = self.inventory.host_models.get(spec.model)
        if (own and not own.sound) or self._is_cut(spec.model):
            return None  # reported where it is wrong
        model = self.own_host_models.get(spec.model) or catalog.host_model(spec.model)
        if model is None:
            hint = suggest(spec.model, sorted({*self.own_host_models, *catalog.host_names()}))
            self.findings.append(error("FG107", f"no host model is called {spec.model!r}", spec, "model", hint=hint))
        return model

    def _is_cut(self, model: str) -> bool:
        """Whether the inventory's host model violated the schema."""
        described = self.inventory.node.mapping.get("host_models")
        return described is not None and model in described.cut

    def hosts(self, plane: Plane, groups: Sequence[str]) -> list[Host]:
        """The hosts of these groups with NICs for a plane, one group after the other."""
        models = [(name, self._model_on(plane, name)) for name in groups if name in self.inventory.hosts]
        return [
            Host(name, number, model)
            for name, model in models
            if model
            for number in range(self.inventory.hosts[name].count)
        ]

    def _model_on(self, plane: Plane, group: str) -> HostModel | None:
        """The host model of a group; None, with a finding, where it has no NIC for the plane."""
        model = self.host_model(group)
        if model is None:
            return None
        if nics := plane_nics(model, plane):
            self._check_technology(plane, group, nics)
            return model
        built_for = ", ".join(sorted({nic.plane for nic in model.nics}))
        purpose = f" (for {plane.purpose})" if plane.purpose != plane.name else ""
        message = f"hosts {group} ({model.name}) have no NIC for plane {plane.name}{purpose}"
        hint = f"their NICs are for: {built_for}. Remove {group} from the plane, or set the plane's `purpose`"
        if group in plane.hosts:
            self.findings.append(error("FG249", message, plane, "hosts", plane.hosts.index(group), hint=hint))
        elif plane.unit:
            at = plane.unit.appliances.index(group)
            self.findings.append(error("FG249", message, plane.unit, "appliances", at, hint=hint))
        return None

    def _check_technology(self, plane: Plane, group: str, nics: Sequence[HostNic]) -> None:
        """Checks that the NICs of a group run the plane's technology at their speed; unknown NICs pass."""
        technology = {Technology.ROCE: "Ethernet", Technology.INFINIBAND: "InfiniBand"}[plane.technology]
        for name, speed in dict.fromkeys((nic.model, nic.speed_mbps) for nic in nics):
            card = catalog.nic_model(name)
            offered = card.speeds_of(_SWITCHES_FOR[plane.technology]) if card else ()
            if card is None or speed in offered or speed not in card.speeds_mbps:
                continue  # a speed of neither technology is reported where the host model is read
            missing = f"port of {format_speed(speed)}" if offered else "port"
            message = f"hosts {group}: {card.name} has no {technology} {missing}, plane {plane.name} has "
            message += f"`technology: {plane.technology}`"
            hint = (
                f"its {technology} speeds: {', '.join(map(format_speed, offered))}"
                if offered
                else (f"it is for {'RoCE' if plane.technology == Technology.INFINIBAND else 'InfiniBand'} planes only")
            )
            self.findings.append(error("FG254", message, plane, "technology", hint=hint))


def _offered(platform: SwitchPlatform) -> str:
    """The layouts of a platform with their speeds, fastest first."""
    layouts = sorted(platform.layouts, key=lambda layout: layout.speeds_mbps, reverse=True)
    return ", ".join(f"{layout.name} ({' and '.join(map(format_speed, layout.speeds_mbps))})" for layout in layouts)


# Other names that host models use for the NICs of a purpose.
_NIC_PLANES: Mapping[str, tuple[str, ...]] = {"in-band": ("in-band", "management")}


def plane_nics(model: HostModel, plane: Plane) -> list[HostNic]:
    """The NICs of a model for a plane: those with the plane's name, else those for its purpose."""
    named = [nic for nic in model.nics if nic.plane == plane.name]
    return named or purpose_nics(model, plane.purpose)


def purpose_nics(model: HostModel, purpose: Purpose) -> list[HostNic]:
    """The NICs of a model that are built for a purpose."""
    return [nic for nic in model.nics if nic.plane in _NIC_PLANES.get(purpose, (purpose,))]


def make_switch(identity: Identity, parts: TierParts, asn_owner: str = "") -> Switch:
    """A switch of a tier; it has its own ASN unless `asn_owner` is given."""
    device_type = parts.tier.type or DEVICE_TYPES[identity.role]
    return Switch(identity, parts.platform, parts.layout, device_type, asn_owner or str(identity), parts.tier)
