"""Signing in and out. The session cookie is opaque; the database has the session's data."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from masthead.console.templating import template
from masthead.log import get_logger
from masthead.store import Store, operators
from masthead.store.operators import Operator
from masthead.web.cookies import Cookie, forget_message, own_path
from masthead.web.forms import id_in
from masthead.web.kept_input import packed, unpacked
from masthead.web.middleware import address_of

_MINUTE_US = 60 * 1_000_000
_log = get_logger()


def respond(request: Request, form: dict[str, str]) -> Response:
    """Show the form, or sign in and redirect to the requested page.

    The browser's session before it ends. Input of a form that was kept is shown by the requested
    page. An unknown name and a wrong password get the same response (rules, "Sign-in of the
    console").
    """
    typed = _typed(request, form)
    store: Store = request.app.state.store
    with store.reader() as connection:
        known = operators.operators_of(connection)
    only = _only_account(known)

    def again(sentence: str, status: int) -> Response:
        return _form(typed, sentence, status, asks_account=_asks_account(typed, only))

    if request.method != "POST":
        return again("", 200)
    account_id = id_in(typed["account"]) if typed["account"] else only
    if account_id is None:
        return again("Give the number of the account.", 400)
    wait_us = operators.wait_us(store, account_id, typed["name"])
    if wait_us:
        _log_refused(request, operators.named(known, account_id, typed["name"]), account_id)
        minutes = -(-wait_us // _MINUTE_US)
        refused = again(f"Too many wrong passwords: try again in {minutes} minutes.", 429)
        refused.headers["Retry-After"] = str(-(-wait_us // 1_000_000))
        return refused
    session = operators.sign_in(store, account_id, typed["name"], form.get("password", ""))
    if session is None:
        return again("Name and password do not belong together.", 403)
    cookie: Cookie = request.app.state.cookie
    operators.end_session(store, cookie.read(request))
    path = own_path(typed["next"])
    kept = unpacked(typed["kept"])
    if kept:
        request.app.state.kept_input.keep(session, path.partition("?")[0], kept)
    response = RedirectResponse(path, 303)
    cookie.write(response, session)
    forget_message(request, response)
    return response


def session_ended(request: Request, form: dict[str, str], path: str) -> Response:
    """Return the sign-in for a form that was sent after its session had ended.

    It keeps the input, except passwords, and leads to the page at ``path``. It signs in to the
    account of the session, since the ids of a form mean other records in another account.
    """
    store: Store = request.app.state.store
    account_id = operators.account_of_session(request.app.state.cookie.read(request))
    with store.reader() as connection:
        only = _only_account(operators.operators_of(connection))
    kept = packed(form) if account_id is not None else ""
    account = "" if account_id is None else str(account_id)
    typed = {"account": account, "name": "", "next": path, "kept": kept}
    sentence = "Your session has ended, so nothing was saved. " + (
        "What you typed is kept: sign in, and the form shows it again."
        if kept
        else "Sign in again."
    )
    return _form(typed, sentence, 401, asks_account=_asks_account(typed, only))


def later(request: Request, form: dict[str, str], sentence: str) -> Response:
    """Return the form with 503 and the input except the password; it needs no database."""
    typed = _typed(request, form)
    asks_account = "account" in form and not typed["kept"]
    return _form(typed, sentence, 503, asks_account=asks_account)


def sign_out(request: Request) -> Response:
    """End the session and show the form."""
    cookie: Cookie = request.app.state.cookie
    operators.end_session(request.app.state.store, cookie.read(request))
    response = RedirectResponse("/sign-in", 303)
    cookie.write(response, "")
    forget_message(request, response)
    return response


def _only_account(known: list[Operator]) -> int | None:
    """Return the account of all operators; None if they are of several."""
    accounts = {each.account_id for each in known}
    return accounts.pop() if len(accounts) == 1 else None


def _asks_account(typed: dict[str, str], only: int | None) -> bool:
    return only is None and not (typed["kept"] and typed["account"])


def _log_refused(request: Request, operator: Operator | None, account_id: int) -> None:
    """Log a name that has to wait; a name that no operator has may be a password."""
    behind_proxy = request.app.state.behind_proxy
    _log.warning(
        "sign-in refused after too many wrong passwords",
        account=account_id,
        operator=operator.name if operator else None,
        client=address_of(request.scope, behind_proxy=behind_proxy),
    )


def _typed(request: Request, form: dict[str, str]) -> dict[str, str]:
    return {
        "account": form.get("account") or request.query_params.get("account", ""),
        "name": form.get("name", ""),
        "next": form.get("next") or request.query_params.get("next", ""),
        "kept": form.get("kept", ""),
    }


def _form(typed: dict[str, str], error: str, status: int, *, asks_account: bool) -> Response:
    body = template("sign_in").render(typed=typed, asks_account=asks_account, error=error)
    return HTMLResponse(body, status)
