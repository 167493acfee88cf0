"""Seeded faults in the files of subnet managers: change one word of one file; the rules must name the file.

An option is changed in the opensm.conf of every manager, so that a difference between the copies does not reveal it.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.observed.subnet_files import SubnetFiles, subnets_of
from fabricgen.opensm.options import BOOLEANS, OpensmEngine, option_facts
from fabricgen.rules.run import run

EXAMPLES = ("infiniband", "torus", "dragonfly")
CONF = "opensm.conf"
ALL = 1 << 20
_GUID = re.compile(r"0x[0-9a-f]{16}")
_LISTS = ("root_guids", "cn_guids", "io_guids", "guid_routing_order")
_FAMILY = ["FG81", "FG82", "FG83"]


@dataclass(frozen=True)
class FileMutant:
    """One change in a file of a subnet: the line `number` (from 0) becomes `new`, None for a removed line."""

    subnet: str
    file: str
    kind: str
    word: str  # an option, or a kind of word
    number: int
    old: str
    new: str | None

    def __str__(self) -> str:
        return f"{self.subnet} {self.file}:{self.number + 1}: {self.old.strip()!r} -> {self.new and self.new.strip()!r}"


@dataclass(frozen=True)
class Harmless:
    """Survivors that are not faults: patterns of file, word and kind."""

    file: str
    word: str
    kind: str
    why: str


HARMLESS = (
    Harmless(CONF, "subnet_prefix", "number|hex digit", "any prefix that no other subnet of the bundle has is valid"),
    Harmless(CONF, "max_op_vls", "number", "at least as many lanes as the engine needs"),
    Harmless(CONF, "subnet_timeout|.*_lifetime|packet_life_time|.*stall_count", "number", "a valid value of OpenSM"),
    Harmless(
        CONF, "sminfo_polling_timeout|polling_retry_number", "number", "a standby still takes over within 1 to 10 s"
    ),
    Harmless(CONF, "sm_priority", "number", "the order of the managers does not change"),
    Harmless(CONF, "nue_max_num_vls|qos_high_limit", "number", "another valid number"),
    Harmless(CONF, "qos_.*vlarb.*", "number", "port 0 of switches, adapters and routers use few lanes"),
    Harmless(CONF, "use_ucast_cache", "boolean|removed", "the same routes are computed more often"),
    Harmless(CONF, "allow_both_pkeys", "boolean", "no member has `both`, so nothing changes"),
    Harmless(CONF, "routing_engine", "engine", "another engine without loops on this wiring"),
    Harmless(CONF, "guid", "removed", "without it OpenSM uses the first port of its host"),
    Harmless(CONF, "subnet_prefix", "removed", "OpenSM's default, which no other subnet of the bundle has"),
    Harmless(
        CONF, "max_op_vls|qos_sl2vl|qos_high_limit", "removed", "OpenSM's default allows as many lanes as ports have"
    ),
    Harmless(CONF, "lmc", "number", "several LIDs for each port, which this engine supports"),
    Harmless(CONF, "qos", "boolean", "programs lanes that this engine does not use"),
    Harmless(CONF, "polling_retry_number", "removed", "the default is 4 times, which is 4 s"),
    Harmless(
        CONF, "qos_(ca|sw0|rtr)_vlarb_.*", "removed", "these ports then use the common table with the same weights"
    ),
    Harmless("partitions.conf", "flag", "number", "a valid code that the port of every member supports"),
    Harmless("partitions.conf", "key", "number", "any key that no other partition has is valid"),
    Harmless(
        "partitions.conf",
        "flag",
        "removed",
        "without ipoib, or with OpenSM's default MTU and rate, which all ports support",
    ),
    Harmless("partitions.conf", "member", "removed", "the owner of a tenant decides which ports it has"),
    Harmless(
        "partitions.conf", "member", "membership", "limited members beside full ones are valid: clients of servers"
    ),
    Harmless("qos-policy.conf", "use|sl", ".*", "a description, or another SL on request"),
    Harmless("torus-2QoS.conf", ".*dateline|portgroup_max_ports", ".*", "valid, and port groups have room"),
    Harmless("torus-2QoS.conf", ".*_dateline", "removed", "the default dateline is at 0"),
    Harmless("topology.ibsim", "Ca|Switch", "number", "ports without a cable"),
    Harmless("guid_routing_order", ".*", "removed", "this engine does not use the order, or it routes the port last"),
)


@dataclass(frozen=True)
class FileResult:
    """One mutant and its findings."""

    example: str
    mutant: FileMutant
    found: list[Finding]

    @property
    def is_found(self) -> bool:
        """Whether an error or a warning is about the file."""
        return any(one.path.partition("|")[0].endswith(self.mutant.file) for one in self.found)

    @property
    def reason(self) -> str | None:
        """Why the change is not a fault; None for a gap in the rules."""
        mutant = self.mutant
        name, value = _option(mutant.old)
        if mutant.file == CONF and mutant.kind == "removed" and value == option_facts()[name].default:
            return "equal to OpenSM's default, written for later versions"
        for one in HARMLESS:
            pairs = ((one.file, mutant.file), (one.word, mutant.word), (one.kind, mutant.kind))
            if all(re.fullmatch(pattern, text) for pattern, text in pairs):
                return one.why
        return None


Change = Callable[[str, random.Random], tuple[str, str, str | None] | None]  # kind, word, new line


def file_results(folder: Path, example: str, count: int, seed: int, options: int = ALL) -> Iterator[FileResult]:
    """The mutants of a bundle's subnets: `count` of each file with many similar lines, `options` of opensm.conf."""
    for files in subnets_of(folder):
        for mutant in mutants(files, count, seed, options):
            yield FileResult(example, mutant, judged(folder, files, mutant))


