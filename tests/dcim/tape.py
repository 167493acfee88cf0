"""Answers of a real NetBox 4.6.8, with the requests that they answer: recorded once, and replayed in tests.

To record them again, start a NetBox with an empty database, set NETBOX_URL and NETBOX_TOKEN, and run test_netbox.py
with RECORD_NETBOX=true. Fields that no client needs are left out.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
import pytest

FILE = Path(__file__).parent / "answers" / "netbox-4.6.8.jsonl"
RECORDS = os.environ.get("RECORD_NETBOX") == "true"
URL = os.environ["NETBOX_URL"] if RECORDS else "http://127.0.0.1:8000"
TOKEN = os.environ["NETBOX_TOKEN"] if RECORDS else "recorded-token"
_PUBLIC = "http://127.0.0.1:8000"
_LEFT_OUT = {
    "display_url",
    "created",
    "last_updated",
    "tags",
    "comments",
    "description",
    "installed_apps",
    "owner",
    "plugins",
}


class Tape:
    """The exchanges in order: requests are compared, and answered."""

    def __init__(self) -> None:
        self.exchanges: list[dict[str, Any]] = []
        if not RECORDS:
            self.exchanges = [orjson.loads(line) for line in FILE.read_bytes().splitlines()]
        self.position = 0
        self.tokens: set[str] = set()

    def send(self, send: Any, adapter: Any, request: Any, **options: Any) -> Any:
        """The answer to a request: the recorded one, or that of the server."""
        import requests

        self.tokens.add(request.headers.get("authorization", ""))
        split = urlsplit(request.url)
        asked = {
            "method": request.method,
            "path": split.path,
            "query": [list(pair) for pair in parse_qsl(split.query)],
            "body": orjson.loads(request.body) if request.body else None,
        }
        if RECORDS:
            response = send(adapter, request, **options)
            answer = _without(response.json()) if response.content else None
            text = (
                orjson.dumps({**asked, "status": response.status_code, "answer": answer}).decode().replace(URL, _PUBLIC)
            )
            self.exchanges.append(orjson.loads(text))
            return response
        recorded = self.exchanges[self.position]
        self.position += 1
        assert {name: recorded[name] for name in asked} == asked
        response = requests.Response()
        response.status_code, response.request, response.url = recorded["status"], request, request.url
        response._content = orjson.dumps(recorded["answer"]) if recorded["answer"] is not None else b""
        return response


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(each) for name, each in value.items() if name not in _LEFT_OUT}
    return [_without(each) for each in value] if isinstance(value, list) else value


@contextmanager
def taped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tape]:
    """All requests go to the tape. At the end every exchange has been used, or the tape is written."""
    import requests.adapters

    tape, send = Tape(), requests.adapters.HTTPAdapter.send
    monkeypatch.setattr(
        requests.adapters.HTTPAdapter,
        "send",
        lambda self, request, **options: tape.send(send, self, request, **options),
    )
    monkeypatch.setenv("NETBOX_URL", URL)
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    yield tape
    monkeypatch.undo()
    if RECORDS:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_bytes(b"".join(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in tape.exchanges))
    else:
        assert tape.position == len(tape.exchanges)
