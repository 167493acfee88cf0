"""SONiC's buffer templates, expanded as sonic-cfggen does, inside Jinja's sandbox."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from jinja2.sandbox import SandboxedEnvironment

from fabricgen.platforms.model import PlatformPort
from fabricgen.platforms.sonic_device.tree import DeviceTree

Tables = Mapping[str, Any]


class TemplateRefusedError(Exception):
    """A template that cannot be expanded, or whose text is not a table."""


class _Compiled(jinja2.BytecodeCache):
    """Templates by their text: the SKUs of a switch have equal ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Use the code of an equal template of this name."""
        bucket.code = self._known.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code."""
        if bucket.code is not None:
            self._known[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


class BufferTemplate:
    """One buffers_defaults_*.j2 of a SKU, imported for a device type."""

    def __init__(
        self, tree: DeviceTree, file: Path, ports: Sequence[PlatformPort], device_type: str, *, dynamic: bool
    ) -> None:
        environment = SandboxedEnvironment(
            loader=jinja2.FunctionLoader(lambda name: tree.text(file.parent / name)),
            trim_blocks=True,
            bytecode_cache=_COMPILED,
        )
        given: dict[str, Any] = {
            "DEVICE_METADATA": {"localhost": {"type": device_type, "hwsku": file.parent.name}},
            "PORT": {port.name: {"speed": str(port.speed_mbps), "alias": port.alias} for port in ports},
        }
        if dynamic:
            given["dynamic_mode"] = "true"
        try:
            self._module = environment.get_template(file.name).make_module(given)
        except Exception as problem:  # a template may raise whatever its expressions raise
            raise TemplateRefusedError(_text_of(problem)) from problem

    def tables(self, macros: Mapping[str, int], port: str) -> Tables:
        """The tables of the first of these macros that the template has; empty where it has none of them.

        macros: name -> how many of (active ports, inactive ports) it takes, 2 for both, -1 for inactive ports only.
        """
        for name, takes in macros.items():
            macro = getattr(self._module, name, None)
            if macro is None:
                continue
            try:
                text = str(macro(*{0: (), 1: (port,), 2: (port, ""), -1: ("",)}[takes]))
                content = json.loads("{" + text.strip().rstrip(",") + "}")
            except Exception as problem:
                raise TemplateRefusedError(f"{name}: {_text_of(problem)}") from problem
            return {table: rows for table, rows in content.items() if isinstance(rows, dict)}
        return {}


def _text_of(problem: Exception) -> str:
    if isinstance(problem, jinja2.TemplateNotFound):
        return f"it needs {problem.name}, which is missing"
    return str(problem) or type(problem).__name__
