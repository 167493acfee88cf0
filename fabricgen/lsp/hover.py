"""Hover: the meaning of a key or name, and what fabricgen computes from the value."""

import json
from collections.abc import Iterator

from fabricgen.api.draft import Draft
from fabricgen.lsp.cursor import Spot, Steps
from fabricgen.lsp.names import kind_at, names_at
from fabricgen.lsp.schema import default_of, keys_at, limits_of, meaning_of, values_at
from fabricgen.report.capacity import plane_rows
from fabricgen.sonic.secrets import is_secret, is_secret_path

_MOST_VALUES = 12  # in one hover
_LAYOUT_KEYS = {
    "design", "hosts", "scalable_unit", "leaf", "spine", "core", "tiers", "subplanes", "speed", "uplink_speed", "pod",
    "oversubscription", "rails_per_leaf", "leaves_per_unit",
}  # fmt: skip


def hover_text(spot: Spot, draft: Draft, file: str) -> str:
    """Markdown about the key or value at a position of a file; "" where nothing is known."""
    if any(is_secret(str(step), str(step)) for step in spot.path[-1:]):
        return "\n\n".join([f"**{_dotted(spot.path)}**", meaning_of(spot.path)])
    blocks = [*_meaning(spot, draft), *_plane(spot, draft), *_numbers(spot, draft), *_values(spot, draft, file)]
    return "\n\n".join([f"**{_dotted(spot.path)}**", *blocks]) if blocks else ""


def _meaning(spot: Spot, draft: Draft) -> Iterator[str]:
    if text := meaning_of(spot.path):
        yield text
    words, default = values_at(spot.path), default_of(spot.path)
    if words:
        yield "One of " + ", ".join(f"`{word}`" for word in words) + "."
    if limits := limits_of(spot.path):
        yield f"A number, {limits}."
    if default is not None:
        yield f"Default: `{json.dumps(default)}`."
    if not spot.is_key and kind_at(spot.path):
        if described := names_at(spot.path, draft).get(spot.text):
            yield f"`{spot.text}`: {' '.join(described.split())}"
    elif spot.is_key and (keys := list(keys_at(spot.path))) and not text:
        yield "Keys: " + ", ".join(f"`{key}`" for key in keys) + "."


def _plane(spot: Spot, draft: Draft) -> Iterator[str]:
    """The counts of the plane whose name or layout is at the position."""
    match spot.path:
        case ("planes", str(name)):
            pass
        case ("planes", str(name), key, *_) if key in _LAYOUT_KEYS:
            pass
        case _:
            return
    if row := draft.capacity.get(name):
        yield "\n".join([f"Plane {name}:", "", *(f"- {title}: {text}" for title, text in plane_rows(row))])


def _numbers(spot: Spot, draft: Draft) -> Iterator[str]:
    """How many numbers of a pool are given, and the first and the last of them."""
    if draft.plans is None or len(spot.path) < 4 or spot.path[0] != "planes" or spot.path[2] != "addressing":
        return
    plane, pool = spot.path[1], spot.path[3]
    given = {"asn": draft.plans.allocation.asns, "loopbacks": draft.plans.allocation.loopbacks}.get(str(pool), {})
    own = [number for key, number in given.items() if key.startswith(f"{plane}/")]
    shown = [", ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in (own[:1] + own[-1:])]
    if own:
        yield f"{len(own)} given, from `{shown[0]}` to `{shown[1]}`."


def _values(spot: Spot, draft: Draft, file: str) -> Iterator[str]:
    """The rendered values that come from the value at the position, or else from the mapping around it."""
    least = 3 if spot.path[0] == "planes" else 2  # a whole plane has too many values
    for length in range(len(spot.path), least - 1, -1):
        path = _dotted(spot.path[:length])
        found = [one for one in draft.values(f"{file}#{path}") if not is_secret_path(one.path)]
        if found:
            listed = [f"- `{one.device}` `{one.path}` = `{one.value}`" for one in found[:_MOST_VALUES]]
            more = [f"- … {len(found) - _MOST_VALUES} more"] if len(found) > _MOST_VALUES else []
            yield "\n".join([f"Rendered from `{path}`, for example:", "", *listed, *more])
            return


def _dotted(path: Steps) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
