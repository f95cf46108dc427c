"""Issues: listing them, closing, gap lists, reopening, and the rows of a mail file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.credit_notes import credit_orders, revenue_mark
from masthead.contract import subscription_types
from masthead.errors import BadInput, BadUsage
from masthead.store.billing.ended import orders_ended_with
from masthead.store.billing.settings import is_billing
from masthead.store.books import audit_figures, issue_lists, mail_file
from masthead.store.books.cancelling import end_due
from masthead.store.books.closing import (
    MailingList,
    check_open,
    deliver,
    write_expiry_after_closing,
    write_expiry_of_gap_list,
)
from masthead.store.books.held import Held
from masthead.store.books.issue import Issue, check_publication, find_issue, issues_of
from masthead.store.books.issue_lists import EntryShown, ListShown
from masthead.store.books.mail_file import DIGITAL, PRINTED, Written
from masthead.store.books.operation import Operation
from masthead.store.books.qualified_copies import would_lapse
from masthead.store.books.reopening import Reopened, Undoing, check_reopening
from masthead.store.books.served_subscriptions import Grace, PressRunPart, Serving, names_of
from masthead.store.books.uncancelling import finalize, go_back
from masthead.store.database import Row

__all__ = [
    "DIGITAL",
    "GRACE_ISSUES_MAX",
    "PRINTED",
    "EntryShown",
    "Grace",
    "Held",
    "Issue",
    "ListShown",
    "MailingList",
    "PressRunPart",
    "Preview",
    "Reopened",
    "Written",
    "all_of",
    "close",
    "list_with_entries",
    "lists",
    "mail_file_rows",
    "make_gap_list",
    "mark_written",
    "names_of_readers",
    "preview",
    "reopen",
    "show",
]

GRACE_ISSUES_MAX = 1_000


class Preview(NamedTuple):
    """What closing an issue would give now: its press run, and the held subscriptions.

    ``lapsed`` readers would get no copies any more since their qualification has ended.
    """

    press_run: list[PressRunPart]
    held: list[Held]
    lapsed: int = 0

    @property
    def entries(self) -> int:
        """The number of subscriptions that would get the issue."""
        return sum(part.entries for part in self.press_run)

    @property
    def printed(self) -> int:
        """The number of printed copies, those of the type Both included."""
        return sum(
            part.copies for part in self.press_run if part.type in subscription_types.PRINTED
        )

    @property
    def digital(self) -> int:
        """The number of digital copies, those of the type Both included."""
        return sum(
            part.copies for part in self.press_run if part.type in subscription_types.DIGITAL
        )


def all_of(books: Books, publication_id: int | None = None) -> list[Issue]:
    """Return the issues of the account, or of one publication, sorted by publication and date.

    Raises NotFound if there is no such publication.
    """
    with books.read() as reading:
        if publication_id is not None:
            check_publication(reading, publication_id)
        return issues_of(reading, publication_id)


def show(books: Books, issue_id: int) -> tuple[Issue, list[ListShown]]:
    """Return an issue and its lists: the main list, then its gap lists.

    Raises NotFound if there is no such issue, BadInput if it has no date.
    """
    with books.read() as reading:
        found = find_issue(reading, issue_id)
        return found, issue_lists.of_issue(reading, found.mailing_list_id)


def lists(books: Books, *, before: int | None = None, limit: int) -> list[ListShown]:
    """Return at most ``limit`` lists of the account with an id below ``before``, newest first."""
    with books.read() as reading:
        return issue_lists.newest(reading, before=before, limit=limit)


def list_with_entries(
    books: Books, mailing_list_id: int, *, after: int, limit: int
) -> tuple[ListShown, int | None, list[EntryShown]]:
    """Return a list, the id of its issue, and its entries for subscriptions above ``after``.

    The id is None if the list belongs to no issue that was closed here. Raises NotFound if there is
    no such list.
    """
    with books.read() as reading:
        found = issue_lists.find(reading, mailing_list_id)
        entries = issue_lists.entries(reading, mailing_list_id, after=after, limit=limit)
        return found, issue_lists.issue_of(reading, found), entries


def close(
    books: Books, issue_id: int, grace: Grace | None = None, *, dry_run: bool = False
) -> MailingList:
    """Close an issue: make its main list, deliver it, earn the revenue (circulation, "Close").

    Raises NotFound if there is no such issue. Raises BadInput if it has no date or is closed, or if
    an earlier issue is not closed. Raises BadUsage for grace issues without a date.
    """
    grace = _checked(grace)
    with books.change(dry_run=dry_run) as change:
        issue = find_issue(change, issue_id)
        check_open(change, issue)
        finalize(change, issue)
        made = deliver(change, issue, grace)
        write_expiry_after_closing(change, issue, made)
        audit_figures.note_removals(change, issue.issue_id, issue.publication_id)
        _end_due(change, issue)
        change.say(made.sentence)
    return made


def _end_due(change: Operation, issue: Issue) -> None:
    """End the cancelled subscriptions whose last issue this was, with their credit notes."""
    mark = revenue_mark(change)
    if end_due(change, issue) and is_billing(change):
        credit_orders(change, mark, orders_ended_with(change, issue.issue_id))


def _checked(grace: Grace | None) -> Grace:
    grace = grace or Grace()
    if not 0 <= grace.issues <= GRACE_ISSUES_MAX:
        raise BadInput(f"{grace.issues} issues of grace are not from 0 to {GRACE_ISSUES_MAX:,}")
    if grace.issues and not grace.since:
        raise BadUsage(
            "issues of grace need the date since when a last issue counts",
            code="grace_without_date",
        )
    return grace


def preview(books: Books, issue_id: int, grace: Grace | None = None) -> Preview:
    """Return what :func:`close` would give now, from a snapshot: no writer waits for it.

    It reads all subscriptions of the publication. Raises NotFound if there is no such issue,
    BadInput if it has no date or is closed, or if an earlier issue is not closed; BadUsage for
    grace issues without a date.
    """
    grace = _checked(grace)
    with books.scan() as reading:
        issue = find_issue(reading, issue_id)
        check_open(reading, issue)
        serving = Serving(reading, issue, grace)
        return Preview(serving.press_run(), serving.would_hold(), would_lapse(reading, issue))


def names_of_readers(books: Books, held: Sequence[Held]) -> dict[int, str]:
    """Return the names of the readers of held subscriptions, by subscriber; some have none."""
    with books.read() as reading:
        return names_of(reading, {each.subscriber_id for each in held})


def make_gap_list(books: Books, issue_id: int, *, dry_run: bool = False) -> MailingList:
    """Make a gap list of a closed issue, for the subscriptions that should have it and do not.

    If there are none, it makes no list and changes nothing (circulation, "Gap"). Raises NotFound if
    there is no such issue, BadInput if it has no date or no main list.
    """
    with books.change(dry_run=dry_run) as change:
        issue = find_issue(change, issue_id)
        if issue.mailing_list_id is None:
            how = "was closed without one" if issue.closed_at else "is not closed"
            raise BadInput(f"{issue.title} {how}: a gap list needs the main list of its issue")
        made = deliver(change, issue, Grace(), parent=issue.mailing_list_id)
        if made.mailing_list_id is not None:
            write_expiry_of_gap_list(change, made)
            _note_removals(change, issue, made.mailing_list_id)
            _end_due(change, issue)
            change.say(made.sentence)
    return made


def _note_removals(change: Operation, issue: Issue, gap_list_id: int) -> None:
    """Note the removals of an issue with a new gap list, and of the one after it."""
    which = issue.issue_id, issue.publication_id
    if issue.file_written_at is None:
        audit_figures.note_removals(change, *which)
    audit_figures.note_removals_of_next(change, *which, gap_list_id)


def reopen(books: Books, issue_id: int, *, dry_run: bool = False) -> Reopened:
    """Undo the closing of a publication's latest closed issue, with its gap lists.

    Terms get their issues back, the revenue of these issues is taken back, and the lists are
    removed. Later changes stay: a reader who used up all issues with this one and has ordered since
    begins with it again. Raises NotFound if there is no such issue, BadInput if it cannot be
    reopened (circulation, "Reopen").
    """
    with books.change(dry_run=dry_run) as change:
        issue = find_issue(change, issue_id)
        main_list_id = check_reopening(change, issue)
        mark = revenue_mark(change)
        orders = orders_ended_with(change, issue.issue_id) if is_billing(change) else ()
        go_back(change, issue)
        undoing = Undoing(change, issue, main_list_id)
        undoing.check_terms()
        done = undoing.run()
        credit_orders(change, mark, orders)
        change.say(done.sentence)
    return done


def mark_written(
    books: Books, issue_id: int, mailing_list_id: int | None = None, *, dry_run: bool = False
) -> Written:
    """Note that the file of a list is written, after which its issue stays closed.

    The list is the issue's main list, or one of its gap lists. Call this before writing the file,
    so that no file has deliveries that were undone; the audit log has the time of each call. Raises
    NotFound if there is no such issue, BadInput if it has no such list
    (circulation, "The mail file").
    """
    with books.change(dry_run=dry_run) as change:
        written = mail_file.mark_written(change, find_issue(change, issue_id), mailing_list_id)
        change.say(written.sentence)
    return written


@contextmanager
def mail_file_rows(books: Books, written: Written, *, digital: bool) -> Iterator[Iterator[Row]]:
    """Yield the rows of a list's file, one by one, from one snapshot without a time limit.

    Their columns are :data:`PRINTED`, or :data:`DIGITAL` for subscriptions without a printed copy.
    """
    with books.scan() as reading:
        yield mail_file.rows_of(reading, written, digital=digital)
