"""The lines of a search as a response, sent as they come.

The search goes on as long as someone listens: when the connection is closed, or its time is over and the
answer has not been taken, the search is ended with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from fencepost.playground.searches import BusyError

_HEADERS = [(b"content-type", b"application/x-ndjson"), (b"cache-control", b"no-store")]


def failure(why: str, status: int, headers: dict[str, str]) -> Response:
    return JSONResponse({"failure": why}, status, headers=headers | {"Cache-Control": "no-store"})


class SearchResponse(Response):
    def __init__(self, lines: AsyncGenerator[bytes], seconds: float) -> None:
        super().__init__()
        self._lines = lines
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(scope, receive, send))
        gone = asyncio.create_task(_disconnected(receive))
        await asyncio.wait({sending, gone}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (sending, gone):
            task.cancel()
        await asyncio.gather(sending, gone, return_exceptions=True)

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False
        try:
            async with aclosing(self._lines) as lines:
                async for line in lines:
                    if not started:
                        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
                    started = True
                    await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except BusyError:
            again = {"Retry-After": "2"}
            await failure("too many searches are running; try again soon", 429, again)(scope, receive, send)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
