"""The forms of the readers' pages, as a page shows them and as they are saved.

A form that changes what a reader cannot foresee shows first what happens. It is saved once
(decisions, "A form is saved once").
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from starlette.responses import Response

from masthead.books.reader_home import Home, Subscription
from masthead.errors import BadInput, NotFound
from masthead.readers.forms import Form
from masthead.readers.page_request import PageRequest

Pairs = Sequence[tuple[str, str]]
"""Labels and texts, as a list of facts shows them."""


class Field(NamedTuple):
    """A field of a form; ``options`` are the value, the text and the hint of each choice.

    ``kind`` is that of an input of HTML, or ``choice``, ``radios``, ``check`` or ``area``.
    ``complete`` is what the browser may fill in; ``least`` and ``most`` limit a day.
    """

    name: str
    label: str
    kind: str = "text"
    hint: str = ""
    options: Sequence[tuple[str, str, str]] = ()
    required: bool = False
    complete: str = ""
    mode: str = ""
    least: str = ""
    most: str = ""


class FormPage(NamedTuple):
    """A form about one thing, as its page shows it.

    ``back`` is the path in the site to which the reader returns, and ``back_title`` its title.
    ``facts`` say how it is now, ``will`` says what happens then, ``about`` and ``below`` are
    sentences above and below the form. A form without a ``button`` cannot be sent.
    """

    title: str
    button: str = ""
    fields: Sequence[Field] = ()
    subject: str = ""
    back: str = ""
    back_title: str = ""
    about: Sequence[str] = ()
    below: Sequence[str] = ()
    facts: Pairs = ()
    will: Pairs = ()
    hidden: Pairs = ()
    is_danger: bool = False


def show(
    request: PageRequest, page: FormPage, form: Form, template: str = "form", **values: Any
) -> Response:
    """Return the page of a form; its status is 400 if the form was refused."""
    shown = page._asdict()
    shown["back_title"] = page.back_title or request.gettext("Your subscriptions")
    return request.page(template, 400 if form.errors else 200, form=form, **shown, **values)


def save(
    request: PageRequest,
    form: Form,
    change: Callable[[], str],
    then: str,
) -> Response | None:
    """Return the redirect to the page ``then`` of the site after a change.

    ``change`` makes it and returns its message. Returns None if it was refused; the errors stand
    in the form.
    """
    with form.refusing():
        return request.go(request.at(then), change())
    return None


@contextmanager
def trying(form: Form) -> Iterator[None]:
    """Try a change; what refuses it stands above the form, since no field is wrong yet."""
    try:
        yield
    except BadInput as error:
        form.refuse("", form.sentence(error))


def own_subscription(request: PageRequest) -> tuple[Home, Subscription]:
    """Return what the reader has, and the subscription that the path names.

    Raises NotFound if it is not the reader's.
    """
    home = request.home
    found = home.subscription(request.ids["id"])
    if found is None:
        raise NotFound("there is no such subscription")
    return home, found


def days_before_and_after(request: PageRequest, before: str | None, after: str | None) -> Pairs:
    """Return the last day of a subscription before and after a change, as facts."""
    words = request.words
    return (
        (request.gettext("Last day until now"), words.day(before)),
        (request.gettext("Last day then"), words.day(after)),
    )
