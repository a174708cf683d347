"""An editor: a client that starts `fencepost lsp`, talks to it over its streams, and keeps what it says."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

import fencepost

URI = "file:///somewhere/program.tpl"
_START = (
    "import sys; from fencepost.cli.main import main; "
    "sys.argv = ['fencepost', 'lsp', '--timeout', '20']; main()"
)
_PATIENCE = 60


class Editor:
    """One open document."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[lsp.ShowMessageParams] = []
        self.version = 0

    async def open(self, text: str) -> list[lsp.Diagnostic]:
        document = lsp.TextDocumentItem(URI, "tpl", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        return await self.diagnostics()

    async def change(self, text: str) -> list[lsp.Diagnostic]:
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, URI)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        return await self.diagnostics()

    async def close(self) -> list[lsp.Diagnostic]:
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(URI)))
        return await self.diagnostics()

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        """The next ones that are published."""
        params = await asyncio.wait_for(self.published.get(), _PATIENCE)
        assert params.uri == URI
        return list(params.diagnostics)

    async def hover(self, line: int, character: int) -> lsp.Hover | None:
        at = lsp.HoverParams(lsp.TextDocumentIdentifier(URI), lsp.Position(line, character))
        return await self.client.text_document_hover_async(at)

    async def definition(self, line: int, character: int) -> Any:
        at = lsp.DefinitionParams(lsp.TextDocumentIdentifier(URI), lsp.Position(line, character))
        return await self.client.text_document_definition_async(at)

    async def lenses(self) -> list[lsp.CodeLens]:
        params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(URI))
        return list(await self.client.text_document_code_lens_async(params) or [])

    async def execute(self, command: lsp.Command) -> Any:
        params = lsp.ExecuteCommandParams(command.command, command.arguments)
        return await asyncio.wait_for(self.client.workspace_execute_command_async(params), _PATIENCE)


@asynccontextmanager
async def editor() -> AsyncIterator[Editor]:
    client = LanguageClient("test", "1")
    session = Editor(client)

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: lsp.PublishDiagnosticsParams) -> None:
        session.published.put_nowait(params)

    @client.feature(lsp.WINDOW_SHOW_MESSAGE)
    def shown(params: lsp.ShowMessageParams) -> None:
        session.messages.append(params)

    source = str(Path(fencepost.__file__).parents[1])
    await client.start_io(sys.executable, "-c", _START, env={**os.environ, "PYTHONPATH": source})
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    try:
        yield session
        await client.shutdown_async(None)
    finally:
        client.exit(None)
        await client.stop()


def with_editor(test: Callable[[Editor], Awaitable[None]]) -> Callable[[], None]:
    """Makes a test of a coroutine that uses an editor."""

    async def run() -> None:
        async with editor() as session:
            await test(session)

    def test_in_session() -> None:
        asyncio.run(run())

    test_in_session.__doc__ = test.__doc__
    return test_in_session
