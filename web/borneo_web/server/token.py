"""TokenCheck: who may begin games and look at folders. On this machine everybody; else whoever has the token."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from borneo_web.server.live_game import Refused

COOKIE = "borneo"
Answering = Callable[[Request], Awaitable[Response]]


class TokenCheck:
    """Asks for a token, if there is one. Whoever has given it once is known by a cookie."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def welcome(self, request: Request) -> RedirectResponse | None:
        """An answer that brings the cookie, if the address has the token in it."""
        given = request.query_params.get("token")
        if not self._token or given is None or not _same(given, self._token):
            return None
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
        return answer

    def check(self, request: Request) -> None:
        """Refuse whoever has not given the token."""
        if self._token and not _same(request.cookies.get(COOKIE, ""), self._token):
            raise Refused(403, "This page needs the token: open the address that the server has printed.")

    def guarded(self, answer: Answering) -> Answering:
        """What answers at an address, for those alone who have given the token."""

        async def checked(request: Request) -> Response:
            self.check(request)
            return await answer(request)

        return checked


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())