def judged(folder: Path, files: SubnetFiles, mutant: FileMutant) -> list[Finding]:
    """The findings with the change. The files are restored afterwards."""
    kept = {}
    for path in [files.folder / mutant.file, *files.folder.glob(f"standby-*/{mutant.file}")]:
        lines = path.read_text().splitlines(keepends=True)
        kept[path] = "".join(lines)
        at = lines.index(mutant.old) if mutant.old in lines else mutant.number
        lines[at : at + 1] = [] if mutant.new is None else [mutant.new]
        path.unlink()  # the file may be a hard link to the rendered one
        path.write_text("".join(lines))
    found = [one for one in run(open_bundle([folder]), _FAMILY) if one.severity is not Severity.NOTE]
    for path, text in kept.items():
        path.write_text(text)
    return found


def mutants(files: SubnetFiles, count: int, seed: int, options: int) -> Iterator[FileMutant]:
    """Mutants of the files of a subnet."""
    for name, changes, most in (
        (CONF, _OPTIONS, options), ("partitions.conf", _PARTITIONS, 3 * count), ("qos-policy.conf", _POLICY, count),
        ("torus-2QoS.conf", _TORUS, 2 * count), ("node-name-map", _NAMES, count), ("topology.ibsim", _NETLIST, count),
        *((one, _GUIDS, count) for one in _LISTS),
    ):  # fmt: skip
        path = files.folder / name
        if not path.is_file() or (name in _LISTS and f"/{name}\n" not in (files.folder / CONF).read_text()):
            continue  # the manager does not read the file
        chance = random.Random(f"{seed} {files.name} {name}")
        lines = path.read_text().splitlines(keepends=True)
        places = [
            (number, line, change)
            for number, line in enumerate(lines)
            if line.strip() and not line.lstrip().startswith("#")
            for change in changes
        ]
        chance.shuffle(places)
        seen = 0
        for number, line, change in places:
            made = change(line, chance)
            if made is None or made[2] == line:
                continue
            kind, word, new = made
            yield FileMutant(files.name, name, kind, word, number, line, new)
            seen += 1
            if seen == most:
                break


def _option(line: str) -> tuple[str, str]:
    name, _, value = line.strip().partition(" ")
    return name, value


def _without(line: str, _: random.Random) -> tuple[str, str, str | None] | None:
    return "removed", re.split(r"[\s:=]", line.strip())[0], None


