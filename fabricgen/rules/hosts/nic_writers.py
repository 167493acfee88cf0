"""The rule on what writes the settings of NICs: one program for each."""

from collections.abc import Iterator

from fabricgen.bundle.manifests import Manifest
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.hosts.files import SCRIPT
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import host_groups
from fabricgen.rules.view.manifests import RENDER_AGAIN, TEMPLATE, group_name, place_of, selected_nics
from fabricgen.vocabulary import NicSettings

_ROCE, _SPECTRUM_X = "roceOptimized", "spectrumXOptimized"


@rule("FG922", Severity.ERROR, "Two programs write the settings of NICs", Basis.AGREEMENT)
def one_writer(fabric: Fabric) -> Iterator[Defect]:
    """What: `nic_settings` of a group names what writes the RoCE settings of its NICs. The script fabricgen-roce is in
    its folder with `script` only. A NicConfigurationTemplate in kubernetes/ enables the one of roceOptimized and
    spectrumXOptimized that `nic_settings` names, and no NIC has two templates.

    Why: The script and the operator write trust, PFC and CNPs by turns, each time one of them starts. The API server
    refuses a template with both, and of two templates for one NIC the operator applies none.

    Example: kubernetes/gpu/nic-settings.yaml enables roceOptimized, and hosts/gpu has fabricgen-roce.

    Fix: Set `nic_settings` of the group in the inventory, and render.

    Source: Mellanox/nic-configuration-operator@8bfbeb34 config/crd/bases (validation of the template) and
    internal/controller/nicconfigurationtemplate_controller.go; templates/hosts/fabricgen-roce.j2.
    """
    groups = {group.files.group: group for group in host_groups(fabric)}
    for group in groups.values():
        if group.nic_settings != NicSettings.SCRIPT and SCRIPT in group.files.files:
            message = (
                f"the NICs of group {group.files.group} have {group.nic_settings}, and this script writes them, too"
            )
            yield Defect(group.place(SCRIPT), message, "remove the script, or set `nic_settings: script`")
    if (manifests := fabric.bundle.kubernetes) is None:
        return
    chosen: dict[tuple[str, str], Manifest] = {}
    for one in manifests.objects:
        if one.kind != TEMPLATE:
            continue
        enabled = [name for name in (_ROCE, _SPECTRUM_X) if one.get("spec", "template", name, "enabled") is True]
        place = place_of(manifests, one, "spec", "template", *enabled[-1:])
        if len(enabled) > 1:
            yield Defect(place, "both roceOptimized and spectrumXOptimized are enabled", "keep one of them")
        owner = groups.get(group_name(one))
        if owner is None or not enabled:
            continue
        nics = selected_nics(one, owner)
        if owner.nic_settings == NicSettings.SCRIPT:
            message = f"{enabled[-1]} writes the NICs of group {owner.files.group}, and so does fabricgen-roce"
            related = (("the script", owner.place(SCRIPT)),)
            yield Defect(place, message, "set `nic_settings` of the group in the inventory, and render", related)
        elif len(enabled) == 1 and (enabled[0] == _SPECTRUM_X) != bool(owner.of_spectrum_x & set(nics)):
            message = f"{enabled[0]} is enabled, but group {owner.files.group} has `nic_settings: {owner.nic_settings}`"
            yield Defect(place, message, RENDER_AGAIN)
        for nic in nics:
            first = chosen.setdefault((owner.files.group, nic), one)
            if first is not one:
                message = f"{nic} has another template, {first.name}: the operator applies none of them"
                related = (("the other template", place_of(manifests, first, "spec", "nicSelector")),)
                yield Defect(place_of(manifests, one, "spec", "nicSelector"), message, "select each NIC once", related)
