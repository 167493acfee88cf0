"""Rules that the workers of a Dask scheduler check. Each worker reads the files itself, at the same paths."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen import __version__
from fabricgen.api.judgement import lookup_in, open_observed, own_layouts
from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.spread import connected, spread_on_workers

if TYPE_CHECKING:
    from fabricgen.rules.parallel import Elsewhere
    from fabricgen.rules.view.fabric import Fabric


@dataclass(frozen=True)
class Files:
    """The files to judge, as the arguments of `validate`."""

    paths: tuple[Path, ...]
    links: Path | None = None
    lldp: Path | None = None
    platforms: tuple[Path, ...] = ()
    neighbors: Path | None = None


@contextmanager
def on_workers(url: str | None, files: Files) -> "Iterator[Elsewhere | None]":
    """Checks on the workers of the scheduler at `url`; None without one. Raises UsageError if it cannot be used."""
    if url is None:
        yield None
        return
    with connected(url) as client:

        def checked(fabric: "Fabric", parts: Sequence[Sequence[str]]) -> Iterator[bytes]:
            return spread_on_workers(client, partial(_check, files, _digest(fabric.bundle)), parts)

        yield checked


def _check(files: Files, digest: str, codes: Sequence[str]) -> bytes:
    """The answer for the rules of a part. Raises UsageError if the worker has other files or not these rules."""
    from fabricgen.rules.parallel import check_together
    from fabricgen.rules.rule import RULES_BY_CODE

    fabric = _fabric(files, digest)
    if missing := [code for code in codes if code not in RULES_BY_CODE]:
        raise UsageError(f"a worker of the scheduler has no rule {missing[0]}: install the same packages there")
    return check_together(fabric, [RULES_BY_CODE[code] for code in codes])


@lru_cache(maxsize=1)
def _fabric(files: Files, digest: str) -> "Fabric":
    from fabricgen.rules.registry import all_rules
    from fabricgen.rules.run import viewed

    all_rules()
    bundle = open_observed(files.paths, files.links, files.lldp, files.neighbors)
    fabric = viewed(bundle, lookup_in(own_layouts(bundle, map(load_switch_platform, files.platforms))))
    if _digest(fabric.bundle) != digest:
        message = "a worker of the scheduler reads other files, or has another version of fabricgen"
        raise UsageError(f"{message}: share the folder with the workers, and install fabricgen {__version__} there")
    return fabric


def _digest(bundle: Bundle) -> str:
    """The digest of the files of switches, of the links, and of the version."""
    digest = sha256(__version__.encode())
    for name, device in bundle.devices.items():
        digest.update(f"\n{name} {device.signs.digest}".encode())
    digest.update(repr(bundle.links).encode())
    return digest.hexdigest()
