"""The KEY=VALUE files of hosts as their readers read them: NCCL, UCX, sh, and systemd.

Each reader has its own rules for blanks, quotes, carriage returns, repeated keys and numbers. A file that looks right
is wrong if its reader reads another value: `NCCL_IB_TC="106"` is 0 to NCCL, and `NCCL_IB_TC=0x6a` is 106.

Sources: NVIDIA/nccl@5067397 src/misc/param.cc (setEnvFile, ncclLoadParam), and v2.28.7-1 of it; openucx/ucx@9466d10
src/ucs/config/ini.c, parser.c (ucs_config_sscanf_ulunits, _hex, _bool); POSIX.1-2017, Shell Command Language 2.9.1 and
2.10.2; systemd.syntax(7); sysctl.d(5).
"""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase

from fabricgen.c_numbers import c_number

# setEnvFile: of a value of 1,024 bytes and more, the rest is cut.
_NCCL_VALUE_BYTES = 1023
_UCX_LINE_BYTES = 198  # INI_MAX_LINE without newline and NUL: the rest of a longer line becomes another line
_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*))")
_ATOI = re.compile(r"\s*([+-]?\d+)")
_SIZE = re.compile(r"(\d+) *([BKMGT]?)")  # systemd v252 src/basic/parse-util.c, parse_size with base 1024
_KERNEL_NUMBER = re.compile(r"\s*(-?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*))(?=\s|$)")  # linux kernel/sysctl.c
_SWAPPED = str.maketrans("./", "/.")
EXCLUDED = "\0"  # the value of a path that a line of sysctl.conf excludes
_UCX_NUMBER = re.compile(r"[ \t\n\v\f\r]*\+?([0-9]+)")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)
_MEANS_MORE = re.compile(r"[$`;&|<>()\\]")  # to sh, outside single quotes
_SHELL_COMMENT = re.compile(r"""((?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^'"\\#\s]#*|\s+(?!#))*)\s#.*""")
# systemd v252 src/udev/udev-rules.c, parse_line and parse_token; linux-rdma/rdma-core kernel-boot/rdma_rename.c.
_UDEV_PAIR = re.compile(r'([A-Z_]+(?:\{[^}]*\})?)\s*(==|!=|\+=|-=|:=|=)\s*i?e?"((?:[^"\\]|\\.)*)"')
_UDEV_MATCHES = ("ACTION", "DEVPATH", "KERNEL", "KERNELS", "SUBSYSTEM", "SUBSYSTEMS", "DRIVER", "DRIVERS")
_ADDED = {"ACTION": "add", "SUBSYSTEM": "infiniband"}  # of the event of a new RDMA device
_POLICIES = ("NAME_FALLBACK", "NAME_FIXED", "NAME_GUID", "NAME_KERNEL", "NAME_ONBOARD", "NAME_PCI")
_PCI_ADDRESS = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]")
_RENAMED = re.compile(r"rdma_rename\s+%k\s+(NAME_\w+)\s*(\S+)?")
_LARGEST = (1 << 63) - 1
# NVIDIA/nccl@5067397 src/misc/socket.cc, ncclFindInterfaces: interfaces that are used only if there are no others.
NCCL_LEAVES_OUT = ("docker", "lo", "virbr")
NCCL_MOST_DEVICES = 32  # MAX_IB_DEVS
NCCL_MOST_NAMES = 16  # MAX_IFS: of a list of interfaces, the rest is not read


@dataclass(frozen=True, slots=True)
class SettingsFault:
    """A line that its reader reads otherwise than it looks. `word` is the key that the line seems to set."""

    line: int
    word: str
    message: str
    hint: str
    is_error: bool = True


@dataclass
class HostSettings:
    """The settings of one file: key -> value, and the line that counts."""

    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    faults: list[SettingsFault] = field(default_factory=list)
    is_complete: bool = True  # False: nothing is known of the lines after a fault

    def add(self, line: int, key: str, value: str) -> None:
        """A line that replaces earlier ones."""
        self.values[key], self.lines[key] = value, line

    def line(self, key: str) -> int | None:
        """The line of a key, or of the fault that seems to set it."""
        return self.lines.get(key) or next((one.line for one in self.faults if one.word == key), None)


def read_settings(file: str, text: str) -> HostSettings:
    """The settings of a file, by its path within its group. `text` has its carriage returns."""
    reader = next((reader for pattern, reader in _READERS if fnmatchcase(file, pattern)), _systemd)
    return reader(text)


