"""Erasing a reader: what it means, and doing it after the name was typed."""

from starlette.responses import Response

from masthead.books import Books, erasure, subscribers
from masthead.circulation.amounts import in_currency
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action
from masthead.contract.printable import single_spaced
from masthead.errors import MastheadError

_MONEY: dict[str, erasure.Money] = {"earn": "earn", "refund": "refund"}


def show(request: PageRequest) -> Response:
    """Say what erasing the reader means."""
    return _shown(request, Form({}))


def erase(request: PageRequest) -> Response:
    """Erase the reader whose name was typed."""
    form, key = Form(request.form), int(request.ids["id"])
    with request.books.snapshot() as inside:
        wanted = _name(inside, key)
        left = erasure.left(inside, key)
    if single_spaced(form["name"]).casefold() != wanted.casefold():
        form.refuse("name", f"Type “{wanted}” to confirm.")
    money = _MONEY.get(form["money"])
    if left and money is None:
        form.refuse("money", "Say what happens to the money of what is not delivered.")
    if not form.is_good:
        return _shown(request, form, 400)
    then = f"/subscribers/{key}"
    with request.books_for("erase", then).together() as inside:
        subscribers.names(inside, key)  # refuses a reader who was merged meanwhile
        done = erasure.erase(inside, key, money, leave_traces=True)
    said = "The reader is erased."
    if done.credited:
        said += f" {in_currency(done.credited, done.currency)} is the payer's credit: pay it back."
    if done.by_hand:
        said += f" {in_currency(done.by_hand, done.currency)} is refunded: send it yourself."
    try:
        request.store.vacuum_after_erase()
    except MastheadError as error:
        if error.code != "traces_left":
            raise
        said += " The database was busy, so its file may have traces: an operator removes them."
    return request.go(then, said)


def _name(books: Books, key: int) -> str:
    """Return the name to type; for a reader without one, the company or the email address."""
    subscribers.names(books, key)  # refuses a reader who was deleted
    return subscribers.named(books, key)


def _shown(request: PageRequest, form: Form, status: int = 200) -> Response:
    key = int(request.ids["id"])
    with request.books.snapshot() as inside:
        wanted = _name(inside, key)
        left = erasure.left(inside, key)
    return request.page("erase", status, form=form, key=key, wanted=wanted, left=left)


pages = [
    get("/subscribers/{id:int}/erase", show, Action.ERASE),
    post("/subscribers/{id:int}/erase", erase, Action.ERASE),
]
