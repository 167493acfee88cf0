"""The JSON object of a verb that judges several planes."""

from collections.abc import Mapping, Sequence
from typing import Any

_NO_VERDICT = {"unknown", "skipped"}  # the verdict of deadlock, and the model of congestion


def of_planes(objects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The object of the first plane, which is the worst, without its name; with several planes, all of them under
    `planes`."""
    if not objects:
        return {}
    worst = {key: content for key, content in objects[0].items() if key != "name"}
    return {**worst, "planes": objects} if len(objects) > 1 else worst


def has_verdict(own: Mapping[str, Any]) -> bool:
    """Whether the object of a verb has a plane that was judged."""
    return any(
        one and _NO_VERDICT.isdisjoint((one.get("verdict"), one.get("model"))) for one in own.get("planes", [own])
    )
