"""What is read of a request: its whole body up to a limit, forms, and numbers."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from borneo_web.server.live_game import Refused

LARGEST_FORM = 8192  # bytes; a new game takes some 300
MOST_FIELDS = 32
FORM = "application/x-www-form-urlencoded"
MOST_DIGITS = 9

Fields = list[tuple[str, str]]


async def read_body(request: Request, most: int, what: str) -> bytes:
    """All that was sent; Refused if it is larger than that, or breaks off."""
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > most:
                raise Refused(413, f"{what} has at most {most:,} bytes.")
    except ClientDisconnect:
        raise Refused(400, f"{what} broke off, so nothing was done.") from None
    return bytes(body)


async def read_form(request: Request) -> Fields:
    """The fields of a form that was sent; Refused if it is too large or no form."""
    body = await read_body(request, LARGEST_FORM, "A form")
    if not request.headers.get("content-type", "").startswith(FORM):
        raise Refused(415, f"What is sent here is a form ({FORM}).")
    try:
        text = body.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict",
                         max_num_fields=MOST_FIELDS)  # fmt: skip
    except ValueError:
        raise Refused(400, "The form cannot be read.") from None


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


def whole_number(text: str) -> int | None:
    """A number of a few digits; None if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
