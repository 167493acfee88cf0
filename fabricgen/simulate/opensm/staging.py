"""Copies a folder of OpenSM files to a scratch folder for a test run; opensm.conf then names only files there."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.inputs import read_bytes
from fabricgen.opensm.opensm_conf import UNSET, read_options
from fabricgen.opensm.options import NO_FALLBACK, OpensmEngine

# Options that name a file OpenSM reads, with the default name. Without the option, OpenSM looks in /etc/opensm.
FILE_OPTIONS = {
    "partition_config_file": "partitions.conf",
    "qos_policy_file": "qos-policy.conf",
    "torus_config": "torus-2QoS.conf",
    "prefix_routes_file": "prefix-routes.conf",
    "root_guid_file": "",
    "cn_guid_file": "",
    "io_guid_file": "",
    "ids_guid_file": "",
    "guid_routing_order_file": "",
    "port_search_ordering_file": "",
    "port_prof_ignore_file": "",
    "hop_weights_file": "",
    "lfts_file": "",
    "lid_matrix_dump_file": "",
    "node_name_map_name": "",
}
# Options that a test run sets itself: one sweep, all output in the scratch folder, a log with every line.
_OWN = (
    "log_file", "log_flags", "log_max_size", "log_prefix", "per_module_logging_file", "force_log_flush",
    "accum_log_file", "dump_files_dir", "sweep_interval", "daemon", "console",
)  # fmt: skip

_MOST_ABOVE = 3  # BUNDLE/infiniband/PLANE/SUBNET


@dataclass(frozen=True)
class StagedSubnet:
    """A scratch folder with an opensm.conf. `options` are the configured values. `absent` are the files that
    opensm.conf names but the folder does not have, each with the line of the option."""

    scratch: Path
    options: dict[str, str]
    absent: tuple[tuple[str, int], ...]

    @property
    def engines(self) -> tuple[str, ...]:
        """The configured routing engines, in order."""
        return _engines(self.options)[0]

    @property
    def enforces_partitions(self) -> bool:
        """Whether switches have the P_Keys of the adapters on their ports."""
        return self.options.get("part_enforce") != "off" and self.options.get("no_partition_enforcement") != "TRUE"

    @property
    def named(self) -> tuple[str, ...]:
        """The files that OpenSM reads in addition to opensm.conf, including those with default names."""
        names = {option: self.options.get(option, name) for option, name in FILE_OPTIONS.items()}
        return tuple(dict.fromkeys(Path(value).name for value in names.values() if value not in UNSET))


_UP_DOWN = {OpensmEngine.UPDN, OpensmEngine.FTREE}


def engines_of(folder: Path) -> tuple[tuple[str, ...], bool]:
    """The routing engines in a folder's opensm.conf, and whether OpenSM may fall back to minhop."""
    file = read_options(read_bytes(folder / OPTIONS_NAME).decode("utf-8", "replace"))
    return _engines({option.name.text: option.value.text for option in file.lines if option.value.text})


def is_up_down(folder: Path) -> bool:
    """Whether all paths that OpenSM can make of opensm.conf go up and then down. connect_roots and max_reverse_hops
    allow others (opensm(8), options -z and -H)."""
    engines, can_fall_back = engines_of(folder)
    file = read_options(read_bytes(folder / OPTIONS_NAME).decode("utf-8", "replace"))
    allows_others = file.is_true("connect_roots") or file.number("max_reverse_hops") > 0
    return set(engines) <= _UP_DOWN and not can_fall_back and not allows_others


def _engines(options: Mapping[str, str]) -> tuple[tuple[str, ...], bool]:
    words = options.get("routing_engine", UNSET[-1]).replace(",", " ").split()
    named = tuple(word for word in words if word not in (NO_FALLBACK, *UNSET))
    return named or (OpensmEngine.MINHOP,), NO_FALLBACK not in words


def stage(folder: Path, scratch: Path) -> StagedSubnet:
    """Copies the files of the folder and writes the opensm.conf of the run. Raises UnreadableInputError without one."""
    is_rendered = any((above / "fabric.json").is_file() for above in folder.absolute().parents[:_MOST_ABOVE])
    lines, absent = [], []
    options: dict[str, str] = {}
    conf = read_options(read_bytes(folder / OPTIONS_NAME).decode("utf-8", "replace"))
    for line in conf.lines:
        option, value = line.name.text, line.value.text
        if not value or option in _OWN:
            continue
        options[option] = value
        if option in FILE_OPTIONS and value not in UNSET:
            name = Path(value).name
            if not (folder / name).is_file() and conf.needs(option, is_rendered=is_rendered):
                absent.append((name, line.name.line))
            value = str(scratch / name)
        lines.append(f"{option} {value}")
    lines += [f"{option} {scratch / name}" for option, name in FILE_OPTIONS.items() if name and option not in options]
    lines += [f"log_file {scratch}/opensm.log", f"dump_files_dir {scratch}/", "force_log_flush TRUE"]
    lines += ["accum_log_file FALSE", f"per_module_logging_file {scratch}/none"]  # otherwise OpenSM reads /etc/opensm
    lines += ["sweep_interval 0", "daemon FALSE", "console off"]
    for file in folder.iterdir():
        if file.is_file() and file.name != OPTIONS_NAME:
            shutil.copyfile(file, scratch / file.name)
    (scratch / OPTIONS_NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return StagedSubnet(scratch, options, tuple(absent))
