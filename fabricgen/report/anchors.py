"""Findings about temporary files, relocated to the inventory, for formats whose readers open the file."""

from collections.abc import Callable
from dataclasses import replace

from fabricgen.findings import Finding, Location, Related


def anchored(one: Finding, temporary: str, place_of: Callable[[str], Location], inventory: Location) -> Finding:
    """The finding at the inventory value that caused it, or at the `inventory` as a whole.

    This applies to files below the folder `temporary`; the place in the file becomes a related place.
    """

    def within_bundle(place: Location) -> Location:
        return replace(place, file=place.file.removeprefix(f"{temporary}/"))

    related = tuple(replace(each, location=within_bundle(each.location)) for each in one.related)
    if one.location is None or not one.location.file.startswith(f"{temporary}/"):
        return replace(one, related=related)
    rendered = Related(f"rendered as {one.device}:{one.path}", within_bundle(one.location))
    return replace(one, location=place_of(one.causes[0]) if one.causes else inventory, related=(rendered, *related))
