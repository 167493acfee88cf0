"""Identity to name: from `devices`, else the pattern, else the lock file, else the default pattern."""

from collections.abc import Collection, Mapping
from string import ascii_lowercase

from fabricgen.allocation.lock import Lock
from fabricgen.allocation.refusals import Refused
from fabricgen.design.model import Fabric, Host, Identity, Switch
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.model import DeviceNote, Inventory
from fabricgen.inventory.plane import Plane
from fabricgen.vocabulary import Role

_HOST_PATTERN = "{group}-{number:03}"
# Linux refuses a hostname above 64 characters (HOST_NAME_MAX, sethostname(2)), DNS a label above 63 (RFC 1035, 2.3.4).
_MOST_CHARACTERS = 63
_HOST_KEYS = {"name", "rack", "unit", "serial"}  # of `devices`


def name_switches(fabric: Fabric, lock: Lock, findings: list[Finding], refusals: list[Refused]) -> dict[str, str]:
    """Identity -> name. A name for two switches is reported."""
    renamed = {note.identity: note for note in fabric.inventory.devices if note.identity and note.name}
    names: dict[str, str] = {}
    owner: dict[str, Switch] = {}
    reported: set[tuple[str | None, str]] = set()  # once for each pattern
    too_long: set[tuple[str | None, str]] = set()
    for switch in fabric.switches:
        of_plane = fabric.inventory.planes[switch.identity.plane]
        part = of_plane if switch.role in of_plane.names else fabric.inventory
        pattern = part.names.get(switch.role)
        if switch.key in renamed:
            name = renamed[switch.key].name
        elif switch.identity.label is not None:
            name = switch.identity.label
        elif pattern is not None:
            name = _fill(pattern, fabric, switch.identity)
        else:
            name = lock.names.get(switch.key) or _fill(_default_pattern(switch.identity), fabric, switch.identity)
        if name in owner and lock.names.get(switch.key) == lock.names.get(owner[name].key) == name and pattern is None:
            refusals.append(Refused("names", switch.key, name, "", twin=owner[name].key))
        elif name in owner and (pattern is None or (pattern, switch.role) not in reported):
            reported.add((pattern, switch.role))
            message = f"{owner[name].key} and {switch.key} would both have the name {name!r}"
            hint = "use {plane}, {subplane}, {pod}, {su}, {rail} or {number} in the pattern in `names:`"
            findings.append(error("FG208", message, part, "names", switch.role, hint=hint))
        owner.setdefault(name, switch)
        names[switch.key] = name
        if len(name) > _MOST_CHARACTERS and (pattern, switch.role) not in too_long:
            too_long.add((pattern, switch.role))
            findings.append(_too_long(name, part, "names", switch.role) if pattern else _too_long(name, of_plane))
    return names


def name_hosts(fabric: Fabric, switch_names: Collection[str], findings: list[Finding]) -> dict[str, str]:
    """Identity of a host -> name. A name for two devices is reported."""
    pattern = fabric.inventory.names.get("host", _HOST_PATTERN)
    names = {host.key: _fill_host(pattern, fabric, host) for host in fabric.hosts}
    owner = {name: f"switch {name}" for name in switch_names}
    for key, name in names.items():
        if name in owner:
            message = f"{owner[name]} and host {key} would both have the name {name!r}"
            hint = "use {group} and {number} in the pattern in `names:`"
            findings.append(error("FG208", message, fabric.inventory, "names", "host", hint=hint))
            break  # once for the pattern
        owner[name] = f"host {key}"
    if long := next((host for host in fabric.hosts if len(names[host.key]) > _MOST_CHARACTERS), None):
        steps = ("names", "host") if "host" in fabric.inventory.names else ("hosts", long.group)
        findings.append(_too_long(names[long.key], fabric.inventory, *steps))
    return names


def _too_long(name: str, part: Inventory | Plane, *steps: str) -> Finding:
    """A name of a pattern, at the pattern or at what the default pattern repeats."""
    message = f"the name {name!r} has {len(name)} characters; a hostname has at most {_MOST_CHARACTERS}"
    hint = "write a shorter pattern" if steps[:1] == ("names",) else "shorten it, or write a pattern under `names:`"
    return error("FG105", message, part, *steps, hint=hint)


def notes_by_identity(fabric: Fabric, names: Mapping[str, str]) -> dict[str, DeviceNote]:
    """Identity -> entry of `devices`, for the names of switches or hosts."""
    by_name = {note.name: note for note in fabric.inventory.devices if note.name}
    unnamed = {note.identity: note for note in fabric.inventory.devices if note.identity and not note.name}
    found = {key: by_name[name] for key, name in names.items() if name in by_name}
    return {**{key: note for key, note in unnamed.items() if key in names}, **found} if unnamed else found


def _default_pattern(identity: Identity) -> str:
    fields = {"subplane": "{subplane}", "pod": "p{pod:02}", "su": "su{su:02}", "rail": "r{rail}"}
    given = [text for field, text in fields.items() if getattr(identity, field) is not None]
    number = [] if identity.role == Role.LEAF and identity.rail is not None else ["{number:02}"]
    return "-".join(["{plane}", *given, "{role}", *number])


def _fill(pattern: str, fabric: Fabric, identity: Identity) -> str:
    fields = {name: getattr(identity, name) or 0 for name in ("pod", "su", "rail", "number")}
    texts = {"fabric": fabric.inventory.fabric, "plane": identity.plane, "role": identity.role, "group": ""}
    return pattern.format(subplane=subplane_letter(identity.subplane), **texts, **fields)


def subplane_letter(subplane: int | None) -> str:
    """The letter of a subplane: 0 to 'a', and no letter without subplanes."""
    return "" if subplane is None else ascii_lowercase[subplane]


def _fill_host(pattern: str, fabric: Fabric, host: Host) -> str:
    fields = {"group": host.group, "number": host.number, "fabric": fabric.inventory.fabric, "role": "host"}
    return pattern.format(plane="", subplane="", pod=0, su=0, rail=0, **fields)


def check_notes(
    fabric: Fabric, names: Mapping[str, str], host_names: Mapping[str, str], findings: list[Finding]
) -> None:
    """Report entries of `devices` for no device, and what hosts cannot have. `names` are those of switches."""
    switches, hosts = set(names.values()), set(host_names.values())
    for note in fabric.inventory.devices:
        if note.identity and note.identity not in names:
            hint = suggest(note.identity, sorted(names))
            findings.append(
                error("FG107", f"the identity {note.identity!r} does not exist", note, "identity", hint=hint)
            )
        elif not note.identity and note.name not in switches | hosts:
            hint = suggest(note.name, sorted(switches | hosts))
            findings.append(error("FG107", f"the device {note.name!r} does not exist", note, "name", hint=hint))
        elif note.name in hosts:
            for key in sorted(note.node.mapping.keys() - _HOST_KEYS):
                message = f"{note.name} is a host, and {key} is a key of switches"
                findings.append(
                    error("FG105", message, note, key, hint=f"remove {key}; a host has rack, unit and serial")
                )
