"""Results by what their judge read.

The first entry of a judge lists sets of readings: the names of all that one run read. For each set, the digest of what
has these names now is a key. A judge is deterministic, so where all that a run read is the same, it reads the same
again and has the same result.
"""

from collections.abc import Callable

import orjson

from fabricgen.cache.readings import Readings
from fabricgen.cache.recorded import Recordable
from fabricgen.cache.store import Store

_MOST_SETS = 8  # of one judge: which tables are read depends on the tables
Judged = bytes | None


def remembered(
    store: Store,
    kind: str,
    about: bytes,
    bundle: Recordable,
    judge: Callable[[Readings], Judged],
    readings: Readings | None = None,
) -> Judged:
    """The result of `judge` on a bundle: stored, or judged now, and stored if all that it read has a name.

    `about` is all that the judge depends on beside the bundle. It returns None where its result has no bytes.
    `readings` are those of an earlier judge whose objects it uses.
    """
    sets = _sets(store, kind, about)
    for names in sets:
        content = store.get(kind, about + bundle.digest(names))
        if content is not None:
            return content
    readings = readings or Readings()
    content = judge(readings)
    if content is None or not readings.is_complete:
        return content
    names = readings.all_names
    if names not in sets:
        store.put(f"{kind}-readings", about, orjson.dumps([names, *sets][:_MOST_SETS]))
    store.put(kind, about + bundle.digest(names), content)
    return content


def _sets(store: Store, kind: str, about: bytes) -> list[list[str]]:
    """The sets of readings of earlier runs."""
    content = store.get(f"{kind}-readings", about)
    return orjson.loads(content) if content else []
