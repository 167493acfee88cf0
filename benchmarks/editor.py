"""How fast the language server answers an edit: from the change to the diagnostics, in a real client.

    python -m benchmarks.editor

The fabric has 512 switches and a committed lock file. Each edit changes the speed of the fabric to a wrong word and
back.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks import make_inventory

EDITS = 20
TIMEOUT_S = 60


class Response(NamedTuple):
    """One edit: seconds until the diagnostics arrive, CPU seconds of the server, and the codes of the diagnostics."""

    wall_s: float
    cpu_s: float
    codes: Sequence[object]


def measure(switches: int, edits: int) -> list[Response]:
    """The responses to edits of a fabric, which are correct and wrong in turn."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fabric" / "fabric.yaml"
        make_inventory.main(["--switches", str(switches), str(file.parent)])
        fabricgen = [sys.executable, "-m", "fabricgen"]
        subprocess.run([*fabricgen, "-q", "render", file.parent, "--output", f"{folder}/build"], check=True, stdout=-3)
        return asyncio.run(_edits(file, edits))


async def _edits(file: Path, edits: int) -> list[Response]:
    client = LanguageClient("benchmark", "1")
    arrived: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def published(params: types.PublishDiagnosticsParams) -> None:
        if params.uri == file.as_uri():
            arrived.put_nowait(params)

    await client.start_io(sys.executable, "-m", "fabricgen", "lsp")
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    text = file.read_text()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(file.as_uri(), "yaml", 0, text))
    )
    await asyncio.wait_for(arrived.get(), TIMEOUT_S)
    process = client._server
    assert process is not None
    responses = []
    for version in range(1, edits + 1):
        await asyncio.sleep(0.3)  # a person types slower, and the server is idle between two edits
        edited = text.replace("speed: 400G", "speed: 400X") if version % 2 else text
        wall, cpu = time.perf_counter(), _cpu_s(process.pid)
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, file.as_uri()),
                [types.TextDocumentContentChangeWholeDocument(edited)],
            )
        )
        found = await asyncio.wait_for(arrived.get(), TIMEOUT_S)
        codes = [one.code for one in found.diagnostics]
        responses.append(Response(time.perf_counter() - wall, _cpu_s(process.pid) - cpu, codes))
    await client.shutdown_async(None)
    client.exit(None)
    await process.wait()
    await client.stop()  # type: ignore[no-untyped-call]
    return responses


def _cpu_s(pid: int) -> float:
    """The CPU seconds of a process, from Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    found = measure(512, EDITS)
    for name, values in (("wall", [one.wall_s for one in found]), ("CPU", [one.cpu_s for one in found])):
        print(f"{name:4}  median {statistics.median(values) * 1e3:.0f} ms, most {max(values) * 1e3:.0f} ms")
