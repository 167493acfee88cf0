"""An Ansible project: inventory, host variables with digests, configuration files, playbooks, and the role they use.

The fixed files of the project and the templates of the others are in templates/handoff/ansible. They contain Ansible's
own Jinja expressions, so our templates use other marks: [[ value ]] and [% statement %].

The role compares and costs a change on the switch with the modules of `fabricgen diff`, which the project contains.
Ansible needs no fabricgen.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.atomic import Private
from fabricgen.bundle.manifest import digest
from fabricgen.bundle.names import CONFIG_NAME
from fabricgen.handoff import ONLY_SWITCHES, Handoff, Option
from fabricgen.handoff.aliases import Aliases
from fabricgen.handoff.ansible_groups import ALL, host_groups, is_absent, present_pattern, stages_of
from fabricgen.handoff.chosen import chosen_devices, frr_file_of
from fabricgen.handoff.management import management_addresses
from fabricgen.handoff.secret_rows import SecretRows
from fabricgen.resources import package_files, package_text, resource
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.switch_made import TABLES
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.bundle.device import Signs
    from fabricgen.bundle.read import Bundle, ObservedDevice
    from fabricgen.bundle.wiring import Endpoint
    from fabricgen.handoff.folder import WrittenFiles


SHARED_TABLES = (*TABLES, "DEVICE_METADATA")  # tables that the image also writes
_PLACE = ("identity", "plane", "subplane", "role", "pod", "su", "rail", "hwsku", "rack", "unit", "serial", "state")


def ansible_files(bundle: "Bundle", only: str | None = None, plan: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the project's files, in the same order for the same bundle.

    `only` is a list of shell patterns for device names, separated by commas, `plan` the file of a plan whose order the
    roll-out follows. Raises UsageError when no name matches, for a plan of other switches, and for names that Ansible
    does not allow; UnreadableInputError for a file that is not JSON.
    """
    from fabricgen.handoff.ansible_order import planned_stages
    from fabricgen.sonic.frr_lines import FRR_CONF
    from fabricgen.sonic.secrets import SECRET_FIELDS, SECRET_TABLES  # its expressions take 3 ms

    devices = chosen_devices(bundle, only)
    by_name = {device.name: device for device in devices}
    context = {
        "fabric": bundle.wiring.fabric if bundle.wiring else "",
        "all_switches": ALL,
        "stages": planned_stages(Path(plan), by_name) if plan else stages_of(devices),
        "present": present_pattern(ALL, devices),
        "shared_tables": sorted(SHARED_TABLES),
        "secret_fields": sorted(SECRET_FIELDS),
        "secret_tables": sorted(SECRET_TABLES),
    }
    yield from _project(resource("templates", "handoff", "ansible"), context)
    yield from role_modules()
    yield "inventory.yml", _yaml({"all": {"children": host_groups(devices)}})
    far_ends, aliases = _far_ends(bundle), Aliases(bundle.devices)
    absent = {name for name, device in bundle.devices.items() if is_absent(device)}
    variables, secrets = {}, SecretRows()
    for device in devices:  # everything that its file says, by one read of it
        signs = device.signs
        is_private = secrets.are_in(device.config, has_forms=signs.secrets)
        yield _config_path(device), Private(device.text) if is_private else device.text
        variables[device.name] = _host_vars(device, signs)
        if (frr_conf := frr_file_of(device)) is not None:
            path = f"files/{device.name}/{FRR_CONF}"
            yield path, frr_conf
            digests = {"fabricgen_frr_file": path, "fabricgen_frr_sha256": digest(frr_conf)}
            variables[device.name] |= digests
        aliases.read(device.name)
    for device in devices:
        surroundings = _surroundings(device.name, far_ends[device.name], absent, aliases)
        yield f"host_vars/{device.name}.yml", _yaml(variables[device.name] | surroundings)


def _config_path(device: "ObservedDevice") -> str:
    return f"files/{device.name}/{CONFIG_NAME}"


