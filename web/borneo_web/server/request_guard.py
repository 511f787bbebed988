"""RequestGuard: what every request must satisfy before anything is done, and what every answer says.

A page of another site must not be able to reach a server on this machine: its name could be made to lead here (DNS
rebinding), and its forms could be sent here. So the Host must be an address or a name the server was started for, and
whatever changes something must come from our own pages.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from ipaddress import ip_address

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from borneo_env.render.pen import STYLE

_PICTURES = b64encode(sha256(STYLE.encode()).digest()).decode()  # pictures bring their own style
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{_PICTURES}'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # keys are in addresses
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")


class RequestGuard:
    """An ASGI application behind checks of Host and Origin, with strict headers on every answer.

    Arguments:
        names: the host names, beside addresses, under which the server may be asked for.
        everywhere: whether addresses of other machines than this one are among them.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str], everywhere: bool) -> None:
        self._app, self._names, self._everywhere = app, names, everywhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        answer = PlainTextResponse(refusal[1], refusal[0]) if refusal else self._app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and words for a request that is not let through."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        host = headers.get("host", "")
        if len(hosts) != 1 or not self._is_ours(host):
            return 421, "This server is not known under the name you asked for. Use the address that it has printed."
        if scope["method"] in SAFE:
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        if origin not in (None, f"{scope['scheme']}://{host}") or site not in ("same-origin", "none"):
            return 403, "This came from a page of another site, so nothing was done."
        return None

    def _is_ours(self, host: str) -> bool:
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name.lower() in self._names:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self._everywhere or address.is_loopback
