"""Switches that the workers of a Dask scheduler render. Each worker plans the inventory itself, at the same path."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256

from fabricgen import OUTPUT_VERSION, __version__
from fabricgen.errors import UsageError
from fabricgen.findings import has_errors
from fabricgen.inventory.load import InventorySource
from fabricgen.render.content import BundleContent, Elsewhere, RenderedFile
from fabricgen.render.plans import Plans, make_plans
from fabricgen.spread import connected, spread_on_workers

_TOGETHER = 32  # switches


@dataclass(frozen=True)
class _Wanted:
    """What is rendered. `plans` is the digest of the plans that a worker must have."""

    inventory: InventorySource
    renumber: str | None
    only: str | None
    plans: str


@contextmanager
def on_workers(url: str | None, inventory: InventorySource, renumber: str | None = None) -> Iterator[Elsewhere | None]:
    """Renders on the workers of the scheduler at `url`; None without one. Raises UsageError if it cannot be used."""
    if url is None:
        yield None
        return
    with connected(url) as client:

        def rendered(content: BundleContent) -> Iterator[RenderedFile]:
            wanted = _Wanted(inventory, renumber, content.only, _digest(content.plans))
            number = len(content.plans.rendered.switches)
            parts = [range(first, min(first + _TOGETHER, number)) for first in range(0, number, _TOGETHER)]
            for found in spread_on_workers(client, partial(_render, wanted), parts):
                yield from found

        yield rendered


def _render(wanted: _Wanted, places: range) -> list[RenderedFile]:
    """The files of the switches at these places. Raises UsageError if the worker has other plans."""
    content = _content(wanted)
    return [content.switch(content.plans.rendered.switches[place]) for place in places]


@lru_cache(maxsize=1)
def _content(wanted: _Wanted) -> BundleContent:
    plans = make_plans(wanted.inventory, renumber=wanted.renumber)
    if has_errors(plans.findings) or _digest(plans) != wanted.plans:
        message = "a worker of the scheduler reads another inventory or lock file, or has another version of fabricgen"
        raise UsageError(f"{message}: share the folder with the workers, and install fabricgen {__version__} there")
    content = BundleContent(plans, wanted.only)
    content.expand()
    return content


def _digest(plans: Plans) -> str:
    """The digest of the inventory, of all numbers, and of the version."""
    parts = (__version__, str(OUTPUT_VERSION), plans.fabric.inventory.digest, plans.lock.dump())
    return sha256("\0".join(parts).encode()).hexdigest()
