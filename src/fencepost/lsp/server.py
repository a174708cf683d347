"""The language server: what an editor asks, and what fencepost answers.

Mistakes are reported as the text changes. A code lens above the first thread asks whether the program is
robust; the search runs beside the editor's other questions, ends when the text changes, and its findings are
reported like mistakes until then. For a finding there is the repair that `fix` finds, made when the editor
asks for it. All else is about the words of the text: completion, signatures, meanings, declarations, colours,
outline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from threading import Event
from typing import NamedTuple

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import ServerTextPosition

from fencepost import __version__
from fencepost.analyses.repair.fix import fix
from fencepost.analyses.robustness import robust
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats.text.source import normal_lines
from fencepost.lsp.calls import open_call
from fencepost.lsp.completion import Completion, What, completions
from fencepost.lsp.hover import meaning
from fencepost.lsp.languages import Language, file_of, language_of
from fencepost.lsp.outline import Entry, outline
from fencepost.lsp.problems import Place, Problem, found, meant, mistakes
from fencepost.lsp.repairs import line_edits
from fencepost.lsp.symbols import Symbols, Word
from fencepost.lsp.tokens import KINDS, MODIFIERS, coloured
from fencepost.memory_models import EXIT_HOLDS, ROBUSTNESS_MODELS
from fencepost.program import Program
from fencepost.report.html.page import page
from fencepost.report.story import headline, undecided
from fencepost.verdicts import Answer
from fencepost.verdicts.repair import FixAnswer

CHECK = "fencepost.checkRobustness"
REPORT = "fencepost.report"
# What the lens "show the run" calls: a command of editors that have said they have it.
SHOW_REPORT = "fencepost.showReport"

_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
_COMPLETIONS: dict[What, lsp.CompletionItemKind] = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "call": lsp.CompletionItemKind.Function,
    "access": lsp.CompletionItemKind.Method,
    "order": lsp.CompletionItemKind.EnumMember,
    "location": lsp.CompletionItemKind.Field,
    "local": lsp.CompletionItemKind.Variable,
    "label": lsp.CompletionItemKind.Reference,
    "thread": lsp.CompletionItemKind.Function,
}
_SYMBOLS = {
    "location": lsp.SymbolKind.Field,
    "non-atomic location": lsp.SymbolKind.Field,
    "local": lsp.SymbolKind.Variable,
    "label": lsp.SymbolKind.Key,
    "thread": lsp.SymbolKind.Function,
    "condition": lsp.SymbolKind.Boolean,
}
# The findings that changes of memory orders and fences can repair.
_REPAIRABLE = ("not-robust", "triangular-race", "race")


class Checked(NamedTuple):
    """The program that was asked about last, and the answer."""

    program: Program
    answer: Answer


class Document(NamedTuple):
    """A text at one moment."""

    language: Language
    lines: list[str]
    symbols: Symbols


class Server(LanguageServer):
    """A server for TPL and C litmus tests; a search ends when `seconds` are over."""

    def __init__(self, seconds: float) -> None:
        super().__init__("fencepost", f"v{__version__}")
        self.limits = Limits(seconds=seconds)
        self.shows_reports = False
        self._searches: dict[str, Event] = {}
        self._checked: dict[str, Checked] = {}

    def lines(self, uri: str) -> list[str]:
        return normal_lines(self.workspace.get_text_document(uri).source or "").split("\n")

    def document(self, uri: str) -> Document:
        language, lines = language_of(uri), self.lines(uri)
        return Document(language, lines, language.symbols("\n".join(lines)))

    def place_of(self, lines: list[str], position: lsp.Position) -> tuple[int, int]:
        """Line and column of a position of the editor, counted from 1."""
        here = self.workspace.position_codec.position_from_client_units(lines, position)
        return here.line + 1, here.character + 1

    def position_of(self, lines: list[str], line: int, column: int) -> lsp.Position:
        """The place as the editor counts."""
        at = ServerTextPosition(line - 1, column - 1)
        return self.workspace.position_codec.position_to_client_units(lines, at)

    def range_of(self, lines: list[str], place: Place) -> lsp.Range:
        start, end = (self.position_of(lines, place.line, column) for column in (place.column, place.end))
        return lsp.Range(start, end)

    def text_changed(self, uri: str) -> None:
        """What was found in the old text is no longer true; look for mistakes in the new one."""
        self.forget(uri)
        lines = self.lines(uri)
        self.publish(uri, lines, mistakes(lines, language_of(uri)))

    def forget(self, uri: str) -> None:
        """End the search in the text, and drop what was found."""
        self._checked.pop(uri, None)
        search = self._searches.pop(uri, None)
        if search is not None:
            search.set()

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

    async def check(self, uri: str, model: str | None) -> str:
        """Asks whether the program is robust; gives the verdict and reports the findings."""
        self.forget(uri)
        stop = self._searches[uri] = Event()
        lines, language = self.lines(uri), language_of(uri)
        try:
            program = language.read("\n".join(lines), file_of(uri))
            answer = await asyncio.to_thread(
                robust, program, model, limits=self.limits, watcher=lambda progress: stop.is_set()
            )
        except InputError as error:
            return self._refused(error)
        if stop.is_set():
            return "the text has changed"
        self._checked[uri] = Checked(program, answer)
        self.publish(uri, lines, [*mistakes(lines, language), *found(lines, answer)])
        if self.shows_reports and _refreshes_lenses(self.client_capabilities):
            self.workspace_code_lens_refresh(None)
        why = f". {undecided(answer)}" if answer.holds is None else ""
        kind = lsp.MessageType.Info if answer.exit_code == EXIT_HOLDS else lsp.MessageType.Warning
        return self.say(f"{program.file}: {headline(answer)} under {answer.model}{why}", kind)

    async def report(self, uri: str, model: str | None) -> str | None:
        """The web page of the last answer about the text, which is asked for first if need be."""
        checked = self.checked(uri)
        if checked is None or (model is not None and checked.answer.model != model):
            await self.check(uri, model)
            checked = self.checked(uri)
        return None if checked is None else page(checked.answer, checked.program)

    async def repair(self, uri: str, model: str) -> list[lsp.TextEdit] | None:
        """The edits that `fix` finds; none, and a message, if there is no repair for this text."""
        lines = self.lines(uri)
        stop = self._searches.setdefault(uri, Event())
        try:
            program = language_of(uri).read("\n".join(lines), file_of(uri))
            answer = await asyncio.to_thread(
                fix, program, model, limits=self.limits, watcher=lambda progress: stop.is_set()
            )
        except InputError as error:
            self._refused(error)
            return None
        if stop.is_set():
            return None
        if answer.repaired is None or not answer.in_place:
            self.say(_no_repair(program, answer), lsp.MessageType.Warning)
            return None
        return [
            lsp.TextEdit(
                lsp.Range(*(self.position_of(lines, at[0] + 1, at[1] + 1) for at in edit[:2])), edit.text
            )
            for edit in line_edits(lines, normal_lines(answer.repaired).split("\n"))
        ]

    def checked(self, uri: str) -> Checked | None:
        return self._checked.get(uri)

    def _refused(self, error: InputError) -> str:
        at = f" (line {error.line})" if error.line else ""
        return self.say(f"{error.message}{at}", lsp.MessageType.Error)

    def say(self, message: str, kind: lsp.MessageType) -> str:
        self.window_show_message(lsp.ShowMessageParams(kind, message))
        return message


def _no_repair(program: Program, answer: FixAnswer) -> str:
    command = f"`fencepost fix --model {answer.model} {program.file}`"
    if answer.repaired is not None:
        return (
            f"{program.file}: the repair cannot be made in this text; {command} prints the repaired program"
        )
    if answer.holds is None:
        return f"{program.file}: no repair was found within the limits; try {command}"
    return f"{program.file}: no change of memory orders, and no fence, repairs this under {answer.model}"


def make_server(seconds: float) -> Server:
    """A server with all that it can do."""
    server = Server(seconds)
    _about_words(server)
    _about_programs(server)

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams | lsp.InitializedParams) -> None:
        """pygls also calls this when the editor says that it is ready."""
        if isinstance(params, lsp.InitializeParams) and isinstance(params.initialization_options, dict):
            server.shows_reports = params.initialization_options.get("showsReports") is True

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.text_changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.text_changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.forget(uri)
        server.publish(uri, [], [])

    return server


def _about_words(server: Server) -> None:
    """What is known of a text without a search."""

    def pointed_at(params: lsp.HoverParams | lsp.DefinitionParams) -> tuple[Document, Word | None]:
        document = server.document(params.text_document.uri)
        return document, document.symbols.word_at(*server.place_of(document.lines, params.position))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        (language, lines, symbols), word = pointed_at(params)
        if word is None:
            return None
        symbol = symbols.definition(word)
        said = meaning(word.text, symbol, lines[symbol.word.line - 1] if symbol else "", language)
        if said is None:
            return None
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, said)
        return lsp.Hover(content, server.range_of(lines, _place(word)))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        (_, lines, symbols), word = pointed_at(params)
        symbol = symbols.definition(word) if word is not None else None
        if symbol is None:
            return None
        return lsp.Location(params.text_document.uri, server.range_of(lines, _place(symbol.word)))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "(", ","]))
    def complete(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        language, lines, symbols = server.document(params.text_document.uri)
        line, column = server.place_of(lines, params.position)
        typed = lines[line - 1][: column - 1] if line <= len(lines) else ""
        offered = completions(language, symbols, line, column, typed)
        return [_item(language, number, each) for number, each in enumerate(offered)]

    @server.feature(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["(", ","]))
    def signature_help(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        language, lines, symbols = server.document(params.text_document.uri)
        line, column = server.place_of(lines, params.position)
        if symbols.comment_at(line, column) is not None:
            return None
        call = open_call(symbols.before(line, column))
        signature = language.signature(call) if call is not None else None
        if call is None or signature is None:
            return None
        here = signature.parameter(call.argument)
        active = signature.parameters.index(here[0]) if here else len(signature.parameters)
        information = lsp.SignatureInformation(
            signature.label,
            documentation=_markdown(meaning(signature.name, None, "", language)),
            parameters=[
                lsp.ParameterInformation(each.name, ", ".join(each.orders) or None)
                for each in signature.parameters
            ],
        )
        return lsp.SignatureHelp([information], active_signature=0, active_parameter=active)

    @server.feature(
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, lsp.SemanticTokensLegend(list(KINDS), list(MODIFIERS))
    )
    def colours(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        language, lines, symbols = server.document(params.text_document.uri)
        data: list[int] = []
        before = lsp.Position(0, 0)
        for word in coloured(language, symbols):
            place = server.range_of(lines, Place(word.line, word.column, word.column + word.length))
            same_line = place.start.line == before.line
            data += [
                place.start.line - before.line,
                place.start.character - (before.character if same_line else 0),
                place.end.character - place.start.character,
                KINDS.index(word.kind),
                sum(1 << MODIFIERS.index(modifier) for modifier in word.modifiers),
            ]
            before = place.start
        return lsp.SemanticTokens(data)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols_of(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        language, lines, symbols = server.document(params.text_document.uri)

        def shown(entries: Iterable[Entry]) -> list[lsp.DocumentSymbol]:
            return [
                lsp.DocumentSymbol(
                    each.name.text,
                    _SYMBOLS[each.what],
                    lsp.Range(
                        server.position_of(lines, each.first.line, each.first.column),
                        server.position_of(lines, each.last.line, each.last.end),
                    ),
                    server.range_of(lines, _place(each.name)),
                    detail=each.what,
                    children=shown(each.inside),
                )
                for each in entries
            ]

        return shown(outline(language, symbols))


def _about_programs(server: Server) -> None:
    """What takes a search, and what is done with its result."""

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        _, lines, symbols = server.document(uri)
        threads = symbols.functions()
        if not threads:
            return []
        place = server.range_of(lines, Place(threads[0].line, 1, 1))
        commands = [
            lsp.Command(f"check robustness ({model})", CHECK, arguments=[uri, model])
            for model in ROBUSTNESS_MODELS
        ]
        checked = server.checked(uri)
        if server.shows_reports and checked is not None:
            model = checked.answer.model
            title = f"show the answer ({model})"
            commands.insert(0, lsp.Command(title, SHOW_REPORT, arguments=[uri, model]))
        return [lsp.CodeLens(place, command) for command in commands]

    @server.command(CHECK)
    async def check(uri: str, model: str | None = None) -> str:
        if model not in (None, *ROBUSTNESS_MODELS):
            return server.say(f"there is no model `{model}`", lsp.MessageType.Error)
        return await server.check(uri, model)

    @server.command(REPORT)
    async def report(uri: str, model: str | None = None) -> str | None:
        if model not in (None, *ROBUSTNESS_MODELS):
            server.say(f"there is no model `{model}`", lsp.MessageType.Error)
            return None
        return await server.report(uri, model)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix], resolve_provider=True),
    )
    async def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        actions = [
            action
            for diagnostic in params.context.diagnostics
            if diagnostic.source == "fencepost" and (action := _quick_fix(server, uri, diagnostic))
        ]
        if not _resolves_edits(server.client_capabilities):
            for action in actions:
                await resolve(action)
            actions = [action for action in actions if action.edit is not None]
        return actions

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        if action.edit is None and isinstance(action.data, dict):
            uri = str(action.data["uri"])
            edits = await server.repair(uri, str(action.data["model"]))
            if edits is not None:
                action.edit = lsp.WorkspaceEdit(changes={uri: edits})
        return action


def _quick_fix(server: Server, uri: str, diagnostic: lsp.Diagnostic) -> lsp.CodeAction | None:
    """What can be done about a problem at once: the word that was meant, or the repair of a finding."""
    checked = server.checked(uri)
    word = meant(diagnostic.message)
    if diagnostic.code == "input" and word is not None:
        return lsp.CodeAction(
            f"Write `{word}`",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=True,
            edit=lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(diagnostic.range, word)]}),
        )
    if diagnostic.code in _REPAIRABLE and checked is not None:
        return lsp.CodeAction(
            f"Repair the program with the cheapest changes (fencepost fix, {checked.answer.model})",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=True,
            data={"uri": uri, "model": checked.answer.model},
        )
    return None


def _resolves_edits(capabilities: lsp.ClientCapabilities) -> bool:
    """Whether the editor asks for the edits of an action when it is chosen."""
    actions = capabilities.text_document and capabilities.text_document.code_action
    return bool(actions and actions.resolve_support and "edit" in actions.resolve_support.properties)


def _refreshes_lenses(capabilities: lsp.ClientCapabilities) -> bool:
    lenses = capabilities.workspace and capabilities.workspace.code_lens
    return bool(lenses and lenses.refresh_support)


def _item(language: Language, number: int, offered: Completion) -> lsp.CompletionItem:
    """In the order in which they are offered: what fits best comes first."""
    explained = offered.what in ("call", "access", "order", "keyword")
    return lsp.CompletionItem(
        offered.text,
        kind=_COMPLETIONS[offered.what],
        detail=offered.detail or None,
        documentation=_markdown(meaning(offered.text, None, "", language)) if explained else None,
        sort_text=f"{number:04}",
    )


def _markdown(text: str | None) -> lsp.MarkupContent | None:
    return None if text is None else lsp.MarkupContent(lsp.MarkupKind.Markdown, text)


def _place(word: Word) -> Place:
    return Place(word.line, word.column, word.end)
