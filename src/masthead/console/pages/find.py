"""Find: one search box for anything that a caller on the telephone knows."""

import re
from collections.abc import Iterator

from starlette.responses import Response

from masthead.books import Books, orders, subscribers
from masthead.books.subscribers import Found, Sought
from masthead.console.forms import id_in
from masthead.console.page_request import PageRequest, get

_SHOWN = 30
_AMONG_MAX = 2_000
_ZIP_MIN = 3
"""A shorter beginning of a postal code matches a tenth of all subscribers."""

_CODE_MAX = 5
_KEYLINE = re.compile(r"([0-9]{1,18}) (?:[0-9]{4}-[0-9]{2}-[0-9]{2}|-)")


def find(request: PageRequest) -> Response:
    """Show the matching subscribers.

    The search text is a name or the beginnings of its words, an email address, a postal code or
    its beginning, a renewal code, an order or subscriber number, an order's reference, or a
    keyline.
    """
    text = request.query.get("q", "")
    found: list[Found] = []
    found_orders: list[int] = []
    if text:
        with request.books.snapshot() as inside:
            found = _found(inside, text)
            found_orders = _orders(inside, text)
    return request.page(
        "find",
        text=text,
        found=found[:_SHOWN],
        orders=found_orders,
        is_more=len(found) > _SHOWN,
    )


def _found(books: Books, text: str) -> list[Found]:
    found: dict[int, Found] = {}
    if keyline := _KEYLINE.fullmatch(text):
        return [*subscribers.people(books, [int(keyline[1])]).values()]
    if (key := id_in(text)) is not None:
        found |= subscribers.people(books, [key])
    for sought in _meanings(text):
        for each in subscribers.find(books, sought, limit=_SHOWN + 1, among_max=_AMONG_MAX):
            found.setdefault(each.subscriber_id, each)
    return list(found.values())


def _meanings(text: str) -> Iterator[Sought]:
    """Yield the possible meanings of the text, the most exact first."""
    if "@" in text:
        yield Sought(email=text)
        return
    has_digit = any(character.isdigit() for character in text)
    if len(text) <= _CODE_MAX and " " not in text:
        yield Sought(renewal_code=text)
    if " " not in text:
        yield Sought(order=text)
    if has_digit and len(text) >= _ZIP_MIN:
        yield Sought(zip_code=text)
        if " " in text:
            yield Sought(street=text)
    if any(character.isalpha() for character in text):
        yield Sought(name=text)


def _orders(books: Books, text: str) -> list[int]:
    key = id_in(text)
    return [key] if key is not None and orders.exists(books, key) else []


pages = [get("/find", find)]
