"""Seeded faults in the files of hosts: change or remove every value of every file of a host's group.

    python -m benchmarks.host_mutants BUNDLE…

A mutant is found if an error or a warning names the file. The exit code is 1 if a survivor has no known reason.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.bundle.hosts import ObservedHosts
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Severity
from fabricgen.rules.run import run

SCRIPTS = ("fabricgen-roce", "fabricgen-roce@.service", "gpudirect-check")  # they contain no settings
# Pattern of 'old -> new' -> why the change is not a fault that the files of the bundle can show.
HARMLESS = {
    r"optional: .*": "whether booting waits for the NIC",
    r"NVSHMEM_ENABLE_NIC_PE_MAPPING=1 -> NVSHMEM_ENABLE_NIC_PE_MAPPING=2": "each of them is true to NVSHMEM",
    r"NCCL_SOCKET_IFNAME=\^rail,.* -> NCCL_SOCKET_IFNAME=\^rail,.*": "the rest is what NCCL leaves out by itself",
    r"(ACTION|SUBSYSTEM)!=.* -> ": "udev asks rdma_rename more often than needed",
    r".*NAME_FALLBACK.* -> .*": "devices that are not of the model",
    r"MTUBytes=\d+ -> ": "netplan sets the MTU",
    r"\w+_IB_ADDR_RANGE=([\d.]+\.)0(/\d+) -> \w+_IB_ADDR_RANGE=\1\d+\2": "NCCL and NVSHMEM ignore the bits of hosts",
    r"version: 2 -> ": "netplan does not need it",
    r"renderer: networkd -> ": "networkd is netplan's default",
    r"link-local: .*": "link-local addresses are not used",
    r"- \{from: .*priority: \d+\} -> .*priority: \d+\}": "any unused priority before the main table is valid",
    r"- .*metric: \d+\} -> .*metric: \d+\}": "any unused metric is valid",
    r".*arp_ignore = 1 -> .*arp_ignore = 2": "answers fewer neighbors, but all that are used",
    r"STALL_MS=\d+ -> STALL_MS=\d+": "any time between the minimum of the driver and the time of the watchdog is valid",
}
_VALUE = re.compile(r"[\w.:/=-]*[\w]")


@dataclass(frozen=True)
class Mutant:
    """One line of a file, before and after the change (None: removed)."""

    file: str
    line: int
    old: str
    new: str | None

    def __str__(self) -> str:
        new = "removed" if self.new is None else repr(self.new.strip())
        return f"{self.file}:{self.line}: {self.old.strip()!r} -> {new}"

    @property
    def reason(self) -> str:
        """Why the change is not a fault; "" if it is one."""
        change = f"{self.old.strip()} -> {'' if self.new is None else self.new.strip()}"
        before, after = self.old.split(", "), (self.new or "").split(", ")
        if change.startswith("- ") and before[:-1] != after[:-1]:
            return ""  # a change before the last item of a row
        return next((why for pattern, why in HARMLESS.items() if re.fullmatch(pattern, change)), "")


def mutants(hosts: ObservedHosts, host: str) -> Iterator[Mutant]:
    """Each value of each line changed once, each line removed once. Of the netplan files only that of one host."""
    for file in sorted(hosts.files):
        if file in SCRIPTS or (file.startswith("netplan/") and file != f"netplan/{host}.yaml"):
            continue
        for number, line in enumerate(hosts.text(file).splitlines(), 1):
            if not line.strip() or line.lstrip().startswith(("#", "[")):
                continue
            head, mark, content = line.partition(":" if file.endswith(".yaml") else "=")
            if content.strip() or not mark:
                yield Mutant(file, number, line, None)
            start = len(head) + len(mark) if content.strip() and not line.lstrip().startswith("-") else 0
            for match in _VALUE.finditer(line, start):
                if line[match.end() : match.end() + 1] != ":" or not file.endswith(".yaml"):
                    yield Mutant(file, number, line, line[: match.start()] + _other(match[0]) + line[match.end() :])


def _other(text: str) -> str:
    """Another value of the same kind: the next number, the other boolean, else another word."""
    if text in ("true", "false"):
        return "false" if text == "true" else "true"
    match = re.search(r"\d+(?=\D*$)", text.partition("/")[0] or text)
    if match is None:
        return f"{text}x"
    return f"{text[: match.start()]}{int(match[0]) + 1}{text[match.end() :]}"


def is_found(bundle: Bundle, hosts: ObservedHosts, mutant: Mutant) -> bool:
    """Whether an error or a warning names the file, or the file cannot be read."""
    lines = hosts.text(mutant.file).splitlines()
    lines[mutant.line - 1 : mutant.line] = [] if mutant.new is None else [mutant.new]
    changed = ObservedHosts(hosts.group, hosts.folder, {mutant.file: "\n".join(lines) + "\n"})
    other = replace(bundle, hosts={**bundle.hosts, hosts.group: changed})
    try:
        findings = run(other, ["FG9"])
    except UnreadableInputError:
        return True
    serious = (one for one in findings if one.severity is not Severity.NOTE)
    return any(one.device == hosts.name and one.path.partition("|")[0] == mutant.file for one in serious)


def results(bundle: Bundle) -> Iterator[tuple[Mutant, bool]]:
    """Every mutant of every group, and whether it is found."""
    assert bundle.wiring
    for group, hosts in bundle.hosts.items():
        host = next(host.name for host in bundle.wiring.hosts if host.group == group)
        for mutant in mutants(hosts, host):
            yield mutant, is_found(bundle, hosts, mutant)


def main(arguments: Sequence[str]) -> int:
    gaps = 0
    for folder in arguments:
        counts: Counter[str] = Counter()
        for mutant, found in results(open_bundle([Path(folder)])):
            counts["found" if found else "harmless" if mutant.reason else "missed"] += 1
            if not found and not mutant.reason:
                print(f"{folder} {mutant}")
        print(f"{folder}: {sum(counts.values())} mutants, {dict(counts)}")
        gaps += counts["missed"]
    return int(gaps > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
