"""The playground as a web application: the page, its scripts, the examples, and the answers.

    GET  /                    the page
    GET  /assets/NAME         a script or a style sheet; /vendor/NAME one of the editor's
    GET  /api/start           what the page needs: questions, languages, settings, names of examples
    GET  /api/examples/N      the text of an example
    GET  /docs/NAME           a page of the documentation; /docs/pictures/NAME one of its pictures
    POST /api/search          a `search.Request`; a stream of lines of JSON until the answer is there

All files are read once, at the start: a request can choose among them, but it cannot name a file. A search
runs as long as its connection is open; closing it cancels the search.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from fencepost import __version__
from fencepost.analyses.outcomes import DEFAULT_UNROLL
from fencepost.analyses.repair.changes import DEFAULT_COSTS
from fencepost.errors import InputError
from fencepost.formats import FORMATS
from fencepost.playground import search
from fencepost.playground.gallery import examples
from fencepost.playground.guard import NONCE, Guard
from fencepost.playground.manual import pages, pictures
from fencepost.playground.questions import CRITERIA, QUESTION_NAMED, QUESTIONS
from fencepost.playground.search_response import SearchResponse, failure
from fencepost.playground.searches import Allowed, Searches
from fencepost.report.html import colours
from fencepost.report.html import page as html

_HERE = Path(__file__).parent
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
_NOT_KEPT = {"Cache-Control": "no-store"}
_BODY_SECONDS = 20  # to send a request
_SPARE_SECONDS = 30  # to take an answer, beside the time of the search


def application(hosts: Collection[str], allowed: Allowed) -> ASGIApp:
    """The playground, known by these hosts (with their ports)."""
    _build_parsers()
    playground = _Playground(allowed)
    routes = [
        Route("/", playground.page),
        Route("/assets/{name}", playground.file),
        Route("/vendor/{name}", playground.file),
        Route("/api/start", playground.file),
        Route("/docs/{path:path}", playground.file),
        Route("/api/examples/{number:int}", playground.example),
        Route("/api/search", playground.search, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), hosts)


class _File(NamedTuple):
    """What is sent as it is, with its packed form for browsers that take it."""

    content: bytes
    packed: bytes
    type: str


class _Playground:
    def __init__(self, allowed: Allowed) -> None:
        self._searches = Searches(allowed)
        self._page = (_HERE / "assets" / "page.html").read_text(encoding="utf-8")
        self._files = _files()
        start = msgspec.json.encode(self._start())
        self._files["/api/start"] = _file(start, "application/json")

    async def page(self, request: Request) -> Response:
        return HTMLResponse(self._page.replace("NONCE", request.scope[NONCE]), headers=_NOT_KEPT)

    async def file(self, request: Request) -> Response:
        path = request.scope["path"]
        if path not in self._files:
            return PlainTextResponse("There is no such file.\n", 404)
        file = self._files[path]
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(file.content, media_type=file.type, headers=headers)
        headers["Content-Encoding"] = "gzip"
        return Response(file.packed, media_type=file.type, headers=headers)

    def _start(self) -> dict[str, object]:
        allowed = self._searches.allowed
        return {
            "version": __version__,
            "questions": [
                {
                    "name": question.name,
                    "group": question.group,
                    "words": question.words,
                    "repairs": question.repair is not None,
                    "criteria": {name: CRITERIA[name] for name in question.criteria},
                    "unrolls": question.unrolls,
                }
                for question in QUESTIONS
            ],
            "languages": {
                known.name: {"comment": words.comment, "keywords": words.keywords}
                for known in FORMATS
                if (words := colours.language(known.name)) is not None
            },
            "modes": colours.MODES,
            "costs": DEFAULT_COSTS,
            "unroll": DEFAULT_UNROLL,
            "seconds": allowed.seconds,
            "memory": allowed.memory_mb,
            "running": allowed.running,
            "examples": [
                {"folder": one.folder, "name": one.name, "format": one.format, "about": one.about}
                for one in examples()
            ],
        }

    async def example(self, request: Request) -> Response:
        number = request.path_params["number"]
        if number >= len(examples()):
            return PlainTextResponse("There is no such example.\n", 404)
        return PlainTextResponse(examples()[number].text)

    async def search(self, request: Request) -> Response:
        try:
            wanted = _decoded(request, await self._body(request))
        except _RefusedError as refused:
            # What is left of the body is not read.
            return failure(str(refused), refused.status, {"Connection": "close"})
        except ClientDisconnect:
            return Response(status_code=400)
        return SearchResponse(self._searches.run(wanted), self._searches.allowed.seconds + _SPARE_SECONDS)

    async def _body(self, request: Request) -> bytes:
        most = self._searches.allowed.program_bytes
        too_large = _RefusedError(413, f"the program is too large; at most {most:,} bytes are taken")
        if int(request.headers.get("content-length", 0)) > most:
            raise too_large
        body = b""
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > most:
                        raise too_large
        except TimeoutError:
            raise _RefusedError(408, "the request took too long to arrive") from None
        return body


class _RefusedError(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def _decoded(request: Request, body: bytes) -> search.Request:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise _RefusedError(415, "expected JSON")
    try:
        wanted = msgspec.json.decode(body, type=search.Request)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _RefusedError(400, f"not a request: {error}") from None
    if wanted.question not in QUESTION_NAMED:
        raise _RefusedError(400, "there is no such question")
    if wanted.format not in [known.name for known in FORMATS]:
        raise _RefusedError(400, "there is no such format")
    return wanted


def _build_parsers() -> None:
    """Have the tables of all parsers built and kept; searches read them, but must not write them."""
    for known in FORMATS:
        with suppress(InputError):
            importlib.import_module(known.module).read("?", "program")


def _files() -> dict[str, _File]:
    """By path, the scripts and style sheets of the page, of the report, and of the editor if it is there."""
    found = [
        (f"/{folder}/{path.name}", path)
        for folder, directory in (
            ("assets", _HERE / "assets"),
            ("assets", html.ASSETS),
            ("vendor", _HERE / "vendor"),
        )
        for path in sorted(directory.glob("*"))
        if path.suffix in _TYPES
    ]
    contents = {name: path.read_bytes() for name, path in found}
    contents["/assets/report.css"] = html.style_sheet().encode()
    files = {name: _file(content, _TYPES[Path(name).suffix]) for name, content in contents.items()}
    files |= {f"/docs/{name}": _file(text.encode(), "text/html") for name, text in pages().items()}
    for name, content in pictures().items():
        files[f"/docs/{name}"] = _file(content, _PICTURES[Path(name).suffix])
    return files


def _file(content: bytes, kind: str) -> _File:
    return _File(content, gzip.compress(content), kind)
