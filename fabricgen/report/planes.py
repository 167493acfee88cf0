"""The JSON object of a verb that judges several planes."""

from collections.abc import Sequence
from typing import Any


def of_planes(objects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The object of the first plane, which is the worst, without its name; with several planes, all of them under
    `planes`."""
    if not objects:
        return {}
    worst = {key: content for key, content in objects[0].items() if key != "name"}
    return {**worst, "planes": objects} if len(objects) > 1 else worst
