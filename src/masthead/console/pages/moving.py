"""A reader moves: one form asks for the address, what goes there, and when."""

from starlette.responses import Response

from masthead.books import moving, subscribers, subscriptions
from masthead.books.moving import Movable, Move
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.pages.subscription import ADDRESS, address_in
from masthead.console.roles import Action
from masthead.console.templating import day_in_words
from masthead.contract.printable import listed
from masthead.contract.subscription_types import type_in_words

_NAMES = ("first_name", "last_name")
_WHEN = ("now", "day", "while")


def show(request: PageRequest) -> Response:
    """Show the form with all subscriptions and the bills chosen."""
    key = int(request.ids["id"])
    found = moving.movable(request.books, key)
    chosen = {f"subscription_{each.subscription_id}": "1" for each in found}
    return _shown(request, Form({**chosen, "bills": "1"}), key)


def show_one(request: PageRequest) -> Response:
    """Show the form of a subscription's reader, with this one chosen."""
    key = int(request.ids["id"])
    reader = subscriptions.show(request.books, key).fields["subscriber_id"]
    is_for_a_while = request.http.url.path.endswith("/temporary-address")
    form = Form({f"subscription_{key}": "1", "when": "while" if is_for_a_while else "now"})
    return _shown(request, form, int(reader or 0))


def move(request: PageRequest) -> Response:
    """Move the reader."""
    form, key = Form(request.form), int(request.ids["id"])
    found = moving.movable(request.books, key)
    chosen = [each for each in found if form[f"subscription_{each.subscription_id}"]]
    when = form.choice("when", "When", _WHEN)
    bills = bool(form["bills"]) and when != "while"
    first, last = form.day("from_date", "The first day"), form.day("to_date", "The last day")
    address = address_in(form)
    if not any(value for name, value in address.items() if name not in _NAMES):
        form.refuse("address", "Say where the reader has moved.")
    if not chosen and not bills:
        form.refuse("subscriptions", "Say what goes to the new address.")
    if when != "now" and first is None:
        form.refuse("from_date", "The first day is needed.")
    if when == "now" and first is not None:
        form.refuse("from_date", "From now on has no first day: choose another “When”.")
    if when == "while" and last is None:
        form.refuse("to_date", "The last day is needed.")
    if when != "while" and last is not None:
        form.refuse("to_date", "Only “For a while” has a last day.")
    if not form.is_good:
        return _shown(request, form, key, 400)
    wanted = Move(
        address,
        [each.subscription_id for each in chosen],
        bills,
        None if when == "now" else first,
        last if when == "while" else None,
    )
    with form.refusing():
        then = f"/subscribers/{key}"
        done = moving.move(request.books_for("move a reader", then), key, wanted)
        return request.go(then, _told(chosen, wanted, done.first))
    return _shown(request, form, key, 400)


def _told(chosen: list[Movable], wanted: Move, first: str | None) -> str:
    """Return what a clerk tells the caller."""
    where = ", ".join(filter(None, (wanted.address["address"], wanted.address["city"])))
    names = [f"{each.publication} ({type_in_words(each.type or '')})" for each in chosen]
    when = f"from {day_in_words(first)} on" if first else "from now on"
    if wanted.last:
        when = f"from {day_in_words(first)} to {day_in_words(wanted.last)}, and then back"
    verb = "goes" if len(names) == 1 else "go"
    if not names:
        return f"Bills go to {where} from now on."
    bills = "; bills go there from now on" if wanted.bills else ""
    return f"{listed(names)} {verb} to {where} {when}{bills}."


def _shown(request: PageRequest, form: Form, key: int, status: int = 200) -> Response:
    with request.books.snapshot() as inside:
        names = subscribers.names(inside, key)
        found = moving.movable(inside, key)
    return request.page(
        "move", status, form=form, key=key, names=names, found=found, fields=ADDRESS
    )


pages = [
    get("/subscribers/{id:int}/move", show, Action.SERVE),
    post("/subscribers/{id:int}/move", move, Action.SERVE),
    get("/subscriptions/{id:int}/address", show_one, Action.SERVE),
    get("/subscriptions/{id:int}/temporary-address", show_one, Action.SERVE),
]
