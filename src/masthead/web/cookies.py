"""Cookies: that of a session, and that with the message of a change; and local paths."""

import re
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

SAID = "masthead_said"
"""The cookie with the message of a change, which the next page shows."""

_SAID_S_MAX = 60
_OWN_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20]*")


class Cookie(NamedTuple):
    """A cookie of a session. Behind a proxy that terminates TLS, it is sent only over TLS.

    ``name`` is its name without the prefix of :attr:`full_name`. ``same_site`` says whether a
    browser sends it when a link of another site leads here (``lax``). It never sends it with a form
    of another site.
    """

    name: str
    is_secure: bool
    same_site: Literal["strict", "lax"] = "strict"

    @property
    def full_name(self) -> str:
        """Its name; the prefix binds a secure cookie to this host (RFC 6265bis section 4.1.3)."""
        return f"__Host-{self.name}" if self.is_secure else self.name

    def read(self, request: Request) -> str:
        """Return the session, or '' if there is none."""
        return request.cookies.get(self.full_name, "")

    def write(self, response: Response, session: str, *, seconds: int | None = None) -> None:
        """Set the cookie until the browser closes, or for some seconds; '' deletes it."""
        response.set_cookie(
            self.full_name,
            session,
            max_age=seconds if session else 0,
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite=self.same_site,
        )


def said_of(request: Request) -> str:
    """Return the message of the last change, which this page shows; '' if there is none."""
    return unquote(request.cookies.get(SAID, ""))


def say(request: Request, response: Response, said: str, path: str = "/") -> None:
    """Let the next page below ``path`` show the message of a change."""
    response.set_cookie(
        SAID,
        quote(said),
        max_age=_SAID_S_MAX,
        path=path,
        secure=request.app.state.behind_proxy,
        httponly=True,
        samesite="strict",
    )


def forget_message(request: Request, response: Response, path: str = "/") -> None:
    """Delete the message of the last change, if there is one."""
    if SAID in request.cookies:
        response.delete_cookie(SAID, path=path)


def own_path(wanted: str, otherwise: str = "/") -> str:
    """Return a local path to redirect to; ``otherwise`` instead of another site."""
    return wanted if _OWN_PATH.fullmatch(wanted) else otherwise
