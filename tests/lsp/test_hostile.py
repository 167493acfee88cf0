"""What no editor should send: the server answers, or reports an error, and serves the next request."""

import random
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fabricgen.api.draft import Draft
from fabricgen.lsp.cursor import spot_at, typed_at
from fabricgen.lsp.server import proposals
from tests.lsp.editor import Editor, with_editor

ROOT = Path(__file__).parents[2]
QUICKSTART = (ROOT / "inventories" / "quickstart" / "fabric.yaml").read_text()
TEXTS = {
    "deep": "fabricgen: 1\na: " + "[" * 100_000,
    "deep mapping": "fabricgen: 1\n" + "".join(" " * n + "a:\n" for n in range(1500)),
    "an alias in itself": "fabricgen: 1\nplanes: &a {compute: *a}\n",
    "aliases that grow": "fabricgen: 1\na: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n".replace("*a0", "*a") for n in range(1, 12)),
    "control characters": "fabricgen: 1\nfabric: \x00\x07\x1b]0;x\n",
    "half a character": "fabricgen: 1\nfabric: \ud800\n",
    "a list": "[1, 2]\nfabricgen: 1",
    "keys that are lists": "fabricgen: 1\n? [a, b]\n: {platform: x}\n",
    "a long number": "fabricgen: 1\nhosts: {gpu: {count: " + "9" * 6000 + "}}\n",
    "only a mark": "\ufeff",
    "a tag": "fabricgen: !!python/object/apply:os.system ['true']\n",
    "tabs": "fabricgen: 1\nplanes:\n\tcompute:\n\t\tspeed: \n",
}


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "inventories" / "quickstart", tmp_path / "fabric")
    return tmp_path / "fabric" / "fabric.yaml"


def test_texts_that_are_no_inventory(fabric: Path) -> None:
    """After each of them a correct text has no finding."""

    async def work(editor: Editor) -> None:
        editor.open(fabric)
        for name, text in TEXTS.items():
            editor.type(fabric, text)
            await editor.hover(fabric, text[:12])
            await editor.complete(fabric, text[: min(len(text), 25)])
            await editor.definition(fabric, text[:12])
            editor.type(fabric, QUICKSTART)
            assert await editor.diagnostics(fabric) == [], name

    with_editor(work, fabric.parent)


def test_requests_without_sense(fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        editor.open(fabric)
        await editor.diagnostics(fabric)
        client, far = editor.client, types.Position(2**31 - 1, 2**31 - 1)
        for uri in (
            fabric.as_uri(),
            "untitled:Untitled-1",
            "file:///",
            "file:///dev/zero",
            "http://x/fabric.yaml",
            "",
            "%00",
        ):
            document = types.TextDocumentIdentifier(uri)
            for request in (
                client.text_document_hover_async(types.HoverParams(document, far)),
                client.text_document_completion_async(types.CompletionParams(document, far)),
                client.text_document_definition_async(types.DefinitionParams(document, types.Position(0, 0))),
            ):
                with suppress(JsonRpcException):  # an error is an answer, too
                    await request
            item = types.TextDocumentItem(uri, "yaml", 1, "fabricgen: 1\n")
            if uri != fabric.as_uri():
                client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        shutil.rmtree(fabric.parent)  # the folder is gone while its file is open
        editor.type(fabric, QUICKSTART)
        assert await editor.hover(fabric, "design") == ""

    with_editor(work, fabric.parent.parent)


def test_messages_that_are_not_json() -> None:
    """The process answers a correct request that follows, and ends at `exit`."""

    def message(body: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    start = message(
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
    )
    wrong = [
        b"{",
        b"[]",
        b"null",
        b'{"jsonrpc":"2.0","id":2,"method":"no/such"}',
        b'{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":7}',
    ]
    end = message(b'{"jsonrpc":"2.0","id":9,"method":"shutdown"}') + message(b'{"jsonrpc":"2.0","method":"exit"}')
    done = subprocess.run(
        [sys.executable, "-m", "fabricgen", "lsp"], input=start + b"".join(map(message, wrong)) + end,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert b'"id": 9' in done.stdout or b'"id":9' in done.stdout, done.stderr.decode()
    assert b"Traceback" not in done.stdout


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "half a character"])  # the session replaces it
def test_the_cursor_in_any_text(name: str) -> None:
    text = TEXTS[name]
    for line, column in ((0, 0), (1, 3), (10**6, 0), (0, 10**6), (text.count("\n"), 2)):
        spot_at(text, line, column)
        proposals(text, line, column, Draft())


def test_the_cursor_in_changed_texts() -> None:
    """Characters are replaced at random, and the cursor is anywhere: no exception."""
    chance = random.Random(20)
    for _ in range(60):
        letters = list(QUICKSTART)
        for _ in range(chance.randrange(1, 6)):
            letters[chance.randrange(len(letters))] = chance.choice("{}[]:,#&*!|>'\"%@`\t\n -x0")
        text = "".join(letters)
        line = chance.randrange(text.count("\n") + 1)
        column = chance.randrange(len(text.split("\n")[line]) + 1)
        spot_at(text, line, column)
        typed_at(text, line, column)
        proposals(text, line, column, Draft())
