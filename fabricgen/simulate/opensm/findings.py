"""The run of OpenSM to findings, each at the line of the file that expects something else."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fabricgen.findings import Confidence, Finding, Severity
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.simulate.opensm.proof import KeyDifference, Proof

CONF = "opensm.conf"
_MOST_NAMED = 3


def proof_findings(files: SubnetFiles, proof: Proof) -> Iterator[Finding]:
    """FG801: another engine than configured. FG802: refused options. FG803: files that OpenSM did not read completely.
    FG804: P_Key tables that differ. FG805: members that are not a port of the subnet. FG807: pairs of ports that share
    a P_Key and have no path. FG844: partitions whose paths have another SL."""
    yield from _engine(files, proof)
    yield from _refused(files, proof)
    yield from _misread(files, proof)
    yield from _keys(files, proof)
    for one in proof.levels:
        yield _finding(
            files, "FG844", "partitions.conf", one.partition,
            f"paths of partition {one.partition} have SL {one.found}, expected {one.expected} of partitions.conf",
            "set qos to TRUE, and give the P_Key a level with this SL in the QoS policy",
        )  # fmt: skip
    for source, destination in proof.refused_paths[:1]:
        yield _finding(
            files, "FG807", CONF, "routing_engine",
            f"{source} and {destination} share a P_Key, but the subnet manager has no path between them",
            "check for partitions or QoS levels whose MTU or rate no path has",
        )  # fmt: skip


def _engine(files: SubnetFiles, proof: Proof) -> Iterator[Finding]:
    if proof.is_inactive:
        message = "sm_inactive is TRUE: OpenSM would wait for a command, and route nothing"
        yield _finding(files, "FG801", CONF, "sm_inactive", message, "remove sm_inactive")
        return
    if not proof.fell_back:
        return
    configured = proof.staged.engines[0]
    now = f"it used {proof.active} instead" if proof.active else "no engine succeeded, so nothing is routed"
    why = next((line for line in proof.failed if "ERR AC01" not in line), "")
    found = _finding(
        files, "FG801", CONF, "routing_engine",
        f"OpenSM did not route with {configured}: {now}" + (f" ({why})" if why else ""),
        "choose an engine that can route this wiring, with the files and virtual lanes that it needs",
    )  # fmt: skip
    is_listed = proof.active in proof.staged.engines
    yield replace(found, severity=Severity.WARNING) if is_listed else found


def _refused(files: SubnetFiles, proof: Proof) -> Iterator[Finding]:
    words = set(proof.staged.options)
    for line in proof.refused:
        option = next((word for word in re.findall(r"\w+", line) if word in words), line.split()[0])
        yield _finding(
            files, "FG802", CONF, option, f"OpenSM refused an option and ignored it: {line}",
            "correct the option for this version of OpenSM, or remove it",
        )  # fmt: skip


def _misread(files: SubnetFiles, proof: Proof) -> Iterator[Finding]:
    for name, _ in proof.staged.absent:
        option = next(key for key, value in proof.staged.options.items() if value.endswith(name))
        yield _finding(
            files,
            "FG803",
            CONF,
            option,
            f"{CONF} names {name}, but the file is missing",
            "add the file, or remove the line",
        )
    if proof.absent_roots:
        option = proof.staged.options.get("root_guid_file", "root_guids")
        named = ", ".join(proof.absent_roots[:_MOST_NAMED])
        found = _finding(
            files, "FG803", Path(option).name, proof.absent_roots[0],
            f"the subnet has no switch {named} of the list of roots: it is down, or the list is outdated",
            "correct the list if the switch is not down", count=len(proof.absent_roots),
        )  # fmt: skip
        yield replace(found, severity=Severity.WARNING)
    for line in proof.misread:
        file = "partitions.conf" if "PARSE" in line or "artition" in line else CONF
        where = re.search(r"line (\d+)", line)
        yield _finding(
            files, "FG803", file, "", f"OpenSM did not read the file completely: {line}",
            "correct the line: after one mistake OpenSM may ignore the whole file", int(where[1]) if where else 0,
        )  # fmt: skip


def _keys(files: SubnetFiles, proof: Proof) -> Iterator[Finding]:
    if proof.keys:
        named = "; ".join(_difference(one) for one in proof.keys[:_MOST_NAMED])
        more = f"; and {len(proof.keys) - _MOST_NAMED} more ports" if len(proof.keys) > _MOST_NAMED else ""
        yield _finding(
            files, "FG804", "partitions.conf", "", f"P_Keys differ from partitions.conf: {named}{more}",
            "check what OpenSM reports about the file; one syntax error gives every port full membership of 0x7fff",
            count=len(proof.keys),
        )  # fmt: skip
    if proof.unknown_members:
        yield _finding(
            files, "FG805", "partitions.conf", proof.unknown_members[0].partition("=")[0],
            f"no adapter port of this subnet has the GUID of member {', '.join(proof.unknown_members[:_MOST_NAMED])}",
            "use the GUID of the port, not of the node; OpenSM ignores unknown members without a message",
            count=len(proof.unknown_members),
        )  # fmt: skip


def _difference(one: KeyDifference) -> str:
    found = "does not answer" if one.found is None else f"has {_listing(one.found)}"
    return f"{one.port} {found}, expected {_listing(one.expected)}"


def _listing(keys: tuple[int, ...]) -> str:
    return " ".join(f"0x{key:04x}" for key in keys) or "none"


def _finding(
    files: SubnetFiles, code: str, file: str, word: str, message: str, hint: str, line: int = 0, count: int = 1
) -> Finding:
    return Finding(
        code=code,
        severity=Severity.ERROR,
        message=f"{files.name}: {message}",
        path=".".join(filter(None, (files.name, file.removesuffix(".conf"), word))),
        location=files.locate(file, word, line),
        hint=hint,
        confidence=Confidence.OBSERVED,
        count=count,
    )
