"""Which requests the playground answers, and what browsers may do with its responses.

A request must name a host that the playground is known by; otherwise a page elsewhere could reach it through
a name of its own that points here. Requests by pages of other sites are refused, except following a link.
Every response has a strict Content-Security-Policy and may not be put into a frame or read by other sites.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Key in the scope of a request: the nonce that style sheets of the editor carry.
NONCE = "fencepost.nonce"

_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Guard:
    """The application behind it sees only requests that are allowed."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        nonce = scope[NONCE] = secrets.token_urlsafe(16)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS | {"Content-Security-Policy": _POLICY.format(nonce=nonce)})
            await send(message)

        refusal = self._refusal(scope)
        respond = self._app if refusal is None else PlainTextResponse(refusal + "\n", 403)
        await respond(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return "The playground is not known by this name; see `fencepost serve --allow-host`."
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin):
            return "Requests from other sites are refused."
        follows_link = scope["method"] == "GET" and headers.get("sec-fetch-mode", "navigate") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not follows_link:
            return "Requests from other sites are refused."
        return None

    def _is_own(self, origin: str) -> bool:
        scheme, _, host = origin.lower().partition("://")
        return scheme in ("http", "https") and host in self._hosts
