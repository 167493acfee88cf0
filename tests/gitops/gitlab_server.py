"""The part of GitLab's REST API that the recipe calls, as its pages of notes, uploads and users describe it."""

import email
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

TOKEN = "secret"
ACCOUNT, OTHER = 40, 41  # the user of the token, and a person
_NOTES = "/projects/1/merge_requests/7/notes"
_PAGE = 20  # notes of a page, if the call does not say; 100 at most


class GitLab:
    """A server with one merge request: its notes in the order of their numbers, and the files that were uploaded."""

    def __init__(self, token: str = TOKEN) -> None:
        self.token = token
        self.notes: list[dict[str, Any]] = []
        self.uploads: list[str] = []
        self.refused: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def note(self, author: int, body: str) -> dict[str, Any]:
        """A new note."""
        self.notes.append({"id": 300 + len(self.notes), "author": {"id": author}, "body": body, "edits": 0})
        return self.notes[-1]

    def answer(self, method: str, address: str, content_type: str, body: bytes) -> tuple[int, Any]:
        """The status and the object that a call returns."""
        split = urlsplit(address)
        path, query = split.path, {key: values[-1] for key, values in parse_qs(split.query).items()}
        form = (
            {key: values[-1] for key, values in parse_qs(body.decode()).items()} if "urlencoded" in content_type else {}
        )
        match method, path:
            case "GET", "/user":
                return 200, {"id": ACCOUNT}
            case "GET", path if path == _NOTES:
                ordered = self.notes if query.get("sort") == "asc" else self.notes[::-1]
                size = min(int(query.get("per_page", _PAGE)), 100)
                begin = (int(query.get("page", 1)) - 1) * size
                return 200, ordered[begin : begin + size]
            case "POST", path if path == _NOTES and form.get("body"):
                return 201, self.note(ACCOUNT, form["body"])
            case "PUT", path if path.startswith(_NOTES + "/") and form.get("body"):
                note = next(note for note in self.notes if str(note["id"]) == path.rpartition("/")[2])
                if note["author"]["id"] != ACCOUNT:
                    return 403, {"message": "403 Forbidden"}
                note["body"], note["edits"] = form["body"], note["edits"] + 1
                return 200, note
            case "POST", "/projects/1/uploads":
                parts = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\n\n" + body)
                (part,) = parts.walk() if not parts.is_multipart() else parts.get_payload()  # type: ignore[misc]
                self.uploads.append(part.get_payload(decode=True).decode())  # type: ignore[union-attr]
                return 201, {"markdown": f"![change](/uploads/{len(self.uploads)}/{part.get_filename()})"}  # type: ignore[union-attr]
        return 404, {"error": "404 Not Found"}


def _handler(gitlab: GitLab) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, found = 401, {"message": "401 Unauthorized"}
            if self.headers.get("PRIVATE-TOKEN") == gitlab.token:
                status, found = gitlab.answer(self.command, self.path, self.headers.get("Content-Type", ""), body)
            if status >= 400:
                gitlab.refused.append(f"{status} {self.command} {self.path}")
            text = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = _serve  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler
