"""Running configurations: files DEVICE.json or DEVICE/config_db.json, as `config save` or sonic-cfggen write them."""

import re
from collections.abc import Container, Mapping
from pathlib import Path

import orjson

from fabricgen.bundle.config_files import ConfigFiles
from fabricgen.bundle.read import CONFIG_NAME, parse_object
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import InputForm

_NODE_GUID = re.compile(rb"^(?:vendid=|(?:switch|ca)guid=0x)", re.MULTILINE)
BUNDLE_MARKS = ("fabric.json", "manifest.json", "sonic")


def is_bundle(path: Path) -> bool:
    """Whether a folder is a bundle or a part of one."""
    return any((path / mark).exists() for mark in BUNDLE_MARKS)


def bundle_files(root: Path) -> Mapping[str, Path]:
    """Device -> file of a bundle's switches."""
    below = root / "sonic"
    names = sorted((entry.name for entry in below.iterdir()), key=natural_key) if below.is_dir() else []
    return {name: file for name in names if (file := below / name / CONFIG_NAME).is_file()}


def running_files(path: Path, known: Container[str] = ()) -> Mapping[str, Path]:
    """Device -> file of a folder, or of a single file, in each place where `validate` finds them.

    A device has the name of its file or folder if `known` has that name, otherwise its hostname. Raises
    UnreadableInputError if there is no file, a file without CONFIG_DB tables, or two files for one device.
    """
    configs = ConfigFiles()
    files = [path] if path.is_file() else sorted([*path.glob("*.json"), *path.glob(f"*/{CONFIG_NAME}")])
    further = {} if files else {file: name for name, file in configs.below(path)}
    if not (files or further):
        raise UnreadableInputError(f"the folder has neither DEVICE.json nor DEVICE/{CONFIG_NAME}", Location(str(path)))
    found: dict[str, Path] = {}
    for file in (*files, *further):
        place = further.get(file) or (file.absolute().parent.name if file.name == CONFIG_NAME else file.stem)
        name = place if place in known or not _has_tables(file) else configs.device_name(file, place)
        if name in found:
            raise UnreadableInputError(f"a second file for device {name}; the first is {found[name]}", _at(file))
        found[name] = file
    return {name: found[name] for name in sorted(found, key=natural_key)}


def form_of(path: Path) -> InputForm:
    """The form of a file or folder, by the content of the file or of the first file in the folder.

    Raises UnreadableInputError for a missing path and for another form.
    """
    if not path.exists():
        raise UnreadableInputError("no such file or folder", _at(path))
    if path.is_dir() and is_bundle(path):
        return InputForm.BUNDLE
    patterns = ("*.json", f"*/{CONFIG_NAME}", "*/*.json", "*.txt", "*/*.txt", f"**/{CONFIG_NAME}")
    files = [path] if path.is_file() else [file for pattern in patterns for file in sorted(path.glob(pattern))]
    if not files:
        raise UnreadableInputError("the folder has no bundle, no config_db.json and no LLDP dump", _at(path))
    text = read_bytes(files[0])
    if not text.lstrip().startswith((b"{", b"[")):
        return _form_of_text(text, files[0])
    tables = parse_object(text, files[0])
    if "lldp" in tables or any(name.startswith("LLDP_ENTRY_TABLE") for name in tables):
        return InputForm.LLDP
    if any(name[:1].isupper() for name in tables):
        return InputForm.RUNNING
    if any(isinstance(part, dict) and "lldp" in part for part in tables.values()):
        return InputForm.LLDP
    raise UnreadableInputError("neither a config_db.json nor an LLDP dump", _at(files[0]))


def _form_of_text(text: bytes, file: Path) -> InputForm:
    if text.startswith(b"# Topology file") or _NODE_GUID.search(text):
        return InputForm.IBNETDISCOVER
    if b"RemotePortID" in text or b"LLDP neighbors:" in text:
        return InputForm.LLDP
    raise UnreadableInputError("neither JSON nor the output of `show lldp table` or ibnetdiscover", _at(file))


def _has_tables(file: Path) -> bool:
    """Whether a file is JSON, with tables. The comparison reports the place of what is not JSON."""
    try:
        content = orjson.loads(read_bytes(file))
    except orjson.JSONDecodeError:
        return False
    if not isinstance(content, dict) or not any(name[:1].isupper() for name in content):
        raise UnreadableInputError("the file has no table of CONFIG_DB", Location(str(file), 1, 1))
    return True


def _at(path: Path) -> Location:
    return Location(str(path))
