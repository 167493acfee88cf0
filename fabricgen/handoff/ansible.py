"""An Ansible project: inventory, host variables with digests, the files, playbooks, and the role that they run.

The project's fixed parts and the templates of the others lie in templates/handoff/ansible. They are Ansible's Jinja
themselves, so ours has its own marks there: [[ value ]] and [% statement %].

The role decides on the switch, against what runs there, by the same code as `fabricgen diff` does: its module_utils are
completed with those modules, so that nobody needs fabricgen where Ansible runs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fabricgen.bundle.manifest import digest
from fabricgen.bundle.read import CONFIG_NAME, Bundle, ObservedDevice
from fabricgen.bundle.wiring import Endpoint, WiredDevice
from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_SWITCHES, Handoff
from fabricgen.handoff.chosen import chosen_devices
from fabricgen.handoff.management import management_addresses
from fabricgen.handoff.templates import yaml_bytes
from fabricgen.resources import package_text, resource
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.schema import table_names
from fabricgen.sonic.secrets import SECRET_FIELDS, SECRET_TABLES
from fabricgen.sonic.switch_made import TABLES

TIERS = {"leaf": 1, "spine": 2, "core": 3}
ALL = "sonic"
ABSENT_STATES = ("planned", "failed")  # of a device that nobody can log in to
SHARED_TABLES = (*TABLES, "DEVICE_METADATA")  # that the image writes to as well

_ROLE = "roles/sonic_config/module_utils/fabricgen_sonic"
_CARRIED = ("diff/changes", "diff/patch", "sonic/canonical", "sonic/secrets", "sonic/switch_made", "sonic/tables",
            "sonic/updater", "sonic/updater_asics")  # fmt: skip
_IMPORT = re.compile(r"^( *from )fabricgen\.(?:diff|sonic)\.(\w+)( import )", re.MULTILINE)


Label = tuple[str | int, ...]  # what a group is of: ("plane", "compute", "rail", 3)


@dataclass(frozen=True)
class Stage:
    """One play: switches that are changed one by one before the next stage begins."""

    title: str
    hosts: str  # an Ansible host pattern


def ansible_files(bundle: Bundle, only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the project, in the same order for the same bundle.

    `only` are shell patterns over device names, with commas between. Raises UsageError when nothing matches, and for
    names that Ansible cannot hold; UnreadableInputError for a file that is no JSON.
    """
    devices = chosen_devices(bundle, only)
    context = {
        "fabric": bundle.wiring.fabric if bundle.wiring else "",
        "all_switches": ALL,
        "stages": _stages(devices),
        "present": _present(ALL, devices),
        "shared_tables": sorted(SHARED_TABLES),
        "secret_fields": sorted(SECRET_FIELDS),
        "secret_tables": sorted(SECRET_TABLES),
    }
    yield from _project(resource("templates", "handoff", "ansible"), context)
    yield from _carried_modules()
    yield "inventory.yml", _yaml({"all": {"children": _groups(devices)}})
    far_ends = _far_ends(bundle)
    for device in devices:
        variables = _host_vars(device) | _surroundings(bundle, device, far_ends[device.name])
        yield f"host_vars/{device.name}.yml", _yaml(variables)
        yield _config_path(device), device.text


def _config_path(device: ObservedDevice) -> str:
    return f"files/{device.name}/{CONFIG_NAME}"


def _host_vars(device: ObservedDevice) -> dict[str, object]:
    """What Ansible must know of a switch; nothing of its configuration."""
    found: dict[str, object] = {}
    for address, _ in islice(management_addresses(device), 1):
        found["ansible_host"] = address.ip
    found["fabricgen_config_file"] = _config_path(device)
    found["fabricgen_config_sha256"] = digest(device.text)
    if wired := device.wired:
        names = (
            "identity",
            "plane",
            "subplane",
            "role",
            "pod",
            "su",
            "rail",
            "hwsku",
            "rack",
            "unit",
            "serial",
            "state",
        )
        values = {name: getattr(wired, name) for name in names}
        found |= {f"fabricgen_{name}": value for name, value in values.items() if value not in (None, "")}
    return found


def _far_ends(bundle: Bundle) -> Mapping[str, Mapping[str, Endpoint]]:
    """device -> port -> the far end of the cable between switches that is plugged in there."""
    found: dict[str, dict[str, Endpoint]] = {name: {} for name in bundle.devices}
    for link in bundle.switch_links:
        found[link.a[0]][link.a[1]] = link.b
        found[link.b[0]][link.b[1]] = link.a
    return found


def _surroundings(bundle: Bundle, device: ObservedDevice, far_ends: Mapping[str, Endpoint]) -> dict[str, object]:
    """What a switch is to see: the far end of each cable to a switch that is there, and the switches that are not."""
    absent = {name for name, _ in far_ends.values() if _is_absent(bundle.devices[name])}
    links = {
        port: {"device": name, "port": end, "alias": bundle.devices[name].text_of("PORT", end, "alias") or end}
        for port, (name, end) in sorted(far_ends.items(), key=lambda item: natural_key(item[0]))
        if name not in absent
    }
    found: dict[str, object] = {"fabricgen_links": links} if links and not _is_absent(device) else {}
    return found | ({"fabricgen_absent": sorted(absent, key=natural_key)} if absent else {})


