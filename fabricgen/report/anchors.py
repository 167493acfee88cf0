"""Findings about files that will be gone, moved to the inventory, for formats whose readers open the place."""

from collections.abc import Callable
from dataclasses import replace

from fabricgen.findings import Finding, Location, Related


def anchored(one: Finding, aside: str, place_of: Callable[[str], Location], inventory: Location) -> Finding:
    """A finding in a file below the folder `aside` at the inventory value that caused it, or at the `inventory` as a
    whole; where it was rendered becomes a related place."""

    def as_in_a_bundle(place: Location) -> Location:
        return replace(place, file=place.file.removeprefix(f"{aside}/"))

    related = tuple(replace(each, location=as_in_a_bundle(each.location)) for each in one.related)
    if one.location is None or not one.location.file.startswith(f"{aside}/"):
        return replace(one, related=related)
    rendered = Related(f"rendered as {one.device}:{one.path}", as_in_a_bundle(one.location))
    return replace(one, location=place_of(one.causes[0]) if one.causes else inventory, related=(rendered, *related))
