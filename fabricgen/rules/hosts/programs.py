"""The rule on the script that applies the settings of NICs, and on the unit that starts it."""

import re
import shlex
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.platforms.catalog import nic_model
from fabricgen.rules.defects import Defect
from fabricgen.rules.hosts.files import SCRIPT, UNIT
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.vocabulary import NicSettings

# The settings of roce/<plane>.conf that a script must use for any driver, and those for drivers with a further need.
_USED = ("INTERFACES", "PFC", "DSCP_PRIORITY", "CNP_DSCP", "CNP_PRIORITY")
_USED_BY_DRIVER = {"mlx5_core": ("TOS", "TRUST", "CABLE_M", "STALL_MS"), "bnxt_en": ("TOS",)}
_COMMENT = re.compile(r"(^|\s)#.*")
_FUNCTION = re.compile(r"(?m)^(\w+) ?\(\)")
_STOP = re.compile(r"(exit|exec)\b")
# Keys of the unit -> what they do to the script (systemd.unit(5), systemd.exec(5)). It writes to /sys and /etc as root.
_HINDERING = (
    (re.compile(r"User|Group"), "the script needs root"),
    (re.compile(r"DynamicUser|PrivateUsers"), "the script needs root"),
    (re.compile(r"Condition\w+|Assert\w+|ExecCondition"), "systemd may skip the script"),
    (re.compile(r"Protect\w+|Private\w+|ReadOnlyPaths|InaccessiblePaths|Root\w+|CapabilityBoundingSet"),
     "the script cannot write the settings"),
)  # fmt: skip
_HARMLESS = ("no", "false", "off", "0", "root", "")
_RENDER = "run `fabricgen render`"


@rule("FG914", Severity.ERROR, "The settings of NICs are not applied when they appear")
def applied_settings(fabric: Fabric) -> Iterator[Defect]:
    """What: Fabricgen-roce is a script that uses every setting of roce/<plane>.conf, serves the driver of each NIC,
    calls each of its functions and does not stop before its end. fabricgen-roce@.service starts it for an interface,
    and belongs to the device of the interface.

    Why: The QoS of a NIC does not outlive its driver. Without the script or the unit, each reboot returns the NIC to
    the defaults of its firmware: no PFC, and RoCE in a lossy class. The settings then look correct and have no
    effect.

    Example: The script contains only exit 0.

    Fix: Render the file again. To change it, change the template.

    Source: templates/hosts/fabricgen-roce.j2; systemd.unit(5), BindsTo= and the specifier %i.
    """
    for group in host_groups(fabric):
        if not group.lossless_planes:
            continue
        if SCRIPT in group.files.files and group.nic_settings == NicSettings.SCRIPT:
            for message in _script_faults(group):
                yield Defect(group.place(SCRIPT), message, _RENDER)
        if UNIT in group.files.files:
            yield from _unit(group)


def _script_faults(group: HostFiles) -> Iterator[str]:
    text = group.files.text(SCRIPT)
    if not text.startswith("#!"):
        yield "the first line does not name an interpreter, so systemd cannot start the script"
    code = "\n".join(line for line in (_COMMENT.sub("", line) for line in text.splitlines()) if line.strip())
    drivers = _drivers(group)
    wanted = [*_USED, *(name for driver in drivers for name in _USED_BY_DRIVER.get(driver, ()))]
    if unused := [name for name in wanted if not re.search(rf"\b{name}\b", code)]:
        yield f"the script does not use {', '.join(unused)}"
    elif unserved := [driver for driver in drivers if not re.search(rf"\b{driver}\b", code)]:
        yield f"the script does not serve the driver {', '.join(unserved)}"
    functions = _FUNCTION.findall(code)
    if idle := [one for one in functions if len(re.findall(rf"\b{one}\b", code)) < 2]:
        yield f"the script does not call {', '.join(idle)}"
    lines = code.splitlines()
    if stop := next((line for line in lines[:-1] if _STOP.match(line)), None):
        yield f"the script stops at {stop!r}, before its last line"


