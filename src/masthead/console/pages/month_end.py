"""The end of a month: what is open, closing it, and the journal for the accountant."""

import csv
import io

from starlette.responses import Response

from masthead.books import closed_months, journal, open_items
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.pages.money import check_bills
from masthead.console.roles import Action
from masthead.contract.moments import in_words
from masthead.errors import BadInput
from masthead.web.forms import ChangedError

_MONTHS = 24


def month_end(request: PageRequest) -> Response:
    """Show the months, which of them can be closed, and the files of each."""
    check_bills(request)
    return _shown(request, Form({}))


def close(request: PageRequest) -> Response:
    """Say how a month stands, and close it once the operator is sure."""
    check_bills(request)
    form = Form(request.form)
    month, is_sure = form["month"], bool(form["sure"])
    books = request.books_for("close a month", "/month-end")
    try:
        with books.together(dry_run=not is_sure) as inside:
            done = closed_months.close(inside, month)
            said = sentence(done.sentence)
            if is_sure and said != form["will"]:
                raise ChangedError
    except ChangedError:
        form.refuse("", "Something has changed meanwhile: look again at how the month stands.")
        return _shown(request, form, 409)
    except BadInput as error:
        form.refuse("month", sentence(error))
        return _shown(request, form, 400)
    if is_sure:
        return request.go("/month-end", f"{in_words(month)} is closed.")
    return _shown(request, form, done=done, will=said)


def _shown(
    request: PageRequest,
    form: Form,
    status: int = 200,
    *,
    done: closed_months.ClosedMonth | None = None,
    will: str = "",
) -> Response:
    months = open_items.months(request.books)
    today = request.account.today
    turn = next((each.month for each in months if each.closed_on is None), None)
    return request.page(
        "month_end",
        status,
        form=form,
        months=list(reversed(months))[:_MONTHS],
        turn=turn if turn is not None and turn < today[: len(turn)] else None,
        done=done,
        will=will,
        title=in_words(done.month) if done else "",
    )


def journal_file(request: PageRequest) -> Response:
    """Send the journal of a month, as CSV or for DATEV."""
    check_bills(request)
    month, kind = request.query.get("month", ""), request.query.get("form", "csv")
    if kind not in {"csv", "datev"}:
        raise BadInput("the journal comes as csv, or for datev")
    with journal.export(request.books, journal.days_of(month)) as made:
        if kind == "datev":
            sent, name = b"".join(made.as_datev()), f"EXTF_{month}.csv"
        else:
            out = io.StringIO(newline="")
            csv.writer(out, lineterminator="\n").writerows(made.as_csv())
            sent, name = out.getvalue().encode(), f"journal-{month}.csv"
    return Response(
        sent,
        media_type="text/csv",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


pages = [
    get("/month-end", month_end),
    post("/month-end/close", close, Action.BILL),
    get("/month-end/journal", journal_file, Action.BILL),
]
