"""Reopening the latest closed issue: its deliveries are undone, one by one, exactly."""

from typing import NamedTuple

from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store import deletions
from masthead.store.books import audit_figures
from masthead.store.books.derived_values import add_kinds, write_balances
from masthead.store.books.earning import earn_by_months, take_back
from masthead.store.books.issue import Issue, newest_closed
from masthead.store.books.operation import Operation
from masthead.store.books.qualified_copies import LAPSED_WITH, undo_lapses
from masthead.store.books.stored_expiry_dates import write_expiry_dates
from masthead.store.key_lists import KeyLists

_UNDONE, _REVIVED = "books_undone", "books_revived"
_NAMED_MAX = 20
_LISTS = """
    SELECT l.mailing_list_id FROM list_downloads AS l WHERE l.account_id = :account_id
    AND (l.mailing_list_id = :main_list_id OR l.parent_mailing_list_id = :main_list_id)
    """


class Reopened(NamedTuple):
    """How many deliveries of an issue were undone, and of how many lists."""

    issue_id: int
    deliveries: int
    lists: int

    @property
    def sentence(self) -> str:
        """What the operation undid."""
        undone = counted(self.deliveries, "delivery", "deliveries")
        lists = counted(self.lists, "list")
        return f"issue {self.issue_id} was reopened: {undone} of {lists} undone"


def check_reopening(books: Operation, issue: Issue) -> int:
    """Return the main list of an issue.

    Raises BadInput unless it is the latest closed issue, has a list, and no file.
    """
    if not issue.closed_at:
        raise BadInput(f"{issue.title} is not closed: there is nothing to undo")
    if issue.mailing_list_id is None:
        raise BadInput(f"{issue.title} was closed when the books were opened: it has no list")
    newest = newest_closed(books, issue.publication_id)
    if newest is not None and newest.issue_id != issue.issue_id:
        raise BadInput(f"{issue.title} is not the latest closed issue: that is {newest.title}")
    if issue.file_written_at:
        raise BadInput(
            f"the file of {issue.title} was written at {issue.file_written_at}: it stays closed"
        )
    return issue.mailing_list_id


class _Term(NamedTuple):
    """A term that cannot get the issue back, and its reader; ``what`` says what happened to it."""

    term_id: int
    subscription_id: int
    what: str
    subscriber_id: int
    first_name: str | None
    last_name: str | None

    @property
    def sentence(self) -> str:
        name = " ".join(filter(None, (self.first_name, self.last_name))) or "a reader"
        return f"the subscription of {name} was {self.what}"