def _host_vars(device: "ObservedDevice", signs: "Signs") -> dict[str, object]:
    """The variables of a switch: address, file, digest and place, without its configuration."""
    found: dict[str, object] = {}
    for address, _ in islice(management_addresses(device), 1):
        found["ansible_host"] = address.ip
    found["fabricgen_config_file"] = _config_path(device)
    found["fabricgen_config_sha256"] = signs.digest
    if wired := device.wired:
        values = {name: getattr(wired, name) for name in _PLACE}
        found |= {f"fabricgen_{name}": value for name, value in values.items() if value not in (None, "")}
    return found


def _far_ends(bundle: "Bundle") -> Mapping[str, Mapping[str, "Endpoint"]]:
    """device -> port -> the far end of the cable between switches at that port, without cordoned links."""
    found: dict[str, dict[str, Endpoint]] = {name: {} for name in bundle.devices}
    for link in (link for link in bundle.switch_links if link.a not in bundle.cordoned):
        found[link.a[0]][link.a[1]] = link.b
        found[link.b[0]][link.b[1]] = link.a
    return found


def _surroundings(
    device: str, far_ends: Mapping[str, "Endpoint"], absent: Collection[str], aliases: Aliases
) -> dict[str, object]:
    """The expected neighbors of a switch: the far end of each cable to a present switch, and the absent switches."""
    links = {
        port: {"device": name, "port": end, "alias": aliases.label((name, end))}
        for port in sorted(far_ends, key=natural_key)
        for name, end in (far_ends[port],)
        if name not in absent
    }
    found: dict[str, object] = {"fabricgen_links": links} if links and device not in absent else {}
    near = {name for name, _ in far_ends.values() if name in absent}
    return found | ({"fabricgen_absent": sorted(near, key=natural_key)} if near else {})


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
        if not file.is_file() or "__pycache__" in path:
            continue
        if file.suffix == ".j2":
            yield path.removesuffix(".j2"), environment.get_template(path).render(context).encode()
        else:
            yield path, file.read_bytes()


def _yaml(value: object) -> bytes:
    from fabricgen.yaml_blocks import dumped  # it imports YAML

    return dumped(value, explicit_start=True, unsafe=True)


def _notes(files: "WrittenFiles") -> Iterator[str]:
    if files.private:
        yield f"{counted(files.private, 'file')} of switches with secrets, mode 0600: use `!secret` in the inventory"


HANDOFF = Handoff(
    "ansible",
    "Write an Ansible project: inventory, host variables with digests, the files, playbooks and their role.",
    ansible_files,
    (ONLY_SWITCHES, Option("plan", "plan.json of `diff --format plan`: apply.yml follows its order.", metavar="FILE")),
    "ansible-playbook -i {output}/inventory.yml {output}/playbooks/check.yml",
    _notes,
    examples=("", "--only '*-leaf'"),
)


# The modules of the Ansible role: the package fabricgen.deploy and what it imports, as they are in this package.
#
# The package keeps its structure below module_utils/fabricgen_sonic/, so relative imports work there. The modules in
# library/ are programs that Ansible finds by their file names.

ROLE = "roles/sonic_config"
PACKAGE = f"{ROLE}/module_utils/fabricgen_sonic"
# What fabricgen.deploy imports.
SHARED_MODULES = (
    "__init__.py",
    "diff/__init__.py", "diff/batches.py", "diff/bindings.py", "diff/buffermgrd.py", "diff/changes.py",
    "diff/patch.py", "diff/plan.py", "diff/price.py", "diff/sorting.py", "diff/split.py", "diff/step.py",
    "sonic/__init__.py", "sonic/canonical.py", "sonic/releases.py", "sonic/secrets.py", "sonic/statements.py",
    "sonic/switch_made.py", "sonic/tables.py", "sonic/updater/__init__.py", "sonic/updater/live.py",
    "sonic/updater/tables.py", "sonic/updater/unparsed.py", "sonic/updater/validators.py",
    "sonic/updater/verdicts.py", "sonic/yang_tables.py",
)  # fmt: skip


def role_modules() -> Iterator[tuple[str, bytes]]:
    """(path in the project, bytes) of the role's Python files."""
    for name in package_files("deploy/library"):
        yield f"{ROLE}/library/{name.rpartition('/')[2]}", package_text(name).encode()
    for name in (*SHARED_MODULES, *package_files("deploy")):
        yield f"{PACKAGE}/{name}", package_text(name).encode()
