"""The protocol: requests of an editor over standard input and output, answered from the session."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec

from fabricgen import __version__
from fabricgen.api.draft import Draft
from fabricgen.api.judgement import Policy
from fabricgen.errors import FabricgenError
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.inventory.load import inventory_root
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.profiles import SHIPPED, shipped_profiles
from fabricgen.lsp.cursor import Spot, spot_at, typed_at
from fabricgen.lsp.fixes import fixes
from fabricgen.lsp.hover import hover_text
from fabricgen.lsp.names import Names, kind_at, names_at, shipped
from fabricgen.lsp.outline import OutlineEntry, Span, outline
from fabricgen.lsp.schema import keys_at, meaning_of, values_at
from fabricgen.lsp.session import EditorSession, Versions
from fabricgen.platforms.catalog import catalog_file, load_switch_platform
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

    _follow(server)

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

    quick = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, quick)
    async def fix(params: types.CodeActionParams) -> list[types.CodeAction]:
        return list(_quick_fixes(server, params))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        file = local_file(params.text_document.uri)
        text = server.session.texts.get(file, "") if file else ""
        rows = text.split("\n")
        return [_symbol(one, rows, server.codec) for one in outline(text)]

    return server


def _follow(server: Server) -> None:
    """Judge again what is opened, changed, saved or closed."""

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


def _quick_fixes(server: Server, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """The fixes of the findings that the editor names, by the hints in their messages."""
    file = local_file(params.text_document.uri)
    text = server.session.texts.get(file) if file else None
    if text is None:
        return
    rows = text.split("\n")
    for one in params.context.diagnostics:
        hint = one.message.partition(_HELP)[2]
        place = server.codec.range_from_client_units(rows, one.range)
        if one.source != _SOURCE or not hint or place.start.line != place.end.line:
            continue
        for found in fixes(hint, rows, place.start.line, place.start.character, place.end.character):
            edit = types.TextEdit(_range((found.start, found.end), rows, server.codec), found.new)
            yield types.CodeAction(
                found.title, types.CodeActionKind.QuickFix, diagnostics=[one], is_preferred=True,
                edit=types.WorkspaceEdit(changes={params.text_document.uri: [edit]}),
            )  # fmt: skip


def _symbol(one: OutlineEntry, rows: list[str], codec: PositionCodec) -> types.DocumentSymbol:
    kind = types.SymbolKind.Namespace if one.inner else types.SymbolKind.Property
    inner = [_symbol(below, rows, codec) for below in one.inner]
    whole, named = (_range(span, rows, codec) for span in (one.whole, one.named))
    return types.DocumentSymbol(one.name, kind, whole, named, detail=one.detail or None, children=inner or None)


def _range(span: Span, rows: list[str], codec: PositionCodec) -> types.Range:
    start, end = (types.Position(line, column) for line, column in span)
    return codec.range_to_client_units(rows, types.Range(start, end))


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


# Completion: the keys of a mapping, and the words that a value may be.

_IGNORE = re.compile(r"#\s*fabricgen\s*:\s*ignore\s*\[[^\]]*?(\w*)$")


@dataclass(frozen=True)
class Proposal:
    """A text that replaces the columns `start` to `end` of the line, with a description."""

    label: str
    text: str
    detail: str
    is_key: bool
    start: int
    end: int


def proposals(text: str, line: int, column: int, draft: Draft) -> list[Proposal]:
    """The words that fit at a position. `draft` has the names of the inventory."""
    lines = text.split("\n")
    row = lines[line] if line < len(lines) else ""
    comment = _IGNORE.search(row[:column])
    if comment:
        return _words(shipped("codes"), column - len(comment[1]), column)
    spot = typed_at(text, line, column)
    if spot is None:
        return []
    start, end = spot.start[1], spot.end[1]
    if spot.is_key:
        colon = "" if row[end:].lstrip().startswith(":") else ": "
        keys = [key for key in keys_at(spot.path) if key not in spot.beside]
        return [Proposal(key, key + colon, meaning_of((*spot.path, key)), True, start, end) for key in keys]
    words = {**dict.fromkeys(values_at(spot.path), ""), **names_at(spot.path, draft)}
    return _words(words, start, end)


def _words(words: Names, start: int, end: int) -> list[Proposal]:
    return [Proposal(word, word, detail, False, start, end) for word, detail in words.items()]


# Go to definition: the place of the thing that a name refers to.

_SECTIONS = {"host groups": "hosts", "profiles": "profiles", "planes": "planes", "hosts": "host_models"}
_MODELS = {"platforms": "switches", "hosts": "hosts", "nics": "nics"}


def definition(spot: Spot, draft: Draft, root: Path) -> Location | None:
    """The place that defines the name at a position: in the inventory, else in the catalog. `root` is its folder."""
    tree = draft.tree
    if spot.is_key or tree is None:
        return None
    if spot.path[:1] in (("platforms",), ("sonic",)) or spot.path[2:4] == ("infiniband", "discovered"):
        file = root / spot.text
        return Location(str(file), 1, 1) if file.is_file() else None
    kind = "host groups" if spot.path[2:4] == ("infiniband", "managers") else kind_at(spot.path)
    name = spot.text.partition("/")[0] if kind == "host groups" else spot.text
    own = tree.part(_SECTIONS[kind]).keys.get(name) if kind in _SECTIONS else None
    if own:
        return Location(str(root / own.file), own.line, own.column)
    if kind == "profiles" and (profile := shipped_profiles().get(name)):
        return Location(str(SHIPPED), profile.location.line, 1)
    if kind == "platforms" and (file_of_site := _platform_file(tree, name, root)):
        return Location(str(file_of_site), 1, 1)
    found = catalog_file(_MODELS[kind], name.lower() if kind == "nics" else name) if kind in _MODELS else None
    return Location(str(found), 1, 1) if found else None


def _platform_file(tree: Node, name: str, root: Path) -> Path | None:
    """The file of `platforms:` with a switch model."""
    for text in tree.texts("platforms"):
        try:
            if load_switch_platform(root / text).name == name:
                return root / text
        except FabricgenError:
            continue
    return None


# Findings as diagnostics of the protocol, by file.

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\[\]{}]+')
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[\[\]{}]')
_SOURCE, _HELP = "fabricgen", "\nhelp: "

Lines = Callable[[Path], Sequence[str]]  # the lines of a file in the editor


def diagnostics_of(
    draft: Draft, inventory: Path, lines: Lines, codec: PositionCodec
) -> dict[Path, list[types.Diagnostic]]:
    """File -> its diagnostics. A finding without a place is at the beginning of the inventory's first file."""
    found: dict[Path, list[types.Diagnostic]] = {}
    if draft.problem:
        place = draft.problem.location or Location(str(inventory))
        error = types.DiagnosticSeverity.Error
        one = types.Diagnostic(range_of(place, lines, codec), draft.problem.problem, error, source=_SOURCE)
        found[Path(place.file)] = [one]
    causes = {one.fingerprint: one for one in draft.findings}
    for finding in draft.findings:
        finding = replace(finding, related=(*finding.related, *_causes(finding, causes)))
        place = finding.location or Location(str(inventory))
        found.setdefault(Path(place.file), []).append(_diagnostic(finding, place, lines, codec))
    return found