def nccl_number(text: str | None) -> int | None:
    """A number as NCCL reads it: strtoll with base 0, and 0 where no digit begins the text. None where NCCL uses its
    default: an empty or missing value, or one that 64 bits do not hold."""
    if not text:
        return None
    match = _NUMBER.match(text)
    if match is None:
        return 0
    number = c_number(match[1])
    return number if number is not None and -_LARGEST - 1 <= number <= _LARGEST else None


def nccl_selects(text: str | None, interface: str) -> bool:
    """Whether NCCL may use an interface for sockets with this NCCL_SOCKET_IFNAME: a list of names or, without =, of
    begins of names; ^ selects all others. A text of one character is as good as none."""
    if not text or len(text) < 2:
        text = "^" + ",".join(NCCL_LEAVES_OUT)
    return _is_selected(text, interface, NCCL_MOST_NAMES, None)


def nccl_device_selected(text: str, device: str) -> bool:
    """Whether NCCL uses port 1 of an RDMA device with this NCCL_IB_HCA, whose entries can have a port."""
    return _is_selected(text, device, NCCL_MOST_DEVICES, 1)


def _is_selected(text: str, name: str, most: int, port: int | None) -> bool:
    """parseStringList, matchIfList of src/misc/utils.cc. A port that is not a number is 0 (atoi); -1 and none: any."""
    is_not = text.startswith("^")
    text = text.removeprefix("^")
    is_exact = text.startswith("=")
    listed = False
    entries = [entry.split(":") for entry in text.removeprefix("=").split(",") if entry.partition(":")[0]][:most]
    for listed_name, *rest in entries:
        match = _ATOI.match(rest[0]) if rest and rest[0] else None
        own = int(match[1]) if match else 0 if rest and rest[0] else -1
        is_port = port is None or own in (-1, port)
        listed = listed or (is_port and (name == listed_name if is_exact else name.startswith(listed_name)))
    return (listed or not entries) != is_not


def ucx_number(text: str | None) -> int | None:
    """A number as UCX reads it: sscanf %lu, so that 0x6a is 0. None for auto, and for a value that UCX refuses."""
    match = _UCX_NUMBER.match(text or "")
    return int(match[1]) if match else None


def nvshmem_boolean(text: str) -> bool:
    """A boolean as NVSHMEM reads it (nvshmemi_getenv_bool): false only where it begins with 0, n or f."""
    return text[:1] not in ("0", "N", "n", "F", "f")


def systemd_bytes(text: str) -> int | None:
    """A size as systemd reads it, such as 9100 or 9K, which is 9216. None for a text that systemd refuses."""
    match = _SIZE.fullmatch(text.strip())
    return int(match[1]) << (10 * "BKMGT".index(match[2] or "B")) if match else None


def _nccl(text: str) -> HostSettings:
    """The first line of a key counts. Quotes and blanks belong to names and values; NCCL before 2.30 keeps a carriage
    return."""
    found = HostSettings()
    returns = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals:
            if key.strip():
                message, hint = (
                    f"NCCL does not read the line {key.strip()!r}: it has no =",
                    "write NAME=VALUE, or # before it",
                )
                found.faults.append(SettingsFault(number, key.strip(), message, hint, is_error=False))
            continue
        returns = returns or (number if value.endswith("\r") else 0)
        value = value.encode()[:_NCCL_VALUE_BYTES].decode(errors="ignore")
        if not _NAME.fullmatch(key):
            message = f"NCCL takes {key!r} for the name: blanks and other characters before = belong to it"
            hint = f"write {key.strip()}={value.strip()} from the first column"
            found.faults.append(SettingsFault(number, key.strip().removeprefix("export ").strip(), message, hint))
        elif key not in found.values:
            found.add(number, key, value)
        elif found.values[key] != value:
            message = f"NCCL uses the first line of {key}, which is line {found.lines[key]}, and not this one"
            found.faults.append(SettingsFault(number, key, message, "remove one of the lines", is_error=False))
    if returns:
        message = "lines end with a carriage return (CRLF), which NCCL before 2.30 takes for a part of the value"
        hint = "write the file with \\n alone: `sed -i 's/\\r$//' FILE`"
        found.faults.append(
            SettingsFault(returns, "", message, hint, is_error=False)
        )  # what it breaks is an error by itself
    return found


