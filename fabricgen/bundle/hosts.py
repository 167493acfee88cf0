"""The files of hosts, read back for judging: settings by key, netplan files by interface, locations on demand."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fabricgen.bundle.host_settings import HostSettings, nccl_number, read_settings
from fabricgen.bundle.netplan import Refusal, as_read, refusals
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_text
from fabricgen.plain_yaml import compose, load_yaml
from fabricgen.sonic.canonical import natural_key

FOLDER = "hosts"
_OF_EACH_HOST = "netplan/"  # files that are read once, and whose texts are not kept
# These differ between hosts in files that are otherwise equal.
_COMMENT = re.compile(r"^#.*", re.MULTILINE)
_MARK = "\ue000"  # begins the number of an address in a shape
_ADDRESS = re.compile(r'"([0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*(?:/\d+)?)"')


@dataclass(frozen=True)
class ObservedHosts:
    """The files of one group of hosts. In the place of a finding, the file is the table, and the setting is the key."""

    group: str
    folder: Path
    _texts: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _settings: dict[str, HostSettings] = field(default_factory=dict, repr=False, compare=False)
    _shapes: dict[tuple[str, ...], "_Shape"] = field(default_factory=dict, repr=False, compare=False)
    _networks: dict[str, Mapping[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name in findings: hosts/<group>."""
        return f"{FOLDER}/{self.group}"

    @cached_property
    def files(self) -> frozenset[str]:
        """The paths of the files, relative to the folder of the group."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return frozenset(path.relative_to(self.folder).as_posix() for path in found)

    @property
    def nccl_file(self) -> str:
        """The file with the settings of NCCL, or of RCCL on hosts with GPUs of AMD."""
        return "rccl.conf" if "rccl.conf" in self.files else "nccl.conf"

    def text(self, file: str) -> str:
        """The text of a file, with its carriage returns. Raises UnreadableInputError."""
        if file in self._texts:
            return self._texts[file]
        text = read_text(self.folder / file, with_returns=True)
        if not file.startswith(_OF_EACH_HOST):
            self._texts[file] = text
        return text

    def read(self, file: str) -> HostSettings:
        """The settings of a file as its reader reads them; without the file, none. Raises UnreadableInputError."""
        if file not in self._settings:
            self._settings[file] = read_settings(file, self.text(file) if file in self.files else "")
        return self._settings[file]

    def settings(self, file: str) -> Mapping[str, str]:
        """key -> value of a file, of the line that counts for its reader. Empty without the file."""
        return self.read(file).values

    def nccl_number(self, key: str) -> int | None:
        """A number in the file of NCCL as NCCL reads it; None where NCCL uses its default."""
        return nccl_number(self.settings(self.nccl_file).get(key))

    def network(self, host: str) -> Mapping[str, Any]:
        """`network` of the netplan file of a host; empty without the file.

        Files that differ only in addresses are parsed once: a large fabric has thousands. Raises UnreadableInputError,
        with the line, if a file is not YAML or has another structure.
        """
        if host not in self._networks:
            file = f"netplan/{host}.yaml"
            self._networks[host] = self._read_network(file) if file in self.files else {}
        return self._networks[host]

    def interfaces(self, host: str) -> Mapping[str, Mapping[str, Any]]:
        """`network.ethernets` of the netplan file of a host; empty without the file. Raises as `network`."""
        found: Mapping[str, Mapping[str, Any]] = self.network(host).get("ethernets", {})
        return found

    def refusals(self, host: str) -> tuple[Refusal, ...]:
        """Why netplan refuses the file of a host. Raises as `network`."""
        network = self.network(host)
        return network.refusals if isinstance(network, _Filled) else ()

    def forget(self) -> None:
        """Free the networks of all hosts; they are read again if they are needed."""
        self._networks.clear()

    def _read_network(self, file: str) -> Mapping[str, Any]:
        pieces = _ADDRESS.split(_COMMENT.sub("#", self.text(file)))
        between, addresses = tuple(pieces[::2]), pieces[1::2]
        if between not in self._shapes:
            marks = [f'"{_MARK}{number}"' for number in range(len(addresses))]
            self._shapes[between] = self._parse(file, "".join(chain(*zip(between, [*marks, ""], strict=True))))
        return _Filled(*self._shapes[between], addresses)

    def value(self, file: str, key: str) -> str | None:
        """The value of a setting, or at a dotted path of a netplan file; None if there is no value."""
        if not file.startswith("netplan/"):
            return self.settings(file).get(key)
        found: Any = self.network(file.removeprefix("netplan/").removesuffix(".yaml"))
        steps = key.split(".")
        while steps:
            step = _first_key(steps, found if isinstance(found, Mapping) else {})
            found = found.get(step) if isinstance(found, Mapping) else None
            steps = steps[step.count(".") + 1 :]
        return None if found is None else str(found)

    def _parse(self, file: str, text: str) -> "_Shape":
        place = str(self.folder / file)
        tree = load_yaml(text, place)
        network = tree.get("network") if isinstance(tree, dict) else None
        ethernets = network.get("ethernets") if isinstance(network, dict) else None
        is_netplan = isinstance(ethernets, dict) and all(isinstance(one, dict) for one in ethernets.values())
        if not isinstance(network, dict) or not is_netplan:
            raise UnreadableInputError(
                "not a netplan file: `network: ethernets:` must contain interfaces", Location(place, 1, 1)
            )
        return _Shape(_with_slots(as_read(network)), refusals(network))

    def locate(self, *path: str) -> Location:
        """The location of a setting of a file, or of the deepest step of a dotted path that a netplan file has."""
        file, *keys = path
        place = self.folder / file
        if file not in self.files:
            return Location(str(place))
        if file.endswith(".yaml"):
            line, column = _yaml_place(self.text(file), [step for part in keys for step in part.split(".")])
            return Location(str(place), line, column)
        return Location(str(place), (self.read(file).line(keys[0]) if keys else None) or 1, 1)


def read_hosts(root: Path | None) -> Mapping[str, ObservedHosts]:
    """group -> the files of the hosts, for the groups with a folder in a bundle."""
    folders = [path for path in (root / FOLDER).glob("*/") if path.is_dir()] if root else []
    return {
        path.name: ObservedHosts(path.name, path) for path in sorted(folders, key=lambda one: natural_key(one.name))
    }


class _Shape(NamedTuple):
    """What the netplan files of several hosts have in common."""

    network: Mapping[str, Any]
    refusals: tuple[Refusal, ...]


# A value with addresses, made of those of one host. Defects that name a place in the file bring it to other processes,
# so it is not a function within another.
_Slot = Callable[[Sequence[str]], Any]


class _Filled(Mapping[str, Any]):
    """A mapping of a shape with the addresses of one host, which are filled in when a value is read. `refusals` say
    why netplan refuses it."""

    __slots__ = ("_addresses", "_shape", "refusals")

    def __init__(self, shape: Mapping[str, Any], refusals: tuple[Refusal, ...], addresses: Sequence[str]) -> None:
        self._shape, self.refusals, self._addresses = shape, refusals, addresses

    def __getitem__(self, key: str) -> Any:
        found = self._shape[key]
        if isinstance(found, dict):
            return _Filled(found, (), self._addresses)
        return found(self._addresses) if callable(found) else found

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._shape else default

    def __contains__(self, key: object) -> bool:
        return key in self._shape

    def __iter__(self) -> Iterator[str]:
        return iter(self._shape)

    def __len__(self) -> int:
        return len(self._shape)

    def __str__(self) -> str:
        return str(_plain(self))


def _plain(tree: Any) -> Any:
    return {key: _plain(child) for key, child in tree.items()} if isinstance(tree, _Filled) else tree


def _with_slots(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping with a slot for each value with addresses. Other values are those of all hosts."""
    return {
        key: _with_slots(child) if isinstance(child, dict) else _slot(child) or child for key, child in tree.items()
    }


