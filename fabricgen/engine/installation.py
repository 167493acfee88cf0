"""What is installed: results of other code are not found."""

import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import fabricgen
from fabricgen import OUTPUT_VERSION, __version__
from fabricgen.resources import resource

_LIBRARIES = ("numpy", "orjson", "netaddr", "pyyaml")  # those that results depend on
_EXTENSIONS = "fabricgen."  # the groups of entry points of installed packages


@cache
def installation() -> bytes:
    """A digest of the version, Python, the libraries, and the files of fabricgen and of installed extensions by their
    sizes and times."""
    digest = sha256(f"{__version__} {OUTPUT_VERSION} {sys.version}".encode())
    for name in _LIBRARIES:
        digest.update(f" {name} {metadata.version(name)}".encode())
    for root in (Path(fabricgen.__file__).parent, resource("templates"), resource("schemas"), *_extensions()):
        for file in [root, *sorted(root.rglob("*"))]:
            if file.suffix != ".pyc" and file.is_file():
                about = file.stat()
                digest.update(f"\n{file} {about.st_size} {about.st_mtime_ns}".encode())
    return digest.digest()


def _extensions() -> Iterator[Path]:
    """The folders of the packages that extend fabricgen."""
    groups = sorted(group for group in metadata.entry_points().groups if group.startswith(_EXTENSIONS))
    for entry in (entry for group in groups for entry in metadata.entry_points(group=group)):
        spec = find_spec(entry.module.partition(".")[0])
        yield from map(Path, spec.submodule_search_locations or () if spec else ())
        if spec and spec.origin:
            yield Path(spec.origin)
