"""What rules ask of the objects of Kubernetes in a bundle: places, groups of hosts, and the NICs of a template."""

from collections.abc import Mapping

from fabricgen.bundle.manifests import Manifest, ObservedManifests
from fabricgen.platforms.catalog import nic_model
from fabricgen.rules.defects import Place
from fabricgen.rules.view.host_groups import HostFiles

GROUP_LABEL = "fabricgen.io/group"
TEMPLATE = "NicConfigurationTemplate"
RENDER_AGAIN = "run `fabricgen handoff kubernetes` again"


def place_of(manifests: ObservedManifests, one: Manifest, *path: str | int) -> Place:
    """A place in an object."""
    return Place(manifests, one.file, one.key, ".".join(map(str, path)))


def group_name(one: Manifest) -> str:
    """The group of hosts that an object selects by label; "" without one."""
    selector = one.get("spec", "nodeSelector")
    return str(selector.get(GROUP_LABEL, "")) if isinstance(selector, Mapping) else ""


def selected_nics(one: Manifest, group: HostFiles) -> list[str]:
    """The NICs of a group that a NicConfigurationTemplate selects."""
    device = str(one.get("spec", "nicSelector", "nicType") or "").lower()
    addresses = one.get("spec", "nicSelector", "pciAddresses") or []
    found = []
    for name, adapter in group.adapters.items():
        card = nic_model(adapter.model)
        if card and card.pci_id == f"15b3:{device}" and (not addresses or not adapter.pci or adapter.pci in addresses):
            found.append(name)
    return found
