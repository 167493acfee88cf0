"""What the files have that a SONiC release does not support (`validate --release`, `diff --release`).

This check is not a rule, because the user chooses the release. codes.yaml describes its codes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.codes import chosen
from fabricgen.findings import Finding, Severity
from fabricgen.rules.defects import Defect, Place, grouped
from fabricgen.sonic.image import uses_frr_framework
from fabricgen.sonic.release_models import image_of, unknown_paths, when
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.updater.unparsed import unparsed
from fabricgen.units import counted
from fabricgen.vocabulary import LinkKind

_ONE_FILE_SINCE = 202605  # sonic-buildimage pull request 27547, dockers/docker-fpm-frr/docker_init.sh
_UPWARD = (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)


def of_release(bundle: Bundle, release: int, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> list[Finding]:
    """The findings of all devices. `select` and `ignore` are prefixes of codes."""
    is_chosen = chosen(select, ignore)
    found: list[Finding] = []
    judges = {"FG445": _unparsed, "FG450": _unknown, "FG451": _one_file, "FG452": _paths_left_out}
    for code, defects_of in judges.items():
        if is_chosen(code):
            found += [one.finding(code, Severity.WARNING) for one in grouped(defects_of(bundle, release))]
    return found


def _unknown(bundle: Bundle, release: int) -> Iterator[Defect]:
    """Tables, rows and fields without a model."""
    for device in bundle.devices.values():
        for table, key, field, having in unknown_paths(device.config, release):
            message = f"the YANG models of {release_name(release)} do not have it; it exists {when(having, release)}"
            is_later = max(having) > release
            hint = "remove it, or wait for the upgrade" if is_later else "remove it before the upgrade"
            yield Defect(Place(device, table, key, field), message, hint)


def _one_file(bundle: Bundle, release: int) -> Iterator[Defect]:
    for device in bundle.devices.values() if release >= _ONE_FILE_SINCE else ():
        mode = device.row("DEVICE_METADATA", "localhost").get("docker_routing_config_mode", "")
        if mode in ("", "separated") and uses_frr_framework(device.config):
            message = f"from {release_name(_ONE_FILE_SINCE)} on, frrcfgd has no separate files: FRR reads one frr.conf"
            hint = 'write "unified", which all releases have'
            yield Defect(Place(device, "DEVICE_METADATA", "localhost", "docker_routing_config_mode"), message, hint)


def _unparsed(bundle: Bundle, release: int) -> Iterator[Defect]:
    for device in bundle.devices.values():
        for table, key, field in unparsed(device.config, release):
            message = f"the YANG library of {release_name(release)} cannot read it: the updater refuses each patch"
            hint = "change the switch by `config reload` without FILE, which does not validate, or use 202511 or later"
            yield Defect(Place(device, table, key, field), message, hint)


def _paths_left_out(bundle: Bundle, release: int) -> Iterator[Defect]:
    """Switches with more links upward than equal paths. A file of the management framework states its own number."""
    most = image_of(release).maximum_paths
    upward = Counter(link.a[0] for link in bundle.switch_links if link.kind in _UPWARD)
    for name, links in upward.items():
        device = bundle.devices[name]
        if links > most and not uses_frr_framework(device.config):
            used = f"{release_name(release)} uses {most} equal paths to a prefix"
            message = f"the switch has {counted(links, 'link')} upward, and {used}"
            hint = f"use fewer uplinks, a later release, or frr_mgmt_framework_config with max_ebgp_paths {links}"
            yield Defect(Place(device, "BGP_NEIGHBOR"), message, hint)