def _other_number(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    name, value = _option(line)
    fact = option_facts()[name]
    if fact.type in ("boolean", "charp"):
        return None
    if len(value) > 10:
        return _other_digit(line, chance)
    number = int(value, 0)
    other = chance.choice([number + 1, number + 2, 2 * number + 2, 10 * number + 10, max(number - 1, 0)])
    return "number", name, f"{name} {other}\n"


def _other_digit(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    name, value = _option(line)
    place = chance.randrange(len(value) - 4, len(value))
    return "hex digit", name, f"{name} {value[:place]}{(int(value[place], 16) + 1) % 16:x}{value[place + 1 :]}\n"


def _other_boolean(line: str, _: random.Random) -> tuple[str, str, str | None] | None:
    name, value = _option(line)
    if value not in BOOLEANS:
        return None
    other = "FALSE" if value == "TRUE" else "TRUE"
    return "boolean", name, f"{name} {other}\n"


def _sloppy_boolean(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    name, value = _option(line)
    return ("boolean's word", name, f"{name} {chance.choice(['true', 'yes', '1'])}\n") if value in BOOLEANS else None


def _misspelt(line: str, _: random.Random) -> tuple[str, str, str | None] | None:
    name, value = _option(line)
    return "name", name, f"{name[:-1]} {value}\n"


def _other_word(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    name, value = _option(line)
    if name == "routing_engine":
        first, *rest = value.split(",")
        other = chance.choice([one for one in OpensmEngine if one not in (first, OpensmEngine.FILE)])
        return "engine", name, f"{name} {','.join((other, *rest))}\n"
    if value.startswith("/"):
        return "path", name, f"{name} {value}x\n"
    return ("word", name, f"{name} {value}x\n") if option_facts()[name].type == "charp" else None


def _with_equals(line: str, _: random.Random) -> tuple[str, str, str | None] | None:
    name, value = _option(line)
    return "equals sign", name, f"{name} = {value}\n"


def _guid(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    """Another digit in a GUID."""
    found = list(_GUID.finditer(line))
    if not found:
        return None
    one = chance.choice(found)
    return "GUID", "GUID", f"{line[: one.end() - 3]}{(int(line[one.end() - 3], 16) + 8) % 16:x}{line[one.end() - 2 :]}"


def _bare(line: str, _: random.Random) -> tuple[str, str, str | None] | None:
    return ("GUID without 0x", "GUID", line.replace("0x", "", 1)) if _GUID.search(line) else None


def _sign(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    """Without one colon or semicolon."""
    marks = [place for place, letter in enumerate(line) if letter in ":;"]
    if not marks:
        return None
    place = chance.choice(marks)
    return "sign", line[place], line[:place] + line[place + 1 :]


def _key(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    found = re.match(r"(\w+=)(0x[0-9a-f]{4})(,.*\n)", line)
    other = chance.choice(["0x8000", "0x0000", "0x7fff", "0x0002", "0x8001", "0x9999"])
    return ("number", "key", f"{found[1]}{other}{found[3]}") if found else None


def _flag(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    if not re.match(r"\w+=0x[0-9a-f]{4},", line):
        return None
    old, new, kind = chance.choice([
        ("mtu=4", "mtu=5", "number"), ("mtu=4", "mtu=4096", "code"), ("rate=21", "rate=3", "number"),
        ("rate=21", "rate=400", "code"), ("rate=21", "rate=22", "code"), ("ipoib", "ipiob", "misspelt"),
        (", mtu=4", "", "removed"),
    ])  # fmt: skip
    return (kind, "flag", line.replace(old, new, 1)) if old in line else None


def _member(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    found = list(re.finditer(r"(0x[0-9a-f]{16}|ALL_CAS|SELF)=(full|limited)(, |,)?", line))
    if not found:
        return None
    one = chance.choice(found)
    other, kind = chance.choice(
        [("ful", "misspelt"), ("member", "misspelt"), ("both", "both"), ("limited", "membership")]
    )
    if other == "limited" and one[2] == "limited":
        other = "full"
    return kind, "member", line[: one.start(2)] + other + line[one.end(2) :]


def _number(line: str, chance: random.Random) -> tuple[str, str, str | None] | None:
    """Another decimal number."""
    found = list(re.finditer(r"(?<![0-9a-zA-Z])\d+(?![0-9a-zA-Z])", line.partition("#")[0]))
    if not found:
        return None
    one = chance.choice(found)
    number = int(one[0]) + chance.choice((1, 2, 10))
    return (
        "number",
        re.split(r"[\s:\[]", line.strip())[0] or "port",
        f"{line[: one.start()]}{number}{line[one.end() :]}",
    )


def _letters(line: str, _: random.Random) -> tuple[str, str, str | None] | None:
    found = re.search(r"[A-Za-z]{3,}", line)
    word = re.split(r"[\s:]", line.strip())[0]
    return ("misspelt", word, line[: found.start()] + "x" + line[found.start() :]) if found else None


def _named(line: str, _: random.Random) -> tuple[str, str, str | None] | None:
    return "name", "name", line.replace('"\n', 'x"\n')


_OPTIONS: list[Change] = [
    _without, _other_number, _other_boolean, _sloppy_boolean, _misspelt, _other_word, _with_equals,
]  # fmt: skip
_PARTITIONS: list[Change] = [_guid, _bare, _sign, _key, _flag, _member]
_GUIDS: list[Change] = [_guid, _bare, _without]
_TORUS: list[Change] = [_guid, _without, _number, _letters]
_POLICY: list[Change] = [_without, _number, _letters]
_NAMES: list[Change] = [_guid, _named]
_NETLIST: list[Change] = [_number, _without]


def section(found: Sequence[FileResult]) -> list[str]:
    """The section of docs/mutants.md on these files."""
    survivors = [one for one in found if not one.is_found]
    examples = ", ".join(dict.fromkeys(one.example for one in found))
    total, caught = Counter(one.mutant.file for one in found), Counter(one.mutant.file for one in found if one.is_found)
    lines = [
        "## Files of subnet managers", "",
        f"Each of {len(found)} mutants changes a word of one file ({examples}), or an option in the files of all "
        "managers",
        f"of the subnet. In {len(found) - len(survivors)} cases an error or a warning names the file. The others:",
        "", "| file | mutants | found |", "|---|---|---|",
        *(f"| {file} | {total[file]} | {caught[file]} |" for file in sorted(total)), "",
        "| file | word | change | mutants | why |", "|---|---|---|---|---|",
    ]  # fmt: skip
    kinds: Counter[tuple[str, ...]] = Counter(
        (one.mutant.file, one.mutant.word, one.mutant.kind, one.reason or "a gap") for one in survivors
    )
    return [*lines, *(f"| {' | '.join(key[:3])} | {number} | {key[3]} |" for key, number in sorted(kinds.items())), ""]