def _causes(finding: Finding, known: Mapping[str, Finding]) -> Iterator[Related]:
    """The findings that explain this one, as related places."""
    for cause in (known[fingerprint] for fingerprint in finding.caused_by if fingerprint in known):
        if cause.location:
            yield Related(f"caused by {cause.code}: {cause.message}", cause.location)


def _diagnostic(finding: Finding, place: Location, lines: Lines, codec: PositionCodec) -> types.Diagnostic:
    url = page(finding.code).url(__version__)
    return types.Diagnostic(
        range=range_of(place, lines, codec),
        message=f"{finding.message}{_HELP}{finding.hint}" if finding.hint else finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url) if url else None,
        source=_SOURCE,
        related_information=[
            types.DiagnosticRelatedInformation(location_of(one.location, lines, codec), one.message)
            for one in finding.related
        ],
    )


def location_of(place: Location, lines: Lines, codec: PositionCodec) -> types.Location:
    """A place of fabricgen, in the units of the client."""
    return types.Location(Path(place.file).absolute().as_uri(), range_of(place, lines, codec))


def range_of(place: Location, lines: Lines, codec: PositionCodec) -> types.Range:
    """The word at a place, or the whole list or mapping in brackets. A place outside the file, or a whole file, is the
    beginning of the file."""
    rows = lines(Path(place.file))
    if not 1 <= place.line <= len(rows):
        return types.Range(types.Position(0, 0), types.Position(0, 0))
    row, start = rows[place.line - 1], max(place.column - 1, 0)
    token = _TOKEN.match(row, start)
    end = start + len(token[0].rstrip(":")) if token else _end_of_brackets(row, start)
    both = (types.Position(place.line - 1, column) for column in (start, end))
    return codec.range_to_client_units(list(rows), types.Range(*both))


def _end_of_brackets(row: str, start: int) -> int:
    """The column behind the bracket that closes the one at `start`, or behind the text of the line."""
    depth = 0
    for found in _BRACKET.finditer(row, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return max(len(row.rstrip()), start + 1)


def by_uri(found: Mapping[Path, list[types.Diagnostic]]) -> dict[str, list[types.Diagnostic]]:
    """The same with the addresses of the files."""
    return {file.absolute().as_uri(): listed for file, listed in found.items()}
