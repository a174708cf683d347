"""The language server: what an editor asks, and what fencepost answers.

Mistakes are reported as the text changes. A code lens above the first thread asks whether the program is
robust; the search runs beside the editor's other questions, ends when the text changes, and its findings are
reported like mistakes until then.
"""

from __future__ import annotations

import asyncio
from threading import Event
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import ServerTextPosition

from fencepost import __version__
from fencepost.analyses.robustness import robust
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats.text.source import normal_lines
from fencepost.formats.tpl import read
from fencepost.lsp.hover import meaning
from fencepost.lsp.problems import Place, Problem, found, mistakes
from fencepost.lsp.symbols import Symbols, Word
from fencepost.memory_models import EXIT_HOLDS, ROBUSTNESS_MODELS
from fencepost.report.story import headline, undecided

CHECK = "fencepost.checkRobustness"

_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


class Server(LanguageServer):
    """A server for TPL; a search ends when `seconds` are over."""

    def __init__(self, seconds: float) -> None:
        super().__init__("fencepost", f"v{__version__}")
        self.limits = Limits(seconds=seconds)
        self._searches: dict[str, Event] = {}

    def lines(self, uri: str) -> list[str]:
        return normal_lines(self.workspace.get_text_document(uri).source or "").split("\n")

    def pointed_at(self, uri: str, position: lsp.Position) -> tuple[list[str], Symbols, Word | None]:
        """The text, the names in it, and the word at a position of the editor."""
        lines = self.lines(uri)
        symbols = Symbols("\n".join(lines))
        here = self.workspace.position_codec.position_from_client_units(lines, position)
        return lines, symbols, symbols.word_at(here.line + 1, here.character + 1)

    def range_of(self, lines: list[str], place: Place) -> lsp.Range:
        """The place as the editor counts."""
        codec = self.workspace.position_codec
        start, end = (
            codec.position_to_client_units(lines, ServerTextPosition(place.line - 1, column - 1))
            for column in (place.column, place.end)
        )
        return lsp.Range(start, end)

    def text_changed(self, uri: str) -> None:
        """What was found in the old text is no longer true; look for mistakes in the new one."""
        self.end_search(uri)
        lines = self.lines(uri)
        self.publish(uri, lines, mistakes(lines))

    def publish(self, uri: str, lines: list[str], problems: list[Problem]) -> None:
        diagnostics = [self._diagnostic(uri, lines, problem) for problem in problems]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))

    def _diagnostic(self, uri: str, lines: list[str], problem: Problem) -> lsp.Diagnostic:
        return lsp.Diagnostic(
            range=self.range_of(lines, problem.place),
            message=problem.message,
            severity=_SEVERITIES[problem.severity],
            code=problem.code,
            source="fencepost",
            related_information=[
                lsp.DiagnosticRelatedInformation(lsp.Location(uri, self.range_of(lines, place)), words)
                for place, words in problem.related
            ],
        )

    def end_search(self, uri: str) -> None:
        search = self._searches.pop(uri, None)
        if search is not None:
            search.set()

    async def check(self, uri: str, model: str | None) -> str:
        """Asks whether the program is robust; gives the verdict and reports the findings."""
        self.end_search(uri)
        stop = self._searches[uri] = Event()
        lines = self.lines(uri)
        try:
            program = read("\n".join(lines), unquote(uri.rpartition("/")[2]))
        except InputError as error:
            return self._refused(error)
        try:
            answer = await asyncio.to_thread(
                robust, program, model, limits=self.limits, watcher=lambda progress: stop.is_set()
            )
        except InputError as error:
            return self._refused(error)
        if stop.is_set():
            return "the text has changed"
        self.publish(uri, lines, [*mistakes(lines), *found(lines, answer)])
        why = f". {undecided(answer)}" if answer.holds is None else ""
        kind = lsp.MessageType.Info if answer.exit_code == EXIT_HOLDS else lsp.MessageType.Warning
        return self.say(f"{program.file}: {headline(answer)} under {answer.model}{why}", kind)

    def _refused(self, error: InputError) -> str:
        at = f" (line {error.line})" if error.line else ""
        return self.say(f"{error.message}{at}", lsp.MessageType.Error)

    def say(self, message: str, kind: lsp.MessageType) -> str:
        self.window_show_message(lsp.ShowMessageParams(kind, message))
        return message


def make_server(seconds: float) -> Server:
    """A server with all that it can do."""
    server = Server(seconds)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.text_changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.text_changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.end_search(uri)
        server.publish(uri, [], [])

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        lines, symbols, word = server.pointed_at(params.text_document.uri, params.position)
        if word is None:
            return None
        symbol = symbols.definition(word)
        said = meaning(word.text, symbol, lines[symbol.word.line - 1] if symbol else "")
        if said is None:
            return None
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, said)
        return lsp.Hover(content, server.range_of(lines, _place(word)))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        lines, symbols, word = server.pointed_at(params.text_document.uri, params.position)
        symbol = symbols.definition(word) if word is not None else None
        if symbol is None:
            return None
        return lsp.Location(params.text_document.uri, server.range_of(lines, _place(symbol.word)))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        lines = server.lines(uri)
        threads = Symbols("\n".join(lines)).functions()
        if not threads:
            return []
        place = server.range_of(lines, Place(threads[0].line, 1, 1))
        return [
            lsp.CodeLens(place, lsp.Command(f"check robustness ({model})", CHECK, arguments=[uri, model]))
            for model in ROBUSTNESS_MODELS
        ]

    @server.command(CHECK)
    async def check(uri: str, model: str | None = None) -> str:
        if model not in (None, *ROBUSTNESS_MODELS):
            return server.say(f"there is no model `{model}`", lsp.MessageType.Error)
        return await server.check(uri, model)

    return server


def _place(word: Word) -> Place:
    return Place(word.line, word.column, word.column + len(word.text))
