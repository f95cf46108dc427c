"""Issues: closing an issue after a preview, its mail file, gap lists, and reopening."""

import datetime as dt
from collections.abc import Sequence

from starlette.responses import Response

from masthead.books import Books, complaints, qualification_forms
from masthead.books import issues as operations
from masthead.books.issues import Grace, Issue, MailingList, Preview
from masthead.console.account_figures import Counted
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action
from masthead.contract.subscription_types import DIGITAL, PRINTED
from masthead.errors import BadInput
from masthead.loading.mail_files import Wanted, write_mail_file
from masthead.web.downloads import FORMS, download

_CLOSED_SHOWN = 12
_SHOWN = 200


def planned(found: list[Issue]) -> list[Issue]:
    """Return the issues that are not closed, in the order of closing.

    The order is by closing day, or by issue date where the issue has no closing day.
    """
    return sorted(
        (each for each in found if not each.closed_at and (each.closes_on or each.date)),
        key=lambda each: (each.closes_on or each.date, each.issue_id),
    )


def issues(request: PageRequest) -> Response:
    """Show the coming issues and the closed issues."""
    found = operations.all_of(request.books)
    closed = sorted((each for each in found if each.closed_at), key=lambda each: each.date)
    return request.page(
        "issues",
        open_issues=planned(found),
        closed=closed[::-1][:_CLOSED_SHOWN],
        closed_in_all=len(closed),
    )


def issue(request: PageRequest) -> Response:
    """Show one issue: its lists, and the available actions."""
    return _shown(request, Form({}))


def _shown(request: PageRequest, form: Form, status: int = 200) -> Response:
    found, lists = operations.show(request.books, _id(request))
    day = dt.date.fromisoformat(found.date)
    half_a_year_before = day - min(dt.timedelta(days=180), day - dt.date.min)
    form.values.setdefault("grace_issues", "0")
    form.values.setdefault("grace_from", half_a_year_before.isoformat())
    counted: Counted[Preview | str] = Counted(None, None, is_current=True)
    if not found.closed_at:
        key = ("preview", found.issue_id, request.account.today)
        counted = request.counted(key, lambda: _previewed(request.books, found.issue_id))
    made = counted.value if isinstance(counted.value, Preview) else None
    return request.page(
        "issue",
        status,
        issue=found,
        lists=lists,
        has_audit=found.publication_id in qualification_forms.publications(request.books),
        complaints=complaints.about(request.books, found.issue_id),
        form=form,
        counted=counted,
        made=made,
        refused=counted.value if isinstance(counted.value, str) else "",
        names=_names(request, made),
        held_shown=_SHOWN,
    )


def _previewed(books: Books, issue_id: int) -> Preview | str:
    """Return what closing would give, or a sentence that says why the issue cannot be closed."""
    try:
        return operations.preview(books, issue_id)
    except BadInput as error:
        return sentence(error)


def _names(request: PageRequest, made: Preview | MailingList | None) -> dict[int, str]:
    return operations.names_of_readers(request.books, made.held[:_SHOWN] if made else [])


def close(request: PageRequest) -> Response:
    """Preview the closing, or close the issue."""
    form = Form(request.form)
    grace_issues = form.number("grace_issues", "Grace issues") or 0
    since = form.day("grace_from", "The day")
    if not form.is_good:
        return _shown(request, form, 400)
    is_sure = bool(form["sure"])
    made = None
    with form.refusing():
        made = operations.close(
            request.books_for("close an issue", _path(request)),
            _id(request),
            Grace(grace_issues, since if grace_issues else None),
            dry_run=not is_sure,
        )
    return _made(request, form, made, "close", is_sure=is_sure)


def gap(request: PageRequest) -> Response:
    """Preview a gap list, or make it."""
    form, made = Form(request.form), None
    is_sure = bool(form["sure"])
    with form.refusing():
        made = operations.make_gap_list(
            request.books_for("make a gap list", _path(request)), _id(request), dry_run=not is_sure
        )
    return _made(request, form, made, "gap", is_sure=is_sure)


def _made(
    request: PageRequest, form: Form, made: MailingList | None, what: str, *, is_sure: bool
) -> Response:
    if made is None:
        return _shown(request, form, 400)
    if is_sure:
        return request.go(_path(request), sentence(made.sentence))
    found, _ = operations.show(request.books, _id(request))
    return request.page(
        "issue_preview",
        issue=found,
        made=made,
        what=what,
        form=form,
        printed=_copies(made, PRINTED),
        digital=_copies(made, DIGITAL),
        names=_names(request, made),
        held_shown=_SHOWN,
    )


def _copies(made: MailingList, types: Sequence[str]) -> int:
    return sum(run.copies for run in made.press_run if run.type in types)


def reopen(request: PageRequest) -> Response:
    """Preview what reopening undoes, or reopen the issue."""
    form, done = Form(request.form), None
    is_sure = bool(form["sure"])
    with form.refusing():
        done = operations.reopen(
            request.books_for("reopen an issue", _path(request)), _id(request), dry_run=not is_sure
        )
    if done is None:
        return _shown(request, form, 400)
    if is_sure:
        return request.go(_path(request), sentence(done.sentence))
    found, _ = operations.show(request.books, _id(request))
    return request.page("issue_reopen", issue=found, done=done)


def file(request: PageRequest) -> Response:
    """Write the mail file of a list and send it."""
    form = Form(request.form)
    kind = form.choice("form", "The form", FORMS)
    key = form.number("list", "The list")
    if not form.is_good:
        return _shown(request, form, 400)
    is_digital = bool(form["digital"])
    name = f"issue-{_id(request)}{f'-list-{key}' if key else ''}{'-digital' if is_digital else ''}"
    wanted = Wanted(_id(request), key, is_digital, bool(form["raw"]))
    books = request.books_for("write a mail file")
    with form.refusing():
        return download(f"{name}.{kind}", lambda path: write_mail_file(books, wanted, path))
    return _shown(request, form, 400)


def _id(request: PageRequest) -> int:
    return int(request.ids["id"])


def _path(request: PageRequest) -> str:
    return f"/issues/{_id(request)}"


pages = [
    get("/issues", issues),
    get("/issues/{id:int}", issue),
    post("/issues/{id:int}/close", close, Action.CLOSE),
    post("/issues/{id:int}/gap", gap, Action.CLOSE),
    post("/issues/{id:int}/reopen", reopen, Action.CLOSE),
    post("/issues/{id:int}/file", file, Action.CLOSE),
]