def _ucx(text: str) -> HostSettings:
    """Blanks around names and values do not count; `:` is as good as `=`; ` ;` begins a comment; the last line of a key
    counts. A line with a blank before it goes on with the value before it."""
    found, name = HostSettings(), ""
    for number, line in enumerate(text.split("\n"), 1):
        start = line.strip()
        if not start or start[0] in ";#":
            continue
        if len(line.encode()) > _UCX_LINE_BYTES:
            message = (
                f"the line has {len(line.encode())} bytes, and UCX reads what follows {_UCX_LINE_BYTES} as another line"
            )
            found.faults.append(SettingsFault(number, start.partition("=")[0].strip(), message, "write fewer values"))
        if name and line[0].isspace():
            found.add(number, name, start)  # inih calls its handler once more with the same name
            message = f"UCX takes the line for another value of {name}: it begins with a blank"
            found.faults.append(SettingsFault(number, name, message, "begin the line in the first column"))
        elif start[0] == "[":
            name = ""  # a section that may be of other hosts; what is in it is read as here
        elif match := re.match(r"([^=:]*?)\s*[=:]\s*(.*?)\s*(?:\s;.*)?$", start):
            name = match[1]
            found.add(number, name, match[2])
        else:
            message, hint = f"UCX does not read the line {start!r}: it has no =", "write NAME=VALUE, or # before it"
            found.faults.append(SettingsFault(number, start, message, hint))
    return found


def _shell(text: str) -> HostSettings:
    """Assignments of sh, one in a line. Anything else is a command, which ends a script with `set -e`."""
    found = HostSettings()
    for number, line in enumerate(text.split("\n"), 1):
        start = line.strip(" \t")
        if not start or start[0] == "#":
            continue
        word = re.split(r"[\s=]", start.removeprefix("export "), maxsplit=1)[0]
        try:
            tokens = shlex.split(comment[1] if (comment := _SHELL_COMMENT.fullmatch(start)) else start)
        except ValueError:
            message, hint = "a quote is not closed: sh reads on in the next lines", "close the quote"
            found.faults.append(SettingsFault(number, word, message, hint))
            found.is_complete = False
            return found
        if tokens[:1] == ["export"]:
            tokens = tokens[1:]
        assigned = [match for token in tokens if (match := _ASSIGNMENT.fullmatch(token))]
        commands = [token for token in tokens if not _ASSIGNMENT.fullmatch(token)]
        if "\r" in line:
            message = "the line ends with a carriage return (CRLF), which sh takes for a part of the value"
            found.faults.append(
                SettingsFault(number, word, message, "write the file with \\n alone: `sed -i 's/\\r$//' FILE`")
            )
        elif _MEANS_MORE.search(re.sub(r"'[^']*'|\s#.*", "", start)):
            message, hint = (
                "the line is more to sh than a value",
                "write NAME=VALUE, in single quotes where it has $ ; & | < >",
            )
            found.faults.append(SettingsFault(number, word, message, hint))
        elif commands:
            what = f"the command {commands[0]!r}"
            message = f"sh runs {what}" + (f" and sets {assigned[0][1]} only for it" if assigned else "")
            hint = f"write {word}=VALUE without blanks around =, and quotes around a value with blanks"
            found.faults.append(SettingsFault(number, word, message, hint))
            continue
        for match in assigned:
            found.add(number, match[1], match[2])
    return found


def _systemd(text: str) -> HostSettings:
    """Lines of systemd's files: blanks around = do not count, `#` and `;` begin a comment, the last line counts. A
    line that ends with a backslash goes on in the next one. Lists grow with each line, and an empty one ends them."""
    found, open_line, first, section = HostSettings(), "", 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped[:1] == "[" and not open_line:
            section = stripped.strip("[]")
            if not stripped.endswith("]"):
                message = f"systemd does not read the file: {stripped!r} has no ]"
                found.faults.append(SettingsFault(number, section, message, f"write [{section}]"))
            continue
        if not stripped or stripped[0] in "#;":
            continue
        open_line, first = (open_line + " " + stripped, first) if open_line else (stripped, number)
        if open_line.endswith("\\"):
            open_line = open_line[:-1]
            continue
        key, equals, value = (part.strip() for part in open_line.partition("="))
        open_line = ""
        if fault := _systemd_fault(key, equals, section):
            message, hint, is_error = fault
            found.faults.append(SettingsFault(first, key, message, hint, is_error))
        elif key in _LISTS:
            own = value if key == "ExecStart" else value.replace('"', "")  # a command keeps its quotes
            lines = [found.values.get(key, ""), own] if own else []
            found.add(first, key, _LISTS[key].join(filter(None, lines)))
        elif (section, key) != ("Link", "MACAddress"):  # a setting there, and not a condition
            found.add(first, key, value)
    return found


