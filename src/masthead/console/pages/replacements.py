"""Copies that are sent again: asking for one, those that wait, and their files."""

from collections.abc import Iterable

from starlette.responses import Response

from masthead.books import Books, replacements, subscribers, subscriptions
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.record_forms import Choices, Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.contract.moments import with_day
from masthead.contract.printable import counted, full_name
from masthead.errors import BadInput
from masthead.loading.mail_files import write_replacements
from masthead.web.downloads import FORMS, download

_ISSUES = 12


def show(request: PageRequest) -> Response:
    """Show the copies that wait for the next file, and the newest files."""
    return _shown(request, Form({}))


def _shown(request: PageRequest, form: Form, status: int = 200) -> Response:
    with request.books.snapshot() as inside:
        waiting, files = replacements.waiting(inside), replacements.files(inside)
    return request.page(
        "replacements", status, form=form, waiting=waiting, files=files, titled=with_day
    )


def remove(request: PageRequest) -> Response:
    """Remove copies that wait."""
    then = "/replacements"
    replacements.remove(request.books_for("remove a replacement", then), int(request.ids["id"]))
    return request.go(then, "The copy is not sent.")


def file(request: PageRequest) -> Response:
    """Write the file of the copies that wait, or a former file again, and send it."""
    form = Form(request.form)
    kind = form.choice("form", "The form", FORMS)
    if not form.is_good:
        return _shown(request, form, 400)
    books, former = request.books_for("write a file of replacements"), form["written_at"] or None
    with form.refusing():
        return download(
            f"replacements.{kind}", lambda path: write_replacements(books, path, former)
        )
    return _shown(request, form, 400)


def issues_in(received: Iterable[replacements.Received]) -> Choices:
    """Return the issues that a subscription received as choices."""
    return Choices(
        (str(each.issue_id), with_day(each.name or "issue", each.date)) for each in received
    )


def _state(books: Books, key: int) -> State:
    values = subscriptions.show(books, key).fields
    found = replacements.received(books, key, limit=_ISSUES)
    if not found:
        raise BadInput("no issue came yet: there is no copy to send again")
    return {
        "issue": issues_in(found),
        "subscriber_id": values["subscriber_id"],
        "publication": values["publication"],
        "name": full_name(values) or subscribers.named(books, int(str(values["subscriber_id"]))),
    }


def _send_again(books: Books, key: int, form: Form) -> str:
    issue = form.number("issue", "The issue")
    copies = form.number("copies", "Copies")
    if issue is None:
        form.refuse("issue", "Say which issue is sent again.")
    if not form.is_good or issue is None:
        return ""
    done = replacements.send_again(books, key, issue, 1 if copies is None else copies)
    state = _state(books, key)
    issues = state["issue"]
    names = dict(issues) if isinstance(issues, Choices) else {}
    goes = counted(done.copies, "copy goes", "copies go")
    return (
        f"{state['publication']}, {names.get(str(issue), 'the issue')}: {goes} to {state['name']} "
        "again, with the next file of replacements"
    )


pages = [
    get("/replacements", show),
    post("/replacements/file", file, Action.CLOSE),
    post("/replacements/{id:int}/remove", remove, Action.SERVE),
    *pages_of(
        RecordForm(
            "/subscriptions/{id:int}/replacement",
            "Send a copy again",
            "Send it again",
            Action.SERVE,
            (
                Field("issue", "Issue", "choice"),
                Field("copies", "Copies", "number", "One if it is left empty."),
            ),
            _state,
            _send_again,
            lambda _key, state: f"/subscribers/{state['subscriber_id']}",
            lambda _key, state: f"{state['publication']}, {state['name']}",
            "A lost or damaged copy comes once more, to the address of the day on which the file "
            "of replacements is written. The subscription loses no issue.",
        )
    ),
]
