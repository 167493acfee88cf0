"""What every design needs: platforms and host models by name, layouts by speed, hosts of a plane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fabricgen.design.model import Host, Identity, Switch
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding
from fabricgen.inventory.model import Inventory, Part, Plane, Tier
from fabricgen.inventory.references import error, suggest
from fabricgen.platforms import catalog
from fabricgen.platforms.model import HostModel, HostNic, Layout, SwitchPlatform
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.units import format_speed


class TierParts(NamedTuple):
    """What the switches of a tier are made of."""

    tier: Tier
    platform: SwitchPlatform
    layout: Layout


@dataclass
class PartsList:
    """Lookups of one inventory; what is not found becomes a finding, once for each place."""

    inventory: Inventory
    root: Path
    findings: list[Finding]
    units: Mapping[str, Sequence[int]]  # plane/group -> the units it was given, from the lock

    @cached_property
    def own_platforms(self) -> dict[str, SwitchPlatform]:
        """The platforms of the person's own files."""
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
                    )
                )
                continue
            found[platform.name] = platform
        return found

    def platform(self, name: str, part: Part) -> SwitchPlatform | None:
        """A switch model by name."""
        platform = self.own_platforms.get(name) or catalog.switch_platform(name)
        if platform is None:
            known = sorted({*self.own_platforms, *catalog.switch_names()})
            self.findings.append(
                error("FG107", f"no switch platform is called {name!r}", part, "platform", hint=suggest(name, known))
            )
        return platform

    def layout(self, platform: SwitchPlatform, name: str | None, speed_mbps: int | None, part: Part) -> Layout | None:
        """The layout that is named, else the one of the plane's speed."""
        if name is not None:
            found = next((layout for layout in platform.layouts if name in (layout.name, layout.hwsku)), None)
            key, asked = "layout", f"layout {name!r}"
        else:
            found = platform.layout_for(speed_mbps) if speed_mbps else None
            key, asked = (
                "platform",
                f"layout for {format_speed(speed_mbps)}" if speed_mbps else "layout without a speed",
            )
        if found is None:
            offered = ", ".join(f"{layout.name} ({format_speed(layout.speed_mbps)})" for layout in platform.layouts)
            self.findings.append(
                error("FG202", f"{platform.name} has no {asked}", part, key, hint=f"it has: {offered}")
            )
        return found

    def tier(self, plane: Plane, role: str) -> TierParts | None:
        """Platform and layout of a plane's tier; None when there is none, or none that can be used."""
        tier = plane.tiers.get(role)
        platform = self.platform(tier.platform, tier) if tier else None
        layout = self.layout(platform, tier.layout, plane.speed_mbps, tier) if tier and platform else None
        return TierParts(tier, platform, layout) if tier and platform and layout else None

    def host_model(self, group: str) -> HostModel | None:
        """The host model of a group."""
        spec = self.inventory.hosts[group]
        model = catalog.host_model(spec.model)
        if model is None:
            hint = suggest(spec.model, sorted(catalog.host_names()))
            self.findings.append(error("FG107", f"no host model is called {spec.model!r}", spec, "model", hint=hint))
        return model

    def hosts(self, plane: Plane) -> list[Host]:
        """The hosts of a plane, group by group."""
        groups = [name for name in plane.hosts if name in self.inventory.hosts]
        models = [(name, self._model_on(plane, name)) for name in groups]
        return [
            Host(name, number, model)
            for name, model in models
            if model
            for number in range(self.inventory.hosts[name].count)
        ]

    def _model_on(self, plane: Plane, group: str) -> HostModel | None:
        """The host model of a group; None, with a finding, where it has no NIC for the plane."""
        model = self.host_model(group)
        if model is None or plane_nics(model, plane):
            return model
        built_for = ", ".join(sorted({nic.plane for nic in model.nics}))
        purpose = f" (for {plane.purpose})" if plane.purpose != plane.name else ""
        message = f"hosts {group} ({model.name}) have no NIC for plane {plane.name}{purpose}"
        hint = f"their NICs are for: {built_for}. Take {group} out of the plane, or set the plane's `purpose`"
        self.findings.append(error("FG249", message, plane, "hosts", plane.hosts.index(group), hint=hint))
        return None


# What host models call the NICs of a purpose, where that is not the purpose itself.
_NIC_PLANES = {"in-band": ("in-band", "management")}


def plane_nics(model: HostModel, plane: Plane) -> list[HostNic]:
    """The NICs that a model has for a plane: those built for it by name, else those built for its purpose."""
    named = [nic for nic in model.nics if nic.plane == plane.name]
    return named or [nic for nic in model.nics if nic.plane in _NIC_PLANES.get(plane.purpose, (plane.purpose,))]


def make_switch(identity: Identity, parts: TierParts, asn_owner: str = "") -> Switch:
    """A switch of a tier; its ASN is its own unless an owner is named."""
    device_type = parts.tier.type or DEVICE_TYPES[identity.role]
    return Switch(identity, parts.platform, parts.layout, device_type, asn_owner or str(identity), parts.tier)