def _systemd_fault(key: str, equals: str, section: str) -> tuple[str, str, bool] | None:
    """(message, hint, whether it is an error) of a line that systemd ignores; None for other lines."""
    if not equals:
        return f"systemd does not read the line {key!r}: it has no =", "write KEY=VALUE, or # before it", False
    known = _SECTIONS_OF.get(key, ())
    if not section:
        hint = f"write [{known[0]}] before it" if known else "write a section before it"
        return f"{key} is before the first section: systemd ignores it", hint, bool(known)
    if known and section not in known:
        message = f"{key} belongs to [{known[0]}], but is in [{section}]: systemd ignores it"
        return message, f"move the line to [{known[0]}]", True
    if not known and (near := get_close_matches(key.lower(), _BY_LOWER_CASE, 1, _NEAR)):
        return f"systemd has no key {key}, and ignores the line", f"write {_BY_LOWER_CASE[near[0]]}", False
    return None


def _sysctl(text: str) -> HostSettings:
    """Path below /proc/sys -> value. Keys have slashes, or dots if the first separator is one; `-` before a key accepts
    an error. A path with *, ? or [ is for all files that match and have no other line. A line with - and no =
    excludes a path, for systemd after a line that sets it, too."""
    found = HostSettings()
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        key, equals, value = (part.strip() for part in stripped.partition("="))
        path = key.removeprefix("-").lstrip("/")
        dot, slash = path.find("."), path.find("/")
        path = path.translate(_SWAPPED) if dot >= 0 and (slash < 0 or dot < slash) else path
        if equals:
            found.values.pop(path, None)  # globs take effect in the order of the lines
            found.add(number, path, value)
        elif key.startswith("-"):
            found.values.pop(path, None)
            found.add(number, path, EXCLUDED)
        else:
            message = f"sysctl does not read the line {key!r}: it has no ="
            found.faults.append(SettingsFault(number, path, message, "write PATH = VALUE, or # before it", False))
    return found


def kernel_setting(found: HostSettings, path: str) -> tuple[str, str] | None:
    """(key of the line, value) for a path below /proc/sys; None where no line sets it."""
    if path not in found.values:
        parts = path.split("/")
        for glob in reversed(found.values):
            of_glob = glob.split("/")
            if len(of_glob) == len(parts) and all(map(fnmatchcase, parts, of_glob)):
                return glob, found.values[glob]
        return None
    value = found.values[path]
    return None if value == EXCLUDED else (path, value)


def kernel_number(text: str | None) -> int | None:
    """A number as the kernel reads it from a file of /proc/sys: with base 0, up to the first blank. None for a text
    that it refuses."""
    match = _KERNEL_NUMBER.match(text or "")
    number = c_number(match[1]) if match else None
    return number if number is not None and abs(number) < 1 << 31 else None


def _matches(operator: str, pattern: str, value: str) -> bool:
    """Whether a value matches a pattern of udev, with alternatives."""
    return any(fnmatchcase(value, one) for one in pattern.split("|")) == (operator == "==")


