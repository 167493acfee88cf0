"""The protocol: requests of an editor over standard input and output, answered from the session."""

import re
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec

from fabricgen import __version__
from fabricgen.api.draft import Draft
from fabricgen.api.judgement import Policy
from fabricgen.inventory.load import inventory_root
from fabricgen.lsp.completion import proposals
from fabricgen.lsp.cursor import spot_at
from fabricgen.lsp.definition import definition
from fabricgen.lsp.diagnostics import by_uri, diagnostics_of, location_of
from fabricgen.lsp.hover import hover_text
from fabricgen.lsp.session import EditorSession, Versions
from fabricgen.report.pages import page

_CODE = re.compile(r"\bFG\d{3}\b")
Positioned = types.CompletionParams | types.HoverParams | types.DefinitionParams
_TRIGGERS = [" ", "{", "[", ","]


class Server(LanguageServer):
    """The language server of inventories."""

    def __init__(self, policy: Policy) -> None:
        super().__init__("fabricgen", __version__)
        self.session = EditorSession(policy, self._publish)
        self._published: dict[Path, set[str]] = {}

    @property
    def codec(self) -> PositionCodec:
        """Conversion between characters and the units of the client."""
        return self.workspace.position_codec

    def open_text(self, uri: str) -> None:
        """Judge the inventory of a document that was opened or changed."""
        document = self.workspace.text_documents.get(uri)  # without reading files: it is an open document
        if document and (file := local_file(uri)):
            self.session.changed(file, document.source, document.version)

    def place(self, params: Positioned) -> tuple[Path, str, int, int] | None:
        """(file, text, line, column in characters) of a request; None for a file that is not open."""
        file = local_file(params.text_document.uri)
        text = self.session.texts.get(file) if file else None
        if file is None or text is None:
            return None
        rows = text.split("\n")
        place = self.codec.position_from_client_units(rows, params.position)
        return file, text, place.line, place.character

    def _publish(self, inventory: Path, draft: Draft, versions: Versions) -> None:
        found = by_uri(diagnostics_of(draft, inventory, self.session.lines, self.codec))
        numbers = {file.as_uri(): number for file, number in versions.items()}
        for uri in self._published.get(inventory, set()) | found.keys() | self._open_below(inventory):
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, found.get(uri, []), numbers.get(uri))
            )
        self._published[inventory] = set(found)

    def _open_below(self, inventory: Path) -> set[str]:
        root = inventory_root(inventory)
        return {file.as_uri() for file in self.session.texts if file == inventory or file.parent == root == inventory}


def local_file(uri: str) -> Path | None:
    """The resolved path of a file on this machine."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path).resolve() if path and "\0" not in path else None


def make_server(policy: Policy) -> Server:
    """A server with all features, ready to start."""
    server = Server(policy)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.open_text(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.open_text(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.open_text(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        if file := local_file(params.text_document.uri):
            server.session.changed(file, None)

    @server.feature(types.SHUTDOWN)
    async def shutdown(_: None) -> None:
        server.session.close()

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS))
    async def complete(params: types.CompletionParams) -> types.CompletionList:
        return types.CompletionList(is_incomplete=False, items=_completion(server, params))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        text = _hover(server, params)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def define(params: types.DefinitionParams) -> types.Location | None:
        place, known = server.place(params), None
        if place:
            known = server.session.draft_of(place[0])
        spot = spot_at(*place[1:]) if place and known else None
        found = definition(spot, known[1], inventory_root(known[0])) if spot and known else None
        return location_of(found, server.session.lines, server.codec) if found else None

    return server


def _completion(server: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    place = server.place(params)
    known = server.session.draft_of(place[0]) if place else None
    if place is None or known is None:
        return []
    _, text, line, column = place
    items = []
    for number, one in enumerate(proposals(text, line, column, known[1])):
        both = (types.Position(line, each) for each in (one.start, one.end))
        edit = types.TextEdit(server.codec.range_to_client_units(text.split("\n"), types.Range(*both)), one.text)
        kind = types.CompletionItemKind.Property if one.is_key else types.CompletionItemKind.Value
        items.append(
            types.CompletionItem(
                one.label, kind=kind, detail=one.detail or None, text_edit=edit, sort_text=f"{number:04}"
            )
        )
    return items


def _hover(server: Server, params: types.HoverParams) -> str:
    place = server.place(params)
    known = server.session.draft_of(place[0]) if place else None
    if place is None or known is None:
        return ""
    file, text, line, column = place
    spot = spot_at(text, line, column)
    if spot:
        return hover_text(spot, known[1], file.name)
    rows = text.split("\n")
    codes = _CODE.finditer(rows[line]) if line < len(rows) else ()
    code = next((found[0] for found in codes if found.start() <= column <= found.end()), None)
    return f"**{code}: {page(code).title}**\n\n{page(code).markdown}" if code else ""
