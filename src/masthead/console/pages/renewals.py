"""Renewals: the letters of each publication, those that are due, and their file.

The console calls an effort a letter: *letter 2* is the one of effort 2.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import IO

from starlette.responses import Response

from masthead.books import Books, catalogue, efforts, renewal_letters
from masthead.books import renewals as operations
from masthead.console.effort_form import EffortForm, effort_pages
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.record_forms import Choices, Field, State
from masthead.console.roles import Action
from masthead.contract.printable import counted as counted_of
from masthead.errors import BadInput
from masthead.loading.export import harmless


def renewals(request: PageRequest) -> Response:
    """Show the letters that are due today and the efforts of each publication."""
    return _shown(request, Form({}))


def _shown(request: PageRequest, form: Form, status: int = 200) -> Response:
    with request.books.snapshot() as inside:
        names = _names(inside)
        found = operations.efforts(inside)
    day = request.account.today
    counted = request.counted(("due", day), lambda: operations.due(request.books))
    return request.page(
        "renewals",
        status,
        form=form,
        names=names,
        efforts=found,
        counted=counted,
        in_all=sum(each.letters for each in counted.value or ()),
    )


def send(request: PageRequest) -> Response:
    """Preview the letters that are due, or send their file and note them as sent: both or neither.

    The file is sent only if the due letters are still those of the preview. So a second click
    does not send the next letters.
    """
    form = Form(request.form)
    publication = form.number("publication", "The publication")
    if not form.is_good:
        return _shown(request, form, 400)
    is_sure = bool(form["sure"])
    if is_sure and form["as"] == "pdf":
        return _send_printed(request, form, publication)
    out = io.StringIO(newline="")

    def write(letters: Iterator[operations.Letter]) -> None:
        _write(out, letters, is_raw=bool(form["raw"]))

    with request.books_for("send renewals").together(dry_run=not is_sure) as inside:
        due = _letters_due(inside, operations.due(inside, publication))
        is_sent = is_sure and bool(due) and due == form["will"]
        if is_sent:
            operations.send(inside, write, publication)
    if not is_sent:
        if is_sure and due:
            form.refuse("", "Other letters are due now: look again at which ones.")
        return request.page("renewals_send", 409 if is_sure else 200, form=form, will=due)
    return _file(
        out, f"letters-{request.account.today}{f'-{publication}' if publication else ''}.csv"
    )


def _send_printed(request: PageRequest, form: Form, publication: int | None) -> Response:
    """Note the letters as sent, queue those by email, and lead to the PDFs of the others."""
    of_day = f"/renewals/letters/day?kind=renewal&day={request.account.today}"
    books = request.books_for("send renewals", of_day)
    with request.books.snapshot() as inside:
        due = operations.due(inside, publication)
        will = _letters_due(inside, due)
    try:
        if will != form["will"]:
            raise BadInput("other letters are due now: look again at which ones")
        sent = renewal_letters.send(books, publication, seen=due)
    except BadInput as error:
        form.refuse("", sentence(error))
        return request.page("renewals_send", 409, form=form, will=will)
    number = counted_of(
        sum(each.letters for each in sent), "letter of renewal", "letters of renewal"
    )
    day = request.account.today
    return request.go(f"/renewals/letters/day?kind=renewal&day={day}", f"{number} noted as sent.")


def sent(request: PageRequest) -> Response:
    """Send the file of the letters of one day again, for example if it was lost."""
    day = request.query.get("day", "")
    form, out = Form({"day": day}), io.StringIO(newline="")
    books = request.books_for("renewals of a day")
    try:
        with operations.written_letters(books, sent_on=day) as letters:
            _write(out, letters.rows, is_raw=bool(request.query.get("raw")))
    except BadInput as error:
        form.refuse("day", sentence(error))
        return _shown(request, form, 400)
    return _file(out, f"letters-{day}.csv")


def _write(out: IO[str], rows: Iterator[operations.Letter], *, is_raw: bool) -> None:
    writer = csv.writer(out)
    writer.writerow(operations.LETTER)
    writer.writerows(rows if is_raw else map(harmless, rows))


def _file(out: io.StringIO, name: str) -> Response:
    return Response(
        out.getvalue().encode(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _letters_due(books: Books, due: Sequence[operations.Due]) -> str:
    """Return a sentence about letters that are due; '' if there are none."""
    names = _names(books)
    return "; ".join(
        f"{names[each.publication_id]}, letter {each.effort}: {counted_of(each.letters, 'time')}"
        for each in due
    )


def _names(books: Books) -> dict[int, str]:
    """Return the name of each publication, by its id."""
    return {
        each.publication_id: each.name or f"Publication {each.publication_id}"
        for each in catalogue.publications(books)
    }


def _name(books: Books, key: int) -> str:
    return _names(books).get(key, f"publication {key}")


def _bundles(books: Books) -> State:
    offered = [bundle for bundle, _ in catalogue.bundles(books) if bundle.is_active]
    return {
        "bundle_id": Choices(
            (str(each.bundle_id), each.name or f"Bundle {each.bundle_id}") for each in offered
        )
    }


def _known(books: Books, key: int) -> dict[int, str]:
    return {
        effort.effort: _said(effort, bundle) for effort, bundle in operations.efforts(books, key)
    }


def _said(effort: operations.Effort, bundle: catalogue.Bundle | None) -> str:
    """Return when a letter is due, and what it names."""
    code = f", with the code {effort.key_code}" if effort.key_code else ""
    return f"{effort.when}{code}{f', for {bundle.name}' if bundle and bundle.name else ''}"


def _put(books: Books, key: int, number: int, form: Form) -> None:
    left = form.number("issues_left", "Issues left")
    bundle_id = form.number("bundle_id", "The bundle")
    if left is None:
        form.refuse("issues_left", "Say at how many issues left it is due.")
    elif form.is_good:
        changed = operations.Effort(key, number, left, bundle_id, form["key_code"] or None)
        operations.set_effort(books, changed)


pages = [
    get("/renewals", renewals),
    post("/renewals/send", send, Action.RENEW),
    get("/renewals/sent", sent, Action.RENEW),
    *effort_pages(
        EffortForm(
            efforts.RENEWAL,
            "/renewals/{id:int}/effort",
            "/renewals",
            "Letters of a publication",
            "letter",
            "A late reader gets the letter that fits what is left now, never an earlier one.",
            (
                Field(
                    "issues_left",
                    "Due at issues left",
                    "text",
                    "0 with the last issue, -2 two issues after it.",
                ),
                Field(
                    "bundle_id",
                    "Bundle that the letter names",
                    "choice",
                    "Empty for a letter without a bundle.",
                ),
                Field(
                    "key_code",
                    "Code in the letter",
                    "text",
                    "An answer that names it says which letter it is to.",
                ),
            ),
            _name,
            _known,
            _bundles,
            _put,
        )
    ),
]