def _udev_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines of a file of udev rules, joined where a backslash ends one, without comments."""
    whole, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        whole, first = (whole + line, first) if whole else (line, number)
        if whole.endswith("\\"):
            whole = whole[:-1]
            continue
        if whole.strip() and whole.strip()[0] != "#":
            yield first, whole.strip()
        whole = ""


def _udev_pairs(line: str) -> list[tuple[str, str, str]] | None:
    """(key, operator, value) of a line; None for a line that udev ignores."""
    pairs: list[tuple[str, str, str]] = _UDEV_PAIR.findall(line)
    is_wrong = any(key in _UDEV_MATCHES and operator not in ("==", "!=") for key, operator, _ in pairs)
    return None if is_wrong or _UDEV_PAIR.sub("", line).strip(", \t") else pairs


def _udev_device(pairs: list[tuple[str, str, str]]) -> str:
    """The PCI address of the device that a line is for; "" where it is for all."""
    places = [value for key, operator, value in pairs if key in ("DEVPATH", "KERNELS") and operator == "=="]
    return next((match[0] for value in places if (match := _PCI_ADDRESS.search(value))), "")


def _udev_faults(line: str, pairs: list[tuple[str, str, str]] | None, text: str) -> Iterator[tuple[str, str]]:
    """(message, hint) of a line that udev ignores in whole or in part."""
    if pairs is None:
        yield (
            f'udev ignores the line {line[:40]!r}…: pairs KEY=="value" with commas between them are expected',
            "correct the line: `udevadm verify FILE` of systemd 254 names the fault",
        )
    for key, _, value in pairs or ():
        if key == "GOTO" and f'LABEL="{value}"' not in text:
            yield f"no line has the label {value} of GOTO: udev goes on with the next line", f'add LABEL="{value}"'
        match = _RENAMED.search(value) if key == "PROGRAM" else None
        if match and match[1] not in _POLICIES:
            yield f"rdma_rename has no policy {match[1]}", f"use one of {', '.join(_POLICIES)}"


def _udev(text: str) -> HostSettings:
    """The names that a file of udev rules gives to new RDMA devices: PCI address -> name, of the first line that
    renames it."""
    found, for_all, skipping = HostSettings(), 0, ""
    for number, line in _udev_lines(text):
        pairs = _udev_pairs(line)
        pci = _PCI_ADDRESS.search(line)
        word = pci[0] if pci else ""
        for message, hint in _udev_faults(line, pairs, text):
            found.faults.append(SettingsFault(number, word, message, hint))
        values = {key: value for key, _, value in pairs or ()}
        if skipping and values.get("LABEL") != skipping:
            continue
        skipping = ""
        if not all(_matches(operator, value, _ADDED[key]) for key, operator, value in pairs or () if key in _ADDED):
            continue
        if "GOTO" in values and not set(values) - {"GOTO", *_ADDED}:
            skipping = values["GOTO"] if f'LABEL="{values["GOTO"]}"' in text else ""
            continue
        renamed = _RENAMED.search(values.get("PROGRAM", ""))
        if renamed is None or renamed[1] not in _POLICIES:
            continue
        word = _udev_device(pairs or [])
        if not word:
            for_all = for_all or (number if renamed[1] != "NAME_KERNEL" else 0)
        elif for_all:
            message = f"line {for_all} has renamed the device already, and a name is given once"
            found.faults.append(SettingsFault(number, word, message, f"move the line before line {for_all}"))
        elif word not in found.values:
            found.add(number, word, renamed[2] or renamed[1])
    return found


# systemd.unit(5), systemd.service(5), systemd.link(5), networkd.conf(5): the sections of each key that is judged.
_SECTIONS_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("BindsTo", "After", "Description"), ("Unit",)),
    **dict.fromkeys(("RemainAfterExit", "ExecStart", "User", "DynamicUser"), ("Service",)),
    "Type": ("Service", "Match"),
    **dict.fromkeys(("WantedBy", "RequiredBy"), ("Install",)),
    **dict.fromkeys(("Path", "OriginalName", "PermanentMACAddress", "Driver"), ("Match",)),
    "MACAddress": ("Match", "Link"),
    **dict.fromkeys(("Name", "NamePolicy", "MTUBytes"), ("Link",)),
    **dict.fromkeys(("ManageForeignRoutingPolicyRules", "ManageForeignRoutes"), ("Network",)),
}
_BY_LOWER_CASE = {key.lower(): key for key in _SECTIONS_OF}
# From this similarity on, an unknown key counts as a known one with a mistake. ExecStartPre has 0.86 of ExecStart.
_NEAR = 0.9
# What joins the lines of a key whose lines add to each other.
_LISTS = {**dict.fromkeys(("Path", "After", "BindsTo", "WantedBy", "RequiredBy"), " "), "ExecStart": " ; "}


_READERS: tuple[tuple[str, Callable[[str], HostSettings]], ...] = (
    ("nccl.conf", _nccl),
    ("rccl.conf", _nccl),
    ("ucx.conf", _ucx),
    ("tenants/*ccl.conf", _nccl),
    ("tenants/*ucx.conf", _ucx),
    ("roce/*.conf", _shell),
    ("nvshmem.conf", _shell),
    ("tenants/*nvshmem.conf", _shell),
    ("*.service", _systemd),
    ("links/*.link", _systemd),
    ("udev/*.rules", _udev),
    ("networkd.conf", _systemd),
    ("sysctl.conf", _sysctl),
)


def judged_files(files: frozenset[str]) -> Iterator[str]:
    """Those of the files whose readers are known, sorted."""
    yield from sorted(file for file in files if any(fnmatchcase(file, pattern) for pattern, _ in _READERS))
