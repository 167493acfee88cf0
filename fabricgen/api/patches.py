"""Patches from anywhere, judged on the configurations that they change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import orjson

from fabricgen.api.judgement import Judging
from fabricgen.codes import chosen
from fabricgen.diff.patch_findings import CODES, patch_findings
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Finding, Location
from fabricgen.inputs import read_bytes
from fabricgen.sonic.releases import DEFAULT, release_of


def judge_patch(judging: Judging, file: Path, select: Sequence[str], ignore: Sequence[str]) -> None:
    """Add the findings about a patch file.

    The file is a list of operations for one switch, or the JSON of `diff --format jsonpatch` or `plan`. Raises
    UnreadableInputError, and UsageError where it is not clear for which switch a list is.
    """
    text = read_bytes(file)
    codes = {*filter(chosen(select, ignore), CODES)}
    devices = judging.bundle.devices
    for name, patches in _patches(text, file, list(devices)):
        if name not in devices:
            raise UsageError(f"{file} has a patch for {name}, which is not in these files")
        config: Mapping[str, Any] | None = {table: rows for table, rows in devices[name].whole_config().items() if rows}
        release = release_of(devices[name].config) or judging.bundle.release or DEFAULT
        for patch in patches:
            if config is None:
                break
            found, config = patch_findings(name, config, patch, release)
            judging.findings += [_located(finding, text, file) for finding in found if finding.code in codes]
    judging.codes |= codes
    judging.rules = len(codes)


def _patches(text: bytes, file: Path, names: Sequence[str]) -> Iterator[tuple[str, list[list[Any]]]]:
    """Each device with its patches in order."""
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UnreadableInputError(f"not JSON: {error.msg}", Location(str(file), error.lineno, error.colno)) from error
    if isinstance(content, list):
        name = file.stem if file.stem in names else names[0] if len(names) == 1 else ""
        if not name:
            raise UsageError(f"{file}: name it DEVICE.json after its switch, or give the file of one switch")
        yield name, [content]
        return
    members = content.get("devices") if isinstance(content, dict) else None
    if not isinstance(members, dict):
        raise UnreadableInputError("is neither a list of operations nor an output of diff", Location(str(file), 1, 1))
    for name, member in members.items():
        steps = member.get("steps", [member]) if isinstance(member, dict) else []
        patches = [step.get("patch") for step in steps if isinstance(step, dict)]
        if not all(isinstance(patch, list) for patch in patches):
            raise UnreadableInputError(f"{name} has no list of operations", Location(str(file), 1, 1))
        yield name, [patch for patch in patches if isinstance(patch, list)]


def _located(finding: Finding, text: bytes, file: Path) -> Finding:
    """The finding at the first operation on its place."""
    steps = [step.replace("~", "~0").replace("/", "~1") for step in _steps(finding)]
    for depth in range(len(steps), 0, -1):
        start = text.find(encode_basestring("/" + "/".join(steps[:depth]))[:-1].encode())
        if start >= 0:
            line = text.count(b"\n", 0, start) + 1
            return replace(finding, location=Location(str(file), line, start - text.rfind(b"\n", 0, start)))
    return replace(finding, location=Location(str(file), 1, 1))


def _steps(finding: Finding) -> list[str]:
    if finding.place is not None:
        return [step for step in (finding.place.table, finding.place.key, finding.place.field) if step]
    return [step for step in finding.path.split("/") if step]