class Undoing:
    """The deliveries of an issue to undo."""

    def __init__(self, books: Operation, issue: Issue, main_list_id: int) -> None:
        self._books = books
        self._issue = issue
        self._lists = KeyLists(books.connection, books.account_id, books.commit_id)
        self._main_list_id = main_list_id
        self._deliveries = self._lists.keep(
            _UNDONE,
            f"""
            SELECT d.subscription_id AS key, d.term_id AS other FROM subscription_issues AS d
            WHERE d.account_id = :account_id AND d.mailing_list_id IN ({_LISTS})
            """,
            ("key", "other"),
            main_list_id=self._main_list_id,
        )
        self._keys = self._lists.keys_in(_UNDONE)
        self._lists.keep(_REVIVED, LAPSED_WITH, mailing_list_id=self._main_list_id)
        self._revived = self._lists.keys_in(_REVIVED)

    def check_terms(self) -> None:
        """Raise BadInput, with the names, if a term has since ended, moved or been converted.

        A term that has ended gets no issue, so it ended after the closing. A closing makes a list,
        so the ids of lists say what came after it, even within a second.
        """
        found = self._books.rows_as(
            _Term,
            f"""
            SELECT t.term_id, t.subscription_id, CASE WHEN t.ended_at IS NOT NULL THEN 'ended'
                WHEN t.moved_after >= :main_list_id THEN 'merged into another subscriber'
                ELSE 'converted to other copies' END, r.subscriber_id, r.first_name, r.last_name
            FROM {self._keys} AS k JOIN terms AS t
                ON t.account_id = :account_id AND t.term_id = k.other
            JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = t.subscription_id
            JOIN subscribers AS r
                ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
            JOIN mailing_list_entries AS e
                ON e.account_id = :account_id AND e.subscription_id = k.key
                AND e.mailing_list_id IN ({_LISTS})
            WHERE t.ended_at IS NOT NULL OR t.moved_after >= :main_list_id
                OR e.copies - e.free_copies <> t.copies
            ORDER BY t.term_id
            """,
            main_list_id=self._main_list_id,
        )
        if not found:
            return
        names = [each.sentence for each in found[:_NAMED_MAX]]
        if len(found) > _NAMED_MAX:
            names.append(f"and {len(found) - _NAMED_MAX} more such subscriptions")
        refusal = (
            f"{self._issue.title} cannot be reopened: subscriptions that would get an issue back "
            "are not as they were when it was closed:"
        )
        raise BadInput("\n".join([refusal, *names]))

    def run(self) -> Reopened:
        """Undo the deliveries, then all that followed from them."""
        self._begin_again()
        self._give_back()
        self._remove_deliveries()
        self._begin_terms_again()
        undo_lapses(self._books, self._main_list_id)
        audit_figures.forget_removals(self._books, self._issue.issue_id)
        lists = self._remove_lists()
        earn_by_months(self._books, self._issue)
        write_balances(self._books, self._keys)
        write_balances(self._books, self._revived)
        self._write_expiry_dates()
        add_kinds(self._books)
        self._lists.drop(_UNDONE, _REVIVED)
        return Reopened(self._issue.issue_id, self._deliveries, lists)

    def _begin_again(self) -> None:
        """Let subscriptions begin with this issue if a later order let them begin after it.

        The same applies to a subscription that got the issue as grace and has renewed: the issue
        then comes out of the renewal.
        """
        self._books.change(
            f"""
            UPDATE subscriptions SET begins_on = :day
            WHERE account_id = :account_id AND begins_on > :day AND subscription_id IN (
                SELECT k.key FROM {self._keys} AS k)
                AND (issues <> 0 OR subscription_id IN (
                    SELECT k.key FROM {self._keys} AS k WHERE k.other IS NOT NULL))
            """,
            day=self._issue.date,
        )

    def _give_back(self) -> None:
        self._books.change(
            f"""
            UPDATE terms AS t SET issues_left = t.issues_left + 1 FROM {self._keys} AS k
            WHERE t.account_id = :account_id AND t.term_id = k.other AND t.issues > 0
            """,
        )
        take_back(
            self._books,
            self._issue,
            f"(SELECT k.other AS key FROM {self._keys} AS k WHERE k.other IS NOT NULL)",
        )

    def _remove_deliveries(self) -> None:
        self._books.change(
            "DELETE FROM replacements WHERE account_id = :account_id AND issue_id = :issue_id",
            issue_id=self._issue.issue_id,
        )
        for table in ("subscription_issues", "mailing_list_entries"):
            self._books.change(
                f"""DELETE FROM {table}
                WHERE account_id = :account_id AND mailing_list_id IN ({_LISTS})""",
                main_list_id=self._main_list_id,
            )

    def _begin_terms_again(self) -> None:
        """Let each unlimited term begin with the earliest issue that is still delivered from it."""
        self._books.change(
            f"""
            UPDATE terms AS t SET starts_on = (
                SELECT min(i.date) FROM subscription_issues AS d
                JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = d.issue_id
                WHERE d.account_id = :account_id AND d.term_id = t.term_id)
            FROM {self._keys} AS k
            WHERE t.account_id = :account_id AND t.term_id = k.other AND t.issues < 0
                AND t.kind <> 'opening'
            """,
        )

    def _remove_lists(self) -> int:
        """Open the issue, remove its lists and note their deletions; return their number."""
        self._books.change(
            """
            UPDATE issues SET closed_at = NULL, mailing_list_id = NULL
            WHERE account_id = :account_id AND issue_id = :issue_id
            """,
            issue_id=self._issue.issue_id,
        )
        removed = deletions.note(
            self._books.connection,
            self._books.account_id,
            self._books.commit_id,
            "listdownloads",
            f"""SELECT o.account_id, o.mailing_list_id AS record_id FROM list_downloads AS o
            WHERE o.account_id = :account_id AND o.mailing_list_id IN ({_LISTS})""",
            main_list_id=self._main_list_id,
        )
        self._books.change(
            """
            DELETE FROM list_downloads WHERE account_id = :account_id
                AND (mailing_list_id = :main_list_id OR parent_mailing_list_id = :main_list_id)
            """,
            main_list_id=self._main_list_id,
        )
        return removed

    def _write_expiry_dates(self) -> None:
        expiring = "books_expiring"
        self._lists.keep(
            expiring,
            f"""
            SELECT k.key FROM {self._keys} AS k
            UNION
            SELECT v.key FROM {self._revived} AS v
            UNION
            SELECT a.subscription_id FROM suspensions AS a JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = a.subscription_id
            WHERE a.account_id = :account_id AND a.to_date IS NULL AND a.from_date <= :day
                AND s.publication_id = :publication_id
            """,
            ("key",),
            day=self._issue.date,
            publication_id=self._issue.publication_id,
        )
        write_expiry_dates(self._books, self._lists, self._lists.keys_in(expiring))
        self._lists.drop(expiring)
