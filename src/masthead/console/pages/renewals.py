"""Renewals: the letters of each publication, those that are due, and their file.

The console calls an effort a letter: *letter 2* is the one of effort 2.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import IO

from starlette.responses import Response

from masthead.books import Books, catalogue
from masthead.books import renewals as operations
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.record_forms import Choices, Field, RecordForm, State, pages_of
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
        efforts = operations.efforts(inside)
    day = request.account.today
    counted = request.counted(("due", day), lambda: operations.due(request.books))
    return request.page(
        "renewals",
        status,
        form=form,
        names=names,
        efforts=efforts,
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
    out = io.StringIO(newline="")

    def write(letters: Iterator[operations.Letter]) -> None:
        _write(out, letters, is_raw=bool(form["raw"]))

    with request.books_for("send renewals").together(dry_run=not is_sure) as inside:
        due = _letters_due(inside, publication)
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


def _letters_due(books: Books, publication_id: int | None) -> str:
    """Return a sentence about the letters that are due today; '' if there are none."""
    names = _names(books)
    return "; ".join(
        f"{names[each.publication_id]}, letter {each.effort}: {counted_of(each.letters, 'time')}"
        for each in operations.due(books, publication_id)
    )


def _names(books: Books) -> dict[int, str]:
    """Return the name of each publication, by its id."""
    return {
        each.publication_id: each.name or f"Publication {each.publication_id}"
        for each in catalogue.publications(books)
    }


def _state(books: Books, key: int) -> State:
    with books.snapshot() as inside:
        offered = [bundle for bundle, _ in catalogue.bundles(inside) if bundle.is_active]
        return {
            "effort": _letters(operations.efforts(inside, key)),
            "publication": _names(inside).get(key, f"publication {key}"),
            "bundle_id": Choices(
                (str(each.bundle_id), each.name or f"Bundle {each.bundle_id}") for each in offered
            ),
        }


def _letters(efforts: Sequence[tuple[operations.Effort, catalogue.Bundle | None]]) -> Choices:
    """Return the letters as choices, with those whose numbers are free, up to the next one."""
    known = {effort.effort: _said(effort, bundle) for effort, bundle in efforts}
    numbers = range(1, max(known, default=0) + 2)
    return Choices(
        (str(each), f"Letter {each}: {known.get(each, 'a new one')}") for each in numbers
    )


def _said(effort: operations.Effort, bundle: catalogue.Bundle | None) -> str:
    """Return when a letter is due, and what it names."""
    issues = counted_of(abs(effort.issues_left), "issue")
    when = f"{issues} after the last one" if effort.issues_left < 0 else f"at {issues} left"
    if not effort.issues_left:
        when = "with the last issue"
    code = f", with the code {effort.key_code}" if effort.key_code else ""
    return f"{when}{code}{f', for {bundle.name}' if bundle and bundle.name else ''}"


def _set(books: Books, key: int, form: Form) -> str:
    effort = form.number("effort", "The letter")
    left = form.number("issues_left", "Issues left", at_least=-(10**9))
    bundle_id = form.number("bundle_id", "The bundle")
    if effort is None:
        form.refuse("effort", "Say which letter.")
    if left is None and not form["remove"]:
        form.refuse("issues_left", "Say at how many issues left it is due.")
    if not form.is_good or effort is None:
        return ""
    if form["remove"]:
        operations.remove_effort(books, key, effort)
        return f"letter {effort} was removed"
    assert left is not None
    changed = operations.Effort(key, effort, left, bundle_id, form["key_code"] or None)
    operations.set_effort(books, changed)
    bundle = next(of for each, of in operations.efforts(books, key) if each.effort == effort)
    return f"letter {effort} is due {_said(changed, bundle)}"


pages = [
    get("/renewals", renewals),
    post("/renewals/send", send, Action.RENEW),
    get("/renewals/sent", sent, Action.RENEW),
    *pages_of(
        RecordForm(
            "/renewals/{id:int}/effort",
            "Letters of a publication",
            "Save",
            Action.RENEW,
            (
                Field("effort", "Letter", "choice"),
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
                Field("remove", "Remove this letter", "check"),
            ),
            _state,
            _set,
            lambda _key, _state: "/renewals",
            lambda _key, state: str(state["publication"]),
            "Who is late gets the letter that fits what is left now, never an earlier one.",
        )
    ),
]
