"""Merging two readers who are the same person: both side by side, and what becomes of both."""

from typing import NamedTuple

from starlette.responses import Response

from masthead.books import finding, subscribers
from masthead.books.finding import Side
from masthead.books.subscribers import Merged
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.person_picker import choose, chosen_person, is_finding, look_up_people
from masthead.console.roles import Action
from masthead.errors import BadInput
from masthead.web.forms import id_in


class _Merging(NamedTuple):
    """Two readers as they are, the one who is kept first, and what merging them does."""

    kept: Side
    gone: Side
    done: Merged


def show(request: PageRequest) -> Response:
    """Ask who the same person is; the URL can name that reader."""
    form = Form({})
    if (other := id_in(request.query.get("other", ""))) is not None:
        choose(form, "other", other)
    return _shown(request, form)


def merge(request: PageRequest) -> Response:
    """Show what merging does; do it if the operator is sure and it does what was shown."""
    form, key = Form(request.form), int(request.ids["id"])
    other = chosen_person(form, "other", is_needed=True)
    if is_finding(form) or other is None:
        return _shown(request, form, 200 if is_finding(form) else 400)
    kept, gone = (other, key) if form["kept"] == "other" else (key, other)
    then = f"/subscribers/{kept}"
    books = request.books_for("merge", then)
    merging = None
    with form.refusing("other"), books.together(dry_run=not form["sure"]) as inside:
        both = finding.sides(inside, {kept: "", gone: ""})
        done = subscribers.merge(inside, kept, gone, keep_both=bool(form["keep_both"]))
        merging = _Merging(both[0], both[1], done)
        if form["sure"] and done.sentence != form["will"]:
            raise BadInput("this is not what was shown before: look at it again, then merge")
    if form["sure"] and form.is_good:
        return request.go(then, "The two readers are one now.")
    return _shown(request, form, 200 if form.is_good else 400, merging)


def _shown(
    request: PageRequest, form: Form, status: int = 200, merging: _Merging | None = None
) -> Response:
    key = int(request.ids["id"])
    with request.books.snapshot() as inside:
        subscribers.names(inside, key)
        (reader,) = finding.by_ids(inside, [key])
        look_up_people(inside, form, "other")
        alike = finding.likely_duplicates(inside, key)
    return request.page(
        "merge", status, form=form, key=key, reader=reader, merging=merging, alike=alike
    )


pages = [
    get("/subscribers/{id:int}/merge", show, Action.SERVE),
    post("/subscribers/{id:int}/merge", merge, Action.SERVE),
]
