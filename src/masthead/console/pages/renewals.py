"""Renewals: the efforts of the publications, whom to write to now, and the letters' file."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import IO

from starlette.responses import Response

from masthead.books import Books
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.errors import BadInput
from masthead.loading.export import harmless
from masthead.reporting.reports import check_day
from masthead.store import Connection, audit
from masthead.store.books import catalogue, renewing
from masthead.store.books.issue import check_publication
from masthead.store.books.operation import Operation
from masthead.store.books.reports import counting

__all__ = ["pages"]

_CODE_MAX = 50


def renewals(request: PageRequest) -> Response:
    """Show the letters that are due today, and the efforts of each publication."""
    return _shown(request, Form({}))


def _shown(request: PageRequest, form: Form, status: int = 200) -> Response:
    with request.reading() as connection:
        names = _names(connection, request.account_id)
        points = renewing.efforts(connection, request.account_id, None)
        bundles = catalogue.listed(connection, request.account_id, "bundle")
    day = request.account.today
    counted = request.counted(("due", day), lambda: _due(request, day))
    return request.page(
        "renewals",
        status,
        form=form,
        names=names,
        points=points,
        offers={row[0]: row for row in bundles},
        counted=counted,
        in_all=sum(each.letters for each in counted.value or ()),
    )


def _due(request: PageRequest, day: str) -> list[renewing.Due]:
    with counting(request.store, request.account_id) as running:
        return renewing.due(running.connection, request.account_id, day)


def send(request: PageRequest) -> Response:
    """Say which letters are due, or send their file and note them as sent: both or neither.

    The file is sent only while the letters that are due are those that were said: so a second click
    does not take the next letters.
    """
    form = Form(request.form)
    publication = form.number("publication", "The publication")
    if not form.is_good:
        return _shown(request, form, 400)
    is_sure = bool(form["sure"])
    out = io.StringIO(newline="")
    with request.operation("send renewals", dry_run=not is_sure) as books:
        due = _letters_due(books, publication)
        is_sent = is_sure and bool(due) and due == form["will"]
        if is_sent:
            rows = renewing.letters(books.connection, request.account_id, books.today, publication)
            _write(out, rows, is_harmless=bool(form["for_spreadsheets"]))
            renewing.record_sent(books, publication)
        today = books.today
    if not is_sent:
        if is_sure and due:
            form.refuse("", "Other letters are due now: look again at which ones.")
        return request.page("renewals_send", 409 if is_sure else 200, form=form, will=due)
    return _file(out, f"letters-{today}{f'-{publication}' if publication else ''}.csv")


def sent(request: PageRequest) -> Response:
    """Send the file of the letters that were sent on a day once more, such as one that was lost."""
    day, today = request.query.get("day", ""), request.account.today
    form = Form({"day": day})
    try:
        check_day(day, today)
    except BadInput as error:
        form.refuse("day", sentence(error))
        return _shown(request, form, 400)
    out = io.StringIO(newline="")
    audit.record_reading(
        request.store,
        request.actor("renewals of a day"),
        f"letters of renewal of {day} were written once more",
        account_id=request.account_id,
    )
    with request.reading() as connection:
        rows = renewing.letters(connection, request.account_id, day, again=True)
        _write(out, rows, is_harmless=bool(request.query.get("for_spreadsheets")))
    return _file(out, f"letters-{day}.csv")


def _write(out: IO[str], rows: Iterable[Sequence[int | str | None]], *, is_harmless: bool) -> None:
    writer = csv.writer(out)
    writer.writerow(renewing.LETTER)
    writer.writerows(map(harmless, rows) if is_harmless else rows)


def _file(out: io.StringIO, name: str) -> Response:
    return Response(
        out.getvalue().encode(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _letters_due(books: Operation, publication: int | None) -> str:
    """Return a sentence with the letters that are due today; '' if none is."""
    if publication is not None:
        check_publication(books.connection, books.account_id, publication)
    due = renewing.due(books.connection, books.account_id, books.today, publication)
    names = _names(books.connection, books.account_id)
    return "; ".join(
        f"{names[each.publication_id]}, effort {each.effort}: {each.letters:,} "
        f"{'letter' if each.letters == 1 else 'letters'}"
        for each in due
    )


def _names(connection: Connection, account_id: int) -> dict[int, str]:
    """Return what each publication is called, by its id."""
    rows = catalogue.listed(connection, account_id, "publication")
    return {row[0]: row[1] or f"Publication {row[0]}" for row in rows}


def _state(books: Books, key: int) -> State:
    with books.read() as reading:
        check_publication(reading.connection, reading.account_id, key)
        points = renewing.efforts(reading.connection, reading.account_id, key)
    return {
        "efforts": "; ".join(
            f"{each.effort} at {each.issues_left}"
            + ("" if each.bundle_id is None else f", bundle {each.bundle_id}")
            + ("" if each.key_code is None else f", key code {each.key_code}")
            for each in points
        )
    }


def _set(books: Books, key: int, form: Form) -> str:
    effort = form.number("effort", "The effort", at_least=1, at_most=1_000)
    left = form.number("issues_left", "Issues left", at_least=-1_000, at_most=1_000)
    bundle_id = form.number("bundle_id", "The bundle")
    key_code = form["key_code"].strip()
    if effort is None:
        form.refuse("effort", "The number of the effort is needed.")
    if left is None and not form["remove"]:
        form.refuse("issues_left", "Say at how many issues left it is due.")
    if len(key_code) > _CODE_MAX or not key_code.isprintable():
        form.refuse("key_code", f"A key code has at most {_CODE_MAX} characters.")
    if not form.is_good or effort is None:
        return ""
    if form["remove"]:
        with books.change() as change:
            renewing.remove_effort(change, key, effort)
        return f"Effort {effort} was removed."
    assert left is not None
    point = renewing.Point(key, effort, left, bundle_id, key_code or None)
    with books.change() as change:
        renewing.set_effort(change, point)
    return f"Effort {effort} is due at {left} issues left."


pages = [
    get("/renewals", renewals),
    post("/renewals/send", send, Action.RENEW),
    get("/renewals/sent", sent, Action.RENEW),
    *pages_of(
        RecordForm(
            "/renewals/{id:int}/effort",
            "Efforts of a publication",
            "Save",
            Action.RENEW,
            (
                Field("effort", "Number of the effort", "number"),
                Field(
                    "issues_left",
                    "Due at issues left",
                    "text",
                    "0 with the last issue, -2 two issues after it.",
                ),
                Field(
                    "bundle_id",
                    "Bundle that the letter offers",
                    "number",
                    "Its number in the catalogue; empty for a letter without an offer.",
                ),
                Field("key_code", "Key code", "text", "Printed in the letter."),
                Field("remove", "Remove this effort", "check"),
            ),
            _state,
            _set,
            lambda _key, _state: "/renewals",
            lambda key, _state: f"publication {key}",
            "Who is late gets the effort that fits what is left now, never an earlier one.",
        )
    ),
]
