"""Requests for several objects: their size, and which of the objects a server refuses."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any, TypeVar

BATCH = 100  # objects of a request that writes, and names of one that searches: a URL has at most 8 kB
_WITHOUT_EFFECT = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT)  # both programs undo the whole request then
_NO_FIELD = ("detail", "error", "__all__", "non_field_errors")

Element = TypeVar("Element")


def chunks(values: Iterable[Element]) -> Iterator[list[Element]]:
    """Lists of `BATCH` values."""
    left = iter(values)
    while chunk := list(islice(left, BATCH)):
        yield chunk


def sent(
    bodies: Sequence[tuple[str, Any]], send: Callable[[list[Any]], Any], refused: tuple[type[Exception], ...]
) -> tuple[list[Any], list[tuple[str, str]]]:
    """(answers of the server, (name, reason) of each object that it refuses) for the (name, body) of each object.

    Nautobot answers for each new object. NetBox, and both for changes, give the first reason without the object, so the
    objects are then sent one at a time: those without a fault are written. Other exceptions in `refused` are raised.
    """
    try:
        answer = send([body for _, body in bodies])
        return list(answer) if isinstance(answer, list) else [], []
    except refused as error:
        if getattr(getattr(error, "req", None), "status_code", None) not in _WITHOUT_EFFECT:
            raise
        reasons = _reasons(error)
    if isinstance(reasons, list) and len(reasons) == len(bodies):
        return [], [(name, _text(reason)) for (name, _), reason in zip(bodies, reasons, strict=True) if reason]
    if len(bodies) == 1:
        return [], [(bodies[0][0], _text(reasons))]
    answers: list[Any] = []
    refusals: list[tuple[str, str]] = []
    for one in bodies:
        found, bad = sent([one], send, refused)
        answers += found
        refusals += bad
    return answers, refusals


def _reasons(error: Exception) -> Any:
    """The JSON of an answer that refuses; its text if it is not JSON."""
    text = str(getattr(error, "error", "") or error)
    try:
        return json.loads(text)
    except ValueError:
        return text[:1000]


def _text(reason: Any) -> str:
    """A reason for people: fields with what is wrong."""
    if isinstance(reason, dict):
        parts = ((str(key), _text(value)) for key, value in reason.items())
        return "; ".join(text if key in _NO_FIELD else f"{key}: {text}" for key, text in parts)
    return ", ".join(map(_text, reason)) if isinstance(reason, list) else str(reason)
