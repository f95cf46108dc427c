"""Signing in and out. The session cookie is opaque; the database has the session's data."""

import re
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from masthead.console.forms import id_in
from masthead.console.templating import template
from masthead.store import Store, operators

_OWN_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20]*")
_MINUTE_US = 60 * 1_000_000


class Cookie(NamedTuple):
    """The session cookie. Behind a proxy that terminates TLS, it is sent only over TLS."""

    is_secure: bool

    @property
    def name(self) -> str:
        """Its name; the prefix binds a secure cookie to this host (RFC 6265bis section 4.1.3)."""
        return "__Host-masthead_session" if self.is_secure else "masthead_session"

    def read(self, request: Request) -> str:
        """Return the session, or '' if there is none."""
        return request.cookies.get(self.name, "")

    def write(self, response: Response, session: str) -> None:
        """Set the cookie until the browser closes; '' deletes it."""
        response.set_cookie(
            self.name,
            session,
            max_age=None if session else 0,
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="strict",
        )


def respond(request: Request, form: dict[str, str]) -> Response:
    """Show the form, or sign in and redirect to the requested page.

    An unknown name and a wrong password get the same response (rules, "Sign-in of the console").
    """
    typed = _typed(request, form)
    store: Store = request.app.state.store
    with store.reader() as connection:
        known = operators.operators_of(connection)
    accounts = sorted({each.account_id for each in known})
    only = accounts[0] if len(accounts) == 1 else None

    def again(sentence: str, status: int) -> Response:
        return _form(typed, sentence, status, asks_account=only is None)

    if request.method != "POST":
        return again("", 200)
    account_id = id_in(typed["account"]) if typed["account"] else only
    if account_id is None:
        return again("Give the number of the account.", 400)
    wait_us = operators.wait_us(store, account_id, typed["name"])
    if wait_us:
        minutes = -(-wait_us // _MINUTE_US)
        return again(f"Too many wrong passwords: try again in {minutes} minutes.", 429)
    session = operators.sign_in(store, account_id, typed["name"], form.get("password", ""))
    if session is None:
        return again("Name and password do not belong together.", 403)
    response = RedirectResponse(_own_path(typed["next"]), 303)
    request.app.state.cookie.write(response, session)
    return response


def away(request: Request, form: dict[str, str]) -> Response:
    """Return the form, with the input except the password, while the database is unavailable."""
    sentence = "The database does not answer now. Try again in a moment."
    return _form(_typed(request, form), sentence, 503, asks_account="account" in form)


def sign_out(request: Request) -> Response:
    """End the session and show the form."""
    cookie: Cookie = request.app.state.cookie
    operators.end_session(request.app.state.store, cookie.read(request))
    response = RedirectResponse("/sign-in", 303)
    cookie.write(response, "")
    return response


def _typed(request: Request, form: dict[str, str]) -> dict[str, str]:
    return {
        "account": form.get("account") or request.query_params.get("account", ""),
        "name": form.get("name", ""),
        "next": form.get("next") or request.query_params.get("next", ""),
    }


def _form(typed: dict[str, str], error: str, status: int, *, asks_account: bool) -> Response:
    body = template("sign_in").render(typed=typed, asks_account=asks_account, error=error)
    return HTMLResponse(body, status)


def _own_path(wanted: str) -> str:
    """Return a local path to redirect to; reject other sites."""
    return wanted if _OWN_PATH.fullmatch(wanted) else "/"
