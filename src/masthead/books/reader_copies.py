"""A reader says that a copy is missing: it is sent again, or the desk decides.

Within the publisher's rules a copy is sent again at once: for so many issues of a calendar year,
and until so many days after the issue.
"""

import datetime as dt
from typing import NamedTuple

from masthead.books import complaints
from masthead.books.account import Books
from masthead.books.reader_acts import acting, own_subscription
from masthead.books.reader_requests import check_open, checked_message
from masthead.circulation.reader_rules import is_made_good, refused
from masthead.contract.moments import is_only_day
from masthead.contract.subscription_types import PRINTED
from masthead.errors import BadInput
from masthead.store.books import reader_requests, replacements
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange


class Missing(NamedTuple):
    """A copy that is missing: ``is_sent`` says that it is sent again; if not, the desk decides.

    ``issue`` is the name of the issue, ``day`` its day.
    """

    subscription_id: int
    issue_id: int
    issue: str
    day: str
    is_sent: bool

    @property
    def sentence(self) -> str:
        """What happens about the copy."""
        how = "it is sent again" if self.is_sent else "the desk decides"
        return f"subscription {self.subscription_id}: issue {self.issue_id} is missing; {how}"


def missing(
    books: Books,
    subscriber_id: int,
    subscription_id: int,
    issue_id: int,
    text: str = "",
    *,
    dry_run: bool = False,
) -> Missing:
    """Send the copies of an issue again that the subscription received, or ask the desk.

    Raises NotFound for a subscription that is not the reader's. Raises BadInput for an issue that
    it did not receive, and for one about which the reader has asked already.
    """
    with acting(books, subscriber_id, "missing_copy", dry_run=dry_run) as act:
        change, offered = act.change, act.offered
        found = own_subscription(change, subscriber_id, subscription_id)
        had = replacements.received(change, subscription_id, issue_id=issue_id)
        if not had:
            raise refused("issue_unknown", field="issue")
        (one,) = had
        text = checked_message(text)
        year = f"{change.today[:4]}-01-01"
        known = reader_requests.made_good(change, subscription_id, issue_id, year)
        if known.is_asked:
            raise refused("asked_already", field="issue")
        since = dt.date.fromisoformat(change.today) - dt.timedelta(days=offered.missing_copy_days)
        is_sent = (
            one.type in PRINTED
            and found.mailing_address_id is not None
            and is_made_good(one.date, since.isoformat(), known.copies, offered.missing_copies)
        )
        if is_sent:
            made = complaints.answer(
                act.books, subscription_id, issue_id, "lost", "sent_again", text
            )
            key = reader_requests.waiting_copy(change, subscription_id, issue_id)
            after = {"complaint_id": made.complaint_id, "replacement_id": key}
        else:
            check_open(change, subscriber_id)
            key = reader_requests.add(
                change, subscriber_id, "missing_copy", text, subscription_id, issue_id
            )
            after = {"reader_request_id": key}
        done = Missing(subscription_id, issue_id, one.name, one.date, is_sent)
        if not is_sent:
            change.say(done.sentence)
        act.note("missing_copy", subscription_id, {}, {"issue_id": issue_id, **after})
        if is_sent:
            issue = one.date if is_only_day(one.name, one.date) else one.name
            act.confirm("missing_copy", subscription_id, issue=issue)
        return done


def undo(change: Operation, made: ReaderChange, by: str) -> None:
    """Take back that a copy is sent again, or the question to the desk.

    Raises BadInput if a file has the copy already.
    """
    after = made.after or {}
    if "reader_request_id" in after:
        reader_requests.answer(change, after["reader_request_id"], by)
    elif not reader_requests.take_back_copy(change, after["complaint_id"], after["replacement_id"]):
        raise BadInput("a file has the copy already: it cannot be undone any more")