def _slot(tree: Any) -> _Slot | None:
    """None for a value without addresses."""
    if isinstance(tree, str):
        return itemgetter(int(tree[1:])) if tree.startswith(_MARK) else None
    if isinstance(tree, list):
        slots = [_slot(child) for child in tree]
        pairs = [*zip(tree, slots, strict=True)]
        return partial(_list_of, pairs) if any(slots) else None
    if isinstance(tree, dict):
        open_ = [(key, slot) for key, child in tree.items() if (slot := _slot(child))]
        return partial(_mapping_of, tree, open_) if open_ else None
    return None


def _list_of(pairs: Sequence[tuple[Any, _Slot | None]], addresses: Sequence[str]) -> list[Any]:
    return [slot(addresses) if slot else one for one, slot in pairs]


def _mapping_of(
    tree: Mapping[str, Any], slots: Sequence[tuple[str, _Slot]], addresses: Sequence[str]
) -> dict[str, Any]:
    return {**tree, **{key: slot(addresses) for key, slot in slots}}


def _first_key(steps: Sequence[str], known: Collection[str]) -> str:
    """The key that a dotted path begins with: names of interfaces may have dots, too."""
    names = (".".join(steps[:length]) for length in range(len(steps), 0, -1))
    return next((name for name in names if name in known), steps[0])


def _yaml_place(text: str, path: list[str]) -> tuple[int, int]:
    """Line and column of the value at `path` below network, or of the deepest mapping on the path."""
    node = compose(text, "")  # load_yaml has read it
    mark = node.start_mark if node else None
    steps = ["network", *path]
    while steps:
        pairs = {pair[0].value: pair for pair in node.value} if isinstance(node, yaml.MappingNode) else {}
        step = _first_key(steps, pairs)
        if step not in pairs:
            break
        key, node = pairs[step]
        mark, steps = key.start_mark, steps[step.count(".") + 1 :]
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)
