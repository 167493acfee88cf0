"""An editor for tests: a real client of the Language Server Protocol, which starts `fabricgen lsp` as a program."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

TIMEOUT_S = 60


class Editor:
    """One connection. Positions are given by a text in the file: the place behind it, or `shift` characters later."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.arrived = asyncio.Condition()
        self.texts: dict[Path, str] = {}
        self.versions: dict[Path, int] = {}

    def open(self, file: Path, text: str | None = None) -> None:
        self.texts[file] = file.read_text() if text is None else text
        self.versions[file] = 1
        document = types.TextDocumentItem(file.as_uri(), "yaml", 1, self.texts[file])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    def type(self, file: Path, text: str) -> None:
        """Replace the whole text, as an editor that has no incremental changes."""
        self.texts[file] = text
        self.versions[file] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[file], file.as_uri())
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [whole]))

    def insert(self, file: Path, behind: str, text: str) -> None:
        """Insert a text, as an incremental change."""
        at = self.position(file, behind)
        before = self.texts[file]
        index = before.index(behind) + len(behind)
        self.texts[file] = before[:index] + text + before[index:]
        self.versions[file] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[file], file.as_uri())
        change = types.TextDocumentContentChangePartial(types.Range(at, at), text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    async def diagnostics(self, file: Path) -> list[types.Diagnostic]:
        """Those of the newest text of a file."""
        uri = file.as_uri()

        def newest() -> bool:
            found = self.published.get(uri)
            return bool(found) and found[-1].version in (None, self.versions.get(file))

        async with self.arrived:
            await asyncio.wait_for(self.arrived.wait_for(newest), TIMEOUT_S)
        return list(self.published[uri][-1].diagnostics)

    async def until(self, file: Path, codes: list[str]) -> None:
        """Wait until the diagnostics of a file have these codes: another file of its inventory was edited."""

        def arrived() -> bool:
            found = self.published.get(file.as_uri())
            return bool(found) and [one.code for one in found[-1].diagnostics] == codes

        async with self.arrived:
            await asyncio.wait_for(self.arrived.wait_for(arrived), TIMEOUT_S)

    def position(self, file: Path, behind: str, shift: int = 0) -> types.Position:
        text = self.texts[file]
        before = text[: text.index(behind) + len(behind) + shift]
        return types.Position(before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)

    async def hover(self, file: Path, behind: str, shift: int = 0) -> str:
        where = types.HoverParams(types.TextDocumentIdentifier(file.as_uri()), self.position(file, behind, shift))
        found = await self.client.text_document_hover_async(where)
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return found.contents.value if found else ""

    async def complete(self, file: Path, behind: str, shift: int = 0) -> list[types.CompletionItem]:
        where = types.CompletionParams(types.TextDocumentIdentifier(file.as_uri()), self.position(file, behind, shift))
        found = await self.client.text_document_completion_async(where)
        assert isinstance(found, types.CompletionList)
        return list(found.items)

    async def fixes(self, file: Path) -> list[types.CodeAction]:
        """The quick fixes of all findings of a file."""
        found = await self.diagnostics(file)
        whole = types.Range(types.Position(0, 0), types.Position(len(self.texts[file].split("\n")), 0))
        asked = types.CodeActionParams(
            types.TextDocumentIdentifier(file.as_uri()), whole, types.CodeActionContext(found)
        )
        actions = await self.client.text_document_code_action_async(asked)
        return [one for one in actions or () if isinstance(one, types.CodeAction)]

    def fixed(self, file: Path, action: types.CodeAction) -> str:
        """The text with an action applied, as an editor does it."""
        assert action.edit and action.edit.changes
        (edit,) = action.edit.changes[file.as_uri()]
        assert isinstance(edit, types.TextEdit)
        rows = self.texts[file].split("\n")
        first, last = edit.range.start, edit.range.end
        head = rows[first.line].encode("utf-16-le")[: first.character * 2].decode("utf-16-le")
        tail = rows[last.line].encode("utf-16-le")[last.character * 2 :].decode("utf-16-le")
        return "\n".join([*rows[: first.line], head + edit.new_text + tail, *rows[last.line + 1 :]])

    async def symbols(self, file: Path) -> list[types.DocumentSymbol]:
        where = types.DocumentSymbolParams(types.TextDocumentIdentifier(file.as_uri()))
        found = await self.client.text_document_document_symbol_async(where)
        return [one for one in found or () if isinstance(one, types.DocumentSymbol)]

    async def definition(self, file: Path, behind: str, shift: int = 0) -> tuple[str, int, int] | None:
        """(path, line, column) from 0."""
        where = types.DefinitionParams(types.TextDocumentIdentifier(file.as_uri()), self.position(file, behind, shift))
        found = await self.client.text_document_definition_async(where)
        assert found is None or isinstance(found, types.Location)
        return (
            (found.uri.removeprefix("file://"), found.range.start.line, found.range.start.character) if found else None
        )


Work = Callable[[Editor], Awaitable[Any]]


@contextmanager
def server(folder: Path) -> Iterator[Callable[[Work], Any]]:
    """Start the server in a folder, do the works of several editors, one after the other, and end the server as an
    editor does: its exit code is 0."""
    client = LanguageClient("tests", "1")
    editor = Editor(client)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    async def arrived(params: types.PublishDiagnosticsParams) -> None:
        editor.published.setdefault(params.uri, []).append(params)
        async with editor.arrived:
            editor.arrived.notify_all()

    async def started() -> None:
        await client.start_io(sys.executable, "-m", "fabricgen", "lsp")
        await client.initialize_async(
            types.InitializeParams(types.ClientCapabilities(), root_uri=folder.as_uri(), process_id=None)
        )
        client.initialized(types.InitializedParams())

    async def worked(work: Work) -> Any:
        nonlocal editor
        editor = Editor(client)
        return await work(editor)

    async def ended() -> None:
        process = client._server
        await client.shutdown_async(None)
        client.exit(None)
        assert process is not None
        assert await asyncio.wait_for(process.wait(), TIMEOUT_S) == 0
        await client.stop()

    with asyncio.Runner() as runner:
        runner.run(started())
        try:
            yield lambda work: runner.run(worked(work))
        finally:
            runner.run(ended())


def with_editor(work: Work, folder: Path) -> Any:
    """One work with a server in the folder."""
    with server(folder) as edited:
        return edited(work)
