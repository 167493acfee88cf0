"""What other installed packages add, by entry points: template filters and platform catalogs.

[project.entry-points."fabricgen.filters"]
as_rack = "site_fabric.filters:as_rack"             a function that templates may call

[project.entry-points."fabricgen.platforms"]
site = "site_fabric:CATALOG"                        a folder like fabricgen/platforms/catalog
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

from fabricgen.errors import UsageError

FILTERS = "fabricgen.filters"
PLATFORMS = "fabricgen.platforms"


@cache
def extensions(group: str) -> Mapping[str, object]:
    """name -> what an entry point of this group stands for. Raises UsageError for one that cannot be loaded."""
    found: dict[str, object] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        try:
            found[entry.name] = entry.load()
        except Exception as problem:  # whatever a foreign module does when it is imported
            raise UsageError(
                f"extension {entry.name} ({entry.value}) of {group} cannot be loaded: {problem}"
            ) from problem
    return found
