"""Requests for several objects: what a server refuses is named, in the forms of NetBox and of Nautobot."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from fabricgen.dcim.batches import chunks, sent
from fabricgen.dcim.objects import FoundObject, ObjectKind
from fabricgen.errors import UsageError
from tests.dcim.netbox_double import Server, netbox_of


class RefusalError(Exception):
    """The exception of a client library for an answer with a status."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.req, self.error = SimpleNamespace(status_code=status), error


class Endpoint:
    """Refuses bodies above 9; the whole request has no effect then. `by_object` is how Nautobot answers to new ones."""

    def __init__(self, *, by_object: bool, status: int = 400) -> None:
        self.by_object, self.status = by_object, status
        self.written: list[int] = []
        self.requests = 0

    def create(self, bodies: list[int]) -> list[dict[str, int]]:
        self.requests += 1
        reasons: list[Any] = [{"mtu": [f"{body} is too large"]} if body > 9 else {} for body in bodies]
        if any(reasons):
            answer = reasons if self.by_object else next(filter(None, reasons))
            raise RefusalError(self.status, json.dumps(answer))
        self.written += bodies
        return [{"id": body} for body in bodies]


BODIES = [("a", 1), ("b", 10), ("c", 3), ("d", 11)]


def test_an_answer_for_each_object_is_read() -> None:
    endpoint = Endpoint(by_object=True)
    refusals = [("b", "mtu: 10 is too large"), ("d", "mtu: 11 is too large")]
    assert sent(BODIES, endpoint.create, (RefusalError,)) == ([], refusals)
    assert (endpoint.written, endpoint.requests) == ([], 1)


def test_objects_are_sent_one_at_a_time_if_the_answer_names_none() -> None:
    endpoint = Endpoint(by_object=False)
    answers, refusals = sent(BODIES, endpoint.create, (RefusalError,))
    assert ([each["id"] for each in answers], [name for name, _ in refusals]) == ([1, 3], ["b", "d"])
    assert endpoint.written == [1, 3]
    assert sent(BODIES[:1], endpoint.create, (RefusalError,)) == ([{"id": 1}], [])


def test_a_server_that_fails_gets_no_second_request() -> None:
    endpoint = Endpoint(by_object=False, status=502)
    with pytest.raises(RefusalError):
        sent(BODIES, endpoint.create, (RefusalError,))
    assert endpoint.requests == 1


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('{"detail": "2 dependent objects were found: a, b"}', "2 dependent objects were found: a, b"),
        ('{"__all__": ["x", "y"], "terminations": {"a": {"1": ["taken"]}}}', "x, y; terminations: a: 1: taken"),
        ("<html>no JSON</html>", "<html>no JSON</html>"),
        ('["only a text"]', "only a text"),
    ],
)
def test_reasons_are_text(answer: str, text: str) -> None:
    def refuse(_: list[Any]) -> None:
        raise RefusalError(409, answer)

    assert sent(BODIES[:1], refuse, (RefusalError,)) == ([], [("a", text)])


def test_chunks_are_bounded() -> None:
    assert [len(chunk) for chunk in chunks(range(250))] == [100, 100, 50]
    assert list(chunks([])) == []


def test_a_message_names_all_refused_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    system = netbox_of(server)
    system._refused = (RefusalError,)
    monkeypatch.setattr(server.interfaces, "update", Endpoint(by_object=True).create)
    with pytest.raises(UsageError) as raised:
        system.send("changing interface", BODIES, server.interfaces.update)
    assert str(raised.value) == (
        "NetBox, changing interface: 2 of 4 are refused:\n  b: mtu: 10 is too large\n  d: mtu: 11 is too large"
    )
    with pytest.raises(UsageError, match=r"^NetBox, changing interface d: mtu: 11 is too large$"):
        system.send("changing interface", BODIES[2:], server.interfaces.update)


def test_a_change_of_a_deleted_object_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nautobot leaves out objects that it does not have, without an error."""
    server = Server()
    monkeypatch.setattr(server.interfaces, "update", lambda bodies: bodies[:1])
    changes = [(FoundObject(ObjectKind.INTERFACE, number, "x"), {"mtu": 9100}) for number in (1, 2)]
    with pytest.raises(UsageError, match="1 of 2 objects are changed, because another program deleted the others"):
        netbox_of(server).change(ObjectKind.INTERFACE, changes)
