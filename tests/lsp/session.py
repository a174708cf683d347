"""An editor: a client that starts `fencepost lsp`, talks to it over its streams, and keeps what it says."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
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
        self.uri = URI

    async def open(self, text: str) -> list[lsp.Diagnostic]:
        document = lsp.TextDocumentItem(self.uri, "tpl", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        return await self.diagnostics()

    async def change(self, text: str) -> list[lsp.Diagnostic]:
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        return await self.diagnostics()

    async def close(self) -> list[lsp.Diagnostic]:
        self.client.text_document_did_close(
            lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(self.uri))
        )
        return await self.diagnostics()

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        """The next ones that are published."""
        params = await asyncio.wait_for(self.published.get(), _PATIENCE)
        assert params.uri == self.uri
        return list(params.diagnostics)

    async def hover(self, line: int, character: int) -> lsp.Hover | None:
        at = lsp.HoverParams(lsp.TextDocumentIdentifier(self.uri), lsp.Position(line, character))
        return await self.client.text_document_hover_async(at)

    async def definition(self, line: int, character: int) -> Any:
        at = lsp.DefinitionParams(lsp.TextDocumentIdentifier(self.uri), lsp.Position(line, character))
        return await self.client.text_document_definition_async(at)

    async def clear(self) -> None:
        """Close the document and forget what was said about it."""
        self.client.text_document_did_close(
            lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(self.uri))
        )
        last = lsp.Command("", "fencepost.report", arguments=[self.uri, "none"])
        await self.execute(last)  # is answered after everything else was said
        self.published, self.messages, self.uri = asyncio.Queue(), [], URI

    async def complete(self, line: int, character: int) -> list[str]:
        at = lsp.CompletionParams(lsp.TextDocumentIdentifier(self.uri), lsp.Position(line, character))
        items = await self.client.text_document_completion_async(at)
        return [item.label for item in items] if isinstance(items, list) else []

    async def signature(self, line: int, character: int) -> lsp.SignatureHelp | None:
        at = lsp.SignatureHelpParams(lsp.TextDocumentIdentifier(self.uri), lsp.Position(line, character))
        return await self.client.text_document_signature_help_async(at)

    async def colours(self) -> list[int]:
        params = lsp.SemanticTokensParams(lsp.TextDocumentIdentifier(self.uri))
        tokens = await self.client.text_document_semantic_tokens_full_async(params)
        return list(tokens.data) if tokens is not None else []

    async def outline(self) -> list[lsp.DocumentSymbol]:
        params = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(self.uri))
        return [
            symbol
            for symbol in await self.client.text_document_document_symbol_async(params) or []
            if isinstance(symbol, lsp.DocumentSymbol)
        ]

    async def actions(self, diagnostic: lsp.Diagnostic) -> list[lsp.CodeAction]:
        context = lsp.CodeActionContext([diagnostic])
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(self.uri), diagnostic.range, context)
        actions = await asyncio.wait_for(self.client.text_document_code_action_async(params), _PATIENCE)
        return [action for action in actions or [] if isinstance(action, lsp.CodeAction)]

    async def resolve(self, action: lsp.CodeAction) -> lsp.CodeAction:
        return await asyncio.wait_for(self.client.code_action_resolve_async(action), _PATIENCE)

    async def lenses(self) -> list[lsp.CodeLens]:
        params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(self.uri))
        return list(await self.client.text_document_code_lens_async(params) or [])

    async def execute(self, command: lsp.Command) -> Any:
        params = lsp.ExecuteCommandParams(command.command, command.arguments)
        return await asyncio.wait_for(self.client.workspace_execute_command_async(params), _PATIENCE)


def edited(text: str, action: lsp.CodeAction) -> str:
    """The text with the action's edits made; ASCII, so that columns are columns."""
    assert action.edit is not None
    assert action.edit.changes is not None
    lines = text.split("\n")
    for edit in sorted(action.edit.changes[URI], key=lambda edit: edit.range.start.line, reverse=True):
        start, end = edit.range.start, edit.range.end
        lines.append("")  # the place behind the last line
        new = lines[start.line][: start.character] + edit.new_text + lines[end.line][end.character :]
        lines[start.line : end.line + 1] = new.split("\n")
        lines.pop()
    return "\n".join(lines)


# What an editor can do that has more than the least.
CAPABLE = lsp.ClientCapabilities(
    text_document=lsp.TextDocumentClientCapabilities(
        code_action=lsp.CodeActionClientCapabilities(
            resolve_support=lsp.ClientCodeActionResolveOptions(properties=["edit"])
        )
    )
)
BARE = lsp.ClientCapabilities()


class Editors:
    """Editors by what they can do: each is started once, and serves the tests one after the other."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._started: dict[str, Editor] = {}

    def run(
        self, test: Callable[[Editor], Awaitable[None]], capabilities: lsp.ClientCapabilities, options: Any
    ) -> None:
        self._runner.run(self._run(test, capabilities, options))

    async def _run(
        self, test: Callable[[Editor], Awaitable[None]], capabilities: lsp.ClientCapabilities, options: Any
    ) -> None:
        key = repr((capabilities, options))
        if key not in self._started:
            self._started[key] = await _started(capabilities, options)
        session = self._started[key]
        try:
            await test(session)
        finally:
            await session.clear()

    def end(self) -> None:
        self._runner.run(self._end())
        self._runner.close()

    async def _end(self) -> None:
        for session in self._started.values():
            await session.client.shutdown_async(None)
            session.client.exit(None)
            await session.client.stop()


async def _started(capabilities: lsp.ClientCapabilities, options: Any) -> Editor:
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
    start = lsp.InitializeParams(capabilities=capabilities, initialization_options=options)
    await client.initialize_async(start)
    client.initialized(lsp.InitializedParams())
    return session


def with_editor(
    capabilities: lsp.ClientCapabilities = BARE, options: Any = None
) -> Callable[[Callable[[Editor], Awaitable[None]]], Callable[[Editors], None]]:
    """Makes a test of a coroutine that uses an editor."""

    def made(test: Callable[[Editor], Awaitable[None]]) -> Callable[[Editors], None]:
        def test_in_session(editors: Editors) -> None:
            editors.run(test, capabilities, options)

        test_in_session.__doc__ = test.__doc__
        return test_in_session

    return made
