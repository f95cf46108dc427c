"""Issues: closing one after a look at what it gives, its file, gap lists and reopening."""

import datetime as dt
from collections.abc import Sequence
from contextlib import ExitStack

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action
from masthead.contract.subscription_types import DIGITAL, PRINTED
from masthead.errors import BadInput
from masthead.loading.mail_files import Wanted, write_mail_file
from masthead.store.books import closing
from masthead.store.books.closing import Grace, MailingList
from masthead.store.books.issue import Issue, find_issue, issues_of
from masthead.store.books.operation import Reading
from masthead.store.books.reopening import reopen_issue
from masthead.store.console_facts import lists_of_issue
from masthead.temporary import own_folder

__all__ = ["pages", "planned"]

_CLOSED_SHOWN = 12
_SHOWN = 200
_FORMS = ("csv", "xlsx")
_FOLDERS = "masthead-console-"
_FREE_BYTES_MIN = 1024**3


def planned(found: list[Issue]) -> list[Issue]:
    """Return the issues that are not closed, the next to be closed first.

    That is by the day on which one is to be closed, or by its date where none was noted.
    """
    return sorted(
        (each for each in found if not each.closed_at and (each.closes_on or each.date)),
        key=lambda each: (each.closes_on or each.date, each.issue_id),
    )


def issues(request: PageRequest) -> Response:
    """Show the issues to come and those that were closed."""
    with request.reading() as connection:
        found = issues_of(Reading(request.store, connection, request.account_id))
    closed = sorted((each for each in found if each.closed_at), key=lambda each: each.date)
    return request.page(
        "issues",
        open_issues=planned(found),
        closed=closed[::-1][:_CLOSED_SHOWN],
        closed_in_all=len(closed),
    )


def issue(request: PageRequest) -> Response:
    """Show one issue: its lists, and what can be done with it."""
    return _shown(request, Form({}))


def _shown(request: PageRequest, form: Form, status: int = 200) -> Response:
    with request.reading() as connection:
        found = find_issue(Reading(request.store, connection, request.account_id), _id(request))
        lists = lists_of_issue(connection, request.account_id, found.mailing_list_id)
    half_a_year_before = dt.date.fromisoformat(found.date) - dt.timedelta(days=180)
    form.values.setdefault("grace_issues", "0")
    form.values.setdefault("grace_from", half_a_year_before.isoformat())
    return request.page("issue", status, issue=found, lists=lists, form=form)


def close(request: PageRequest) -> Response:
    """Show what closing gives, or close the issue."""
    form = Form(request.form)
    issues_ = form.number("grace_issues", "Grace issues", at_most=1_000) or 0
    since = form.day("grace_from", "The day")
    if issues_ and not since:
        form.refuse("grace_from", "Say since when a last issue counts for grace.")
    if not form.is_good:
        return _shown(request, form, 400)
    is_sure = bool(form["sure"])
    made = None
    with form.refusing():
        made = closing.close_issue(
            request.store,
            request.account_id,
            _id(request),
            grace=Grace(issues_, since if issues_ else None),
            actor=request.actor("close an issue"),
            dry_run=not is_sure,
        )
    return _made(request, form, made, "close", is_sure=is_sure)


def gap(request: PageRequest) -> Response:
    """Show what a gap list gives, or make it."""
    form, made = Form(request.form), None
    is_sure = bool(form["sure"])
    with form.refusing():
        made = closing.make_gap_list(
            request.store,
            request.account_id,
            _id(request),
            actor=request.actor("make a gap list"),
            dry_run=not is_sure,
        )
    return _made(request, form, made, "gap", is_sure=is_sure)


def _made(
    request: PageRequest, form: Form, made: MailingList | None, what: str, *, is_sure: bool
) -> Response:
    if made is None:
        return _shown(request, form, 400)
    key = _id(request)
    if is_sure:
        entries = f"{made.entries:,} entries"
        said = f"List {made.mailing_list_id} was made: {entries}."
        if made.mailing_list_id is None:
            said = "Nobody is to get the issue now: no list was made."
        return request.go(f"/issues/{key}", said)
    with request.reading() as connection:
        found = find_issue(Reading(request.store, connection, request.account_id), key)
    return request.page(
        "issue_preview",
        issue=found,
        made=made,
        what=what,
        form=form,
        printed=_copies(made, PRINTED),
        digital=_copies(made, DIGITAL),
        exceptions=made.exceptions[:_SHOWN],
    )


def _copies(made: MailingList, types: Sequence[str]) -> int:
    return sum(run.copies for run in made.runs if run.type in types)


def reopen(request: PageRequest) -> Response:
    """Say what reopening undoes, or undo it."""
    form, done = Form(request.form), None
    is_sure = bool(form["sure"])
    with form.refusing():
        done = reopen_issue(
            request.store,
            request.account_id,
            _id(request),
            actor=request.actor("reopen an issue"),
            dry_run=not is_sure,
        )
    if done is None:
        return _shown(request, form, 400)
    lists = "1 list" if done.lists == 1 else f"{done.lists} lists"
    undone = f"{done.deliveries:,} deliveries of {lists}"
    if is_sure:
        return request.go(
            f"/issues/{_id(request)}", f"The issue is open again: {undone} were undone."
        )
    with request.reading() as connection:
        found = find_issue(Reading(request.store, connection, request.account_id), _id(request))
    return request.page("issue_reopen", issue=found, undone=undone)


def file(request: PageRequest) -> Response:
    """Write the mail file of a list, and send it."""
    form = Form(request.form)
    kind = form.choice("form", "The form", _FORMS)
    key = form.number("list", "The list")
    if not form.is_good:
        return _shown(request, form, 400)
    until_sent = ExitStack()
    folder = until_sent.enter_context(own_folder(_FOLDERS, needed=_FREE_BYTES_MIN))
    is_digital = bool(form["digital"])
    name = f"issue-{_id(request)}{f'-list-{key}' if key else ''}{'-digital' if is_digital else ''}"
    path = folder / f"{name}.{kind}"
    wanted = Wanted(_id(request), key, is_digital, bool(form["for_spreadsheets"]))
    try:
        write_mail_file(
            request.store, request.account_id, wanted, path, by=request.actor("write a mail file")
        )
    except BadInput as error:
        until_sent.close()
        form.refuse("", f"{error}.")
        return _shown(request, form, 400)
    except BaseException:
        until_sent.close()
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(until_sent.close))


def _id(request: PageRequest) -> int:
    return int(request.ids["id"])


pages = [
    get("/issues", issues),
    get("/issues/{id:int}", issue),
    post("/issues/{id:int}/close", close, Action.CLOSE),
    post("/issues/{id:int}/gap", gap, Action.CLOSE),
    post("/issues/{id:int}/reopen", reopen, Action.CLOSE),
    post("/issues/{id:int}/file", file, Action.CLOSE),
]