def _is_absent(device: ObservedDevice) -> bool:
    return device.wired is not None and device.wired.state in ABSENT_STATES


def _groups(devices: list[ObservedDevice]) -> dict[str, object]:
    """The groups below `all`: every switch, then planes with their stages below, roles, tiers, pods, units, states.

    Raises UsageError when two groups, or a group and a device, would have the same name.
    """
    members: dict[Label, list[str]] = {}
    stages: dict[Label, list[Label]] = {}
    for device in devices:
        for label in (_stage_label(device), *_labels(device.wired)):
            members.setdefault(label, []).append(device.name)
    for label in members:
        if label[0] == "plane":
            stages.setdefault(label[:2], []).append(label)
    owners = dict.fromkeys(("all", "ungrouped", ALL), "Ansible's own group")
    names = [(f"device {device.name}", device.name) for device in devices]
    for title, name in (*names, *((" ".join(map(str, label)), _group_name(label)) for label in (*stages, *members))):
        if (other := owners.setdefault(name, title)) != title:
            raise UsageError(f"{title} and {other} would both be {name} in Ansible; rename one of them")
    everyone = {
        "vars": {"ansible_python_interpreter": "/usr/bin/python3"},
        "hosts": _names(device.name for device in devices),
    }
    parents = {_group_name(label): {"children": _names(map(_group_name, below))} for label, below in stages.items()}
    groups = {_group_name(label): {"hosts": _names(hosts)} for label, hosts in members.items()}
    return {ALL: everyone, **_sorted(parents), **_sorted(groups)}


def _stage_label(device: ObservedDevice) -> Label:
    """The switches that change together: those of a rail; above the rails, those of a role."""
    wired = device.wired
    if wired is None:
        return ("unplaced",)
    copy = () if wired.subplane is None else ("subplane", wired.subplane)
    return ("plane", wired.plane, *copy, *(("rail", wired.rail) if wired.rail is not None else (wired.role,)))


def _labels(wired: WiredDevice | None) -> Iterator[Label]:
    """The other groups that a switch is in."""
    if wired is None:
        return
    tier = TIERS.get(wired.role)
    numbers = (("tier", tier), ("pod", wired.pod), ("su", wired.su))
    yield from (("role", wired.role), ("state", wired.state))
    yield from ((what, number) for what, number in numbers if number is not None)


def _group_name(label: Label) -> str:
    return re.sub(r"[^a-z0-9_]", "_", "_".join(map(str, label)).lower())


def _names(names: Iterable[str]) -> dict[str, object]:
    return {name: {} for name in sorted(names, key=natural_key)}


def _sorted(groups: Mapping[str, object]) -> dict[str, object]:
    return {name: groups[name] for name in sorted(groups, key=natural_key)}


def _stages(devices: list[ObservedDevice]) -> list[Stage]:
    """The order of the roll-out: plane by plane and subplane by subplane, each rail by itself, then the tiers above."""
    members: dict[Label, list[ObservedDevice]] = {}
    for device in devices:
        members.setdefault(_stage_label(device), []).append(device)
    return [
        Stage(" ".join(map(str, label)), _present(_group_name(label), members[label]))
        for label in sorted(members, key=lambda label: _rank(members[label][0]))
    ]


def _present(group: str, devices: Iterable[ObservedDevice]) -> str:
    """The host pattern of the group's switches that somebody can log in to."""
    states = {device.wired.state for device in devices if device.wired}
    absent = (f"!{_group_name(('state', state))}" for state in ABSENT_STATES if state in states)
    return ":".join([group, *absent])


def _rank(device: ObservedDevice) -> tuple[object, ...]:
    wired = device.wired
    if wired is None:
        return (1,)
    return (
        0,
        natural_key(wired.plane),
        wired.subplane or 0,
        wired.rail is None,
        wired.rail or 0,
        TIERS.get(wired.role, 0),
        wired.role,
    )


def _project(folder: Path, context: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
    import jinja2  # only a handoff that is written needs it

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if "__pycache__" in path or not file.is_file():
            continue
        if file.suffix == ".j2":
            yield path.removesuffix(".j2"), environment.get_template(path).render(context).encode()
        else:
            yield path, file.read_bytes()


def _carried_modules() -> Iterator[tuple[str, bytes]]:
    """The modules that say what a change costs, as part of the role; and the names of tables that have a YANG model."""
    for name in _CARRIED:
        text = _IMPORT.sub(r"\1ansible.module_utils.fabricgen_sonic.\2\3", package_text(f"{name}.py"))
        yield f"{_ROLE}/{name.rpartition('/')[2]}.py", text.encode()
    names = "".join(f'    "{name}",\n' for name in sorted(table_names()))
    text = f'''"""The tables that have a YANG model."""

NAMES = frozenset([
{names}])


def table_names():
    """All of them."""
    return NAMES
'''
    yield f"{_ROLE}/schema.py", text.encode()


def _yaml(value: object) -> bytes:
    return yaml_bytes(value, explicit_start=True)


HANDOFF = Handoff(
    "ansible",
    "Write an Ansible project: inventory, host variables with digests, the files, playbooks and their role.",
    ansible_files,
    (ONLY_SWITCHES,),
    "ansible-playbook -i {output}/inventory.yml {output}/playbooks/check.yml",
)