def _drivers(group: HostFiles) -> list[str]:
    planes = {plane.name for plane in group.lossless_planes}
    nics = group.nics(lambda plane: plane.name in planes)
    models = (nic_model(group.adapters[nic].model) for nic in nics if nic in group.adapters)
    return sorted({model.driver for model in models if model and model.driver})


def _unit(group: HostFiles) -> Iterator[Defect]:
    found = group.files.settings(UNIT)
    commands = [_words(text) for text in found.get("ExecStart", "").split(" ; ")]
    place = next((place for place, words in enumerate(commands) if _starts(words)), None)
    start = commands[place or 0]
    device = "sys-subsystem-net-devices-%i.device"
    starters = f"{found.get('WantedBy', '')} {found.get('RequiredBy', '')}".split()
    faults = {
        "ExecStart": None if place is not None else f"does not start {SCRIPT} for the interface, %I",
        "Type": None if found.get("Type") == "oneshot" else "is not oneshot, but the script ends",
        "BindsTo": None
        if device in f"{found.get('BindsTo', '')} {found.get('After', '')}".split()
        else f"does not name {device}: the script starts before the interface exists",
        "WantedBy": None
        if device in starters or any(word.endswith(".target") for word in starters)
        else f"is {' '.join(starters)}, expected {device}: nothing starts the unit"
        if starters
        else "is missing: nothing starts the unit",
    }
    for key, fault in faults.items():
        if fault:
            yield Defect(group.place(UNIT, key), f"{key} {fault}", _RENDER)
    if not faults["WantedBy"] and device not in starters:
        message = f"WantedBy does not name {device}: after a reload of the driver nothing applies the settings again"
        yield Defect(group.place(UNIT, "WantedBy"), message, _RENDER, severity=Severity.WARNING)
    if not faults["BindsTo"] and device not in found.get("BindsTo", "").split():
        message = f"BindsTo does not name {device}: after a reload of the driver nothing applies the settings again"
        yield Defect(group.place(UNIT, "BindsTo"), message, _RENDER, severity=Severity.WARNING)
    if place:
        message = f"{commands[0][0]} runs before {SCRIPT}, which does not start if it fails"
        yield Defect(group.place(UNIT, "ExecStart"), message, "remove the command", severity=Severity.WARNING)
    if not faults["ExecStart"]:
        yield from _wait(group, start)
    if "--check" in start:
        yield Defect(group.place(UNIT, "ExecStart"), "with --check the script writes nothing", "remove --check")
    if found.get("ExecStart", "").lstrip("@:+!").startswith("-"):
        message = "with - before the command, systemd takes a failure for success"
        yield Defect(group.place(UNIT, "ExecStart"), message, "remove the -", severity=Severity.WARNING)
    for key, text in found.items():
        effect = next((effect for name, effect in _HINDERING if name.fullmatch(key)), None)
        if effect and text.lower() not in _HARMLESS:
            yield Defect(group.place(UNIT, key), f"{key} is {text}: {effect}", f"remove {key}")


def _words(command: str) -> list[str]:
    """The words of a command: systemd reads quotes as sh does."""
    try:
        return shlex.split(command.lstrip("@-:+!"))
    except ValueError:  # a quote is not closed
        return []


def _starts(words: list[str]) -> bool:
    """Whether a command starts the script for the interface. systemd refuses a relative path."""
    folder, _, name = (words[0] if words else "").rpartition("/")
    is_found = not folder or folder.startswith("/")
    return name == SCRIPT and is_found and bool({"%i", "%I"} & set(words[1:]))


def _wait(group: HostFiles, words: list[str]) -> Iterator[Defect]:
    place = group.place(UNIT, "ExecStart")
    if "--wait" not in words:
        message = "without --wait the script fails if the RDMA device comes later than the interface"
        yield Defect(place, message, "add --wait 60", severity=Severity.WARNING)
    elif not "".join(words[words.index("--wait") + 1 :][:1]).isdecimal():
        yield Defect(place, "--wait has no number of seconds: the script fails", "write --wait 60")
