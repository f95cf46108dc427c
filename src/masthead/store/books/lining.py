"""What a line of an ordered bundle does: it begins a subscription or extends one, by a term.

Every look-up is by an index (circulation, "Order", "First issue", "Late renewal"). The class is
used in an operation (``store.books.operation``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from masthead.circulation.beginning import begins_on
from masthead.circulation.classes import COMPLIMENTARY, PAID
from masthead.circulation.ordering import (
    UNLIMITED,
    RefusedOrder,
    covered,
    grace_since,
    kind_of,
)
from masthead.store.books import paying
from masthead.store.books.keys import listed
from masthead.store.books.offering import Line, Offer
from masthead.store.books.operation import Operation
from masthead.store.books.pending import Record
from masthead.store.books.people import Resolved
from masthead.store.books.readers import SUBSCRIPTIONS

__all__ = ["Lines", "look_up"]


class _Publication(NamedTuple):
    late_start: str
    grace_counts: int
    unlimited_term_months: int
    newest_closed: str | None
    first_planned: str | None


@dataclass(eq=False)
class _Subscription:
    """A subscription that an item goes to, as it is after the lines so far.

    ``least`` is the least number of issues left of its terms that have any, ``ended_at`` is
    that of its newest term, ``row`` the row of one that this operation has begun, ``bought`` what
    the order changes.
    """

    subscriber_id: int
    subscription_id: int
    publication_id: int
    type: str | None
    mailing_address_id: int | None
    begins_on: str | None
    least: int | None = None
    ended_at: str | None = None
    row: Record | None = None
    bought: Record = field(default_factory=dict)


@dataclass
class _Delivery:
    """An issue that a subscription got; ``term_id`` is that of the term it came out of, if any."""

    day: str
    issue_id: int
    is_grace: int
    term_id: int | None


class Lines:
    """The lines of one order: two of the same reader, publication and type are one subscription."""

    def __init__(self, books: Operation, payer: Resolved) -> None:
        self._books = books
        self._payer = payer
        self._account = books.account_id
        self._own: dict[tuple[int, int, str], _Subscription] = {}
        """The subscriptions of this order, by recipient, publication and type."""
        self._begun: list[_Subscription] = []
        self.terms: list[paying.Term] = []
        """The terms of this order; :meth:`write` writes them."""
        self._copies: list[tuple[int, str]] = []
        """The copies of each term, and the class of one that is free."""
        self._grace: list[tuple[_Subscription, _Delivery]] = []
        """The issues of grace that come out of its terms."""

    @property
    def subscriptions(self) -> tuple[int, ...]:
        """The subscriptions that the order began or extended, each once."""
        return tuple(dict.fromkeys(each.subscription_id for each in self._own.values()))

    def first_day(self, number: int, offer: Offer) -> tuple[int, str] | None:
        """Return publication and date of the issue with which the item is to begin, if any."""
        issue_id = offer.item.first_issue
        if issue_id is None:
            return None
        row = self._books.direct.row(
            """
            SELECT publication_id, date, closed_at IS NOT NULL AND mailing_list_id IS NULL
            FROM issues
            WHERE account_id = :account_id AND issue_id = :issue_id
            """,
            account_id=self._account,
            issue_id=issue_id,
        )
        if row is None or row[1] is None:
            raise RefusedOrder(
                "first_issue",
                f"account {self._account} has no issue {issue_id}: `masthead catalogue issue list` "
                "lists them",
                number,
            )
        publication_id, day, never_comes = row
        if publication_id not in {line.publication_id for line in offer.lines}:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} is one of publication {publication_id}, of which bundle "
                f"{offer.item.bundle_id} gives nothing",
                number,
            )
        if never_comes:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} was closed without a mailing list, so that it comes to nobody",
                number,
            )
        newest = self._publication(publication_id).newest_closed
        if newest is not None and day < newest:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} is of {day}, before {newest}: the newest closed issue is the "
                "earliest with which a subscription can begin",
                number,
            )
        return publication_id, day

    def add_term(
        self,
        number: int,
        item_id: int,
        purchase_id: int | None,
        offer: Offer,
        line: Line,
        recipient: Resolved,
        first_day: tuple[int, str] | None,
    ) -> int | None:
        """Begin or extend a subscription by a line; return its mailing address."""
        publication = self._publication(line.publication_id)
        first = first_day[1] if first_day and first_day[0] == line.publication_id else None
        key = recipient.subscriber_id, line.publication_id, line.type
        found = self._own.get(key)
        is_own = found is not None
        if found is None and not offer.item.is_new:
            found = self._newest(key)
        grace: Sequence[_Delivery] = ()
        if found is None:
            found = self._begin(line, recipient, publication, first)
        else:
            has_left, grace = self._state(number, found, publication, line)
            if not is_own:
                if has_left and first is not None:
                    raise RefusedOrder(
                        "first_issue",
                        f"subscription {found.subscription_id} has issues left, so that no first "
                        "issue can be chosen; a new subscription beside it can (--new)",
                        number,
                    )
                if not has_left:
                    begins = first or self._begins_on(publication)
                    found.begins_on = max(begins, found.begins_on or begins)
                self._renew(found, recipient)
        self._own[key] = found
        found.bought |= {
            "last_purchase_bundle_id": offer.item.bundle_id,
            "last_purchase_id": purchase_id,
        }
        term = paying.Term(
            term_id=self._books.new_id("terms"),
            order_item_id=item_id,
            subscription_id=found.subscription_id,
            publication_id=line.publication_id,
            issues=line.issues,
            issues_left=UNLIMITED if line.issues < 0 else line.issues - len(grace),
            price=line.price,
            paid_on=None,
            months=line.months or publication.unlimited_term_months if line.issues < 0 else None,
            starts_on=None,
            ended_at=None,
        )
        self.terms.append(term)
        self._copies.append((line.copies, offer.item.of_class or COMPLIMENTARY))
        if term.issues_left:
            found.least = min(term.issues_left, found.least or term.issues_left)
        for each in grace:
            each.term_id = term.term_id
            self._grace.append((found, each))
        return found.mailing_address_id

    def write(self, *, is_paid: bool) -> None:
        """Write the subscriptions and the terms; the order has been handed over."""
        for found in self._own.values():
            self._write(found)
        for term, (copies, free_class) in zip(self.terms, self._copies, strict=True):
            self._books.add(
                "terms",
                term_id=term.term_id,
                subscription_id=term.subscription_id,
                order_item_id=term.order_item_id,
                issues=term.issues,
                issues_left=term.issues_left,
                copies=copies,
                price=term.price,
                paid_on=self._books.today if is_paid and term.is_due else None,
                kind=kind_of(term.price),
                **{"class": PAID if term.price else free_class},
                months=term.months,
            )
        for found, each in self._grace:
            self._books.change_later(
                """
                UPDATE subscription_issues SET term_id = :term_id
                WHERE account_id = :account_id AND subscription_id = :subscription_id
                    AND issue_id = :issue_id
                """,
                subscription_id=found.subscription_id,
                issue_id=each.issue_id,
                term_id=each.term_id,
            )

    def _newest(self, key: tuple[int, int, str]) -> _Subscription | None:
        """Return the recipient's newest subscription of a publication and type, if there is one."""
        subscriber_id, publication_id, type_ = key
        return max(
            (
                each
                for each in look_up(self._books, [subscriber_id])[subscriber_id]
                if (each.publication_id, each.type) == (publication_id, type_)
            ),
            key=lambda each: each.subscription_id,
            default=None,
        )

    def _state(
        self, number: int, found: _Subscription, publication: _Publication, line: Line
    ) -> tuple[bool, Sequence[_Delivery]]:
        """Return whether issues are left, and if none, the grace issues that the line covers.

        Raises RefusedOrder where issues are unlimited: a term behind that one is never used.
        """
        if found.least == UNLIMITED:
            raise RefusedOrder(
                "bundle_id",
                f"subscription {found.subscription_id} is unlimited, so that nothing of this order "
                "would ever come; a new subscription beside it can (--new; in a file, true in the "
                "column new)",
                number,
            )
        if found.least is not None or found.row is not None or not publication.grace_counts:
            return found.least is not None, ()
        issues = _deliveries(self._books, [found.subscription_id])[found.subscription_id]
        regular = [each.day for each in issues if not each.is_grace or each.term_id is not None]
        grace = {each.issue_id: each for each in issues if each.is_grace and not each.term_id}
        since = grace_since(regular, [(each.day, each.issue_id) for each in grace.values()])
        return False, [grace[issue_id] for issue_id in covered(line.issues, since)]

    def _begin(
        self, line: Line, recipient: Resolved, publication: _Publication, first: str | None
    ) -> _Subscription:
        begins = first or self._begins_on(publication)
        row: Record = {
            "subscription_id": self._books.new_id("subscriptions"),
            "subscriber_id": recipient.subscriber_id,
            "publication_id": line.publication_id,
            "mailing_address_id": recipient.address_id,
            "billing_address_id": self._payer.address_id,
            "issues": 0,
            "copies": line.copies,
            "type": line.type,
            "date_created": self._books.today,
            "renew_campaign_active": 1,
            "begins_on": begins,
            "commit_id": self._books.commit_id,
        }
        found = _Subscription(
            recipient.subscriber_id,
            int(row["subscription_id"] or 0),
            line.publication_id,
            line.type,
            recipient.address_id,
            begins,
            row=row,
        )
        self._begun.append(found)
        return found

    def _begins_on(self, publication: _Publication) -> str:
        return begins_on(
            publication.late_start,
            publication.newest_closed,
            publication.first_planned,
            self._books.today,
        )

    def _renew(self, found: _Subscription, recipient: Resolved) -> None:
        """Note an extension; addresses change only where the order names them.

        Whose newest term was refunded had left the campaign, and takes part in it again.
        """
        if recipient.named_address_id is not None:
            found.mailing_address_id = recipient.named_address_id
        found.bought = {
            "date_last_renewed": self._books.today,
            "begins_on": found.begins_on,
            "mailing_address_id": found.mailing_address_id,
            "commit_id": self._books.commit_id,
        }
        if self._payer.named_address_id is not None:
            found.bought["billing_address_id"] = self._payer.named_address_id
        if found.ended_at is not None:
            found.bought["renew_campaign_active"] = 1
            found.ended_at = None

    def _write(self, found: _Subscription) -> None:
        """Write a subscription; one that this operation began and has not written is changed."""
        known = look_up(self._books, [found.subscriber_id])[found.subscriber_id]
        bought, found.bought = found.bought, {}
        if found in self._begun and found.row is not None:
            found.row = self._books.add("subscriptions", **{**found.row, **bought})
            known.append(found)
        elif found in known and found.row is not None:
            found.row |= bought
        else:
            self._books.change_later(
                f"""
                UPDATE subscriptions SET {", ".join(f"{name} = :{name}" for name in bought)}
                WHERE account_id = :account_id AND subscription_id = :subscription_id
                """,
                subscription_id=found.subscription_id,
                **bought,
            )

    def _publication(self, publication_id: int) -> _Publication:
        memory = self._books.memory("publications")
        if publication_id not in memory:
            (row,) = self._books.direct.rows(
                """
                SELECT p.late_start, p.grace_counts, p.unlimited_term_months,
                    (SELECT max(i.date) FROM issues AS i WHERE i.account_id = :account_id
                        AND i.publication_id = :publication_id AND i.closed_at IS NOT NULL),
                    (SELECT min(i.date) FROM issues AS i WHERE i.account_id = :account_id
                        AND i.publication_id = :publication_id AND i.closed_at IS NULL)
                FROM publications AS p
                WHERE p.account_id = :account_id AND p.publication_id = :publication_id
                """,
                account_id=self._account,
                publication_id=publication_id,
            )
            memory[publication_id] = _Publication(*row)
        found: _Publication = memory[publication_id]
        return found


def look_up(books: Operation, subscribers: Iterable[int]) -> dict[int, list[_Subscription]]:
    """Look up the subscriptions of many readers that are not cancelled, with what is left of them.

    Returns those of each reader that have been looked up, and those that were added since.
    """
    memory = books.memory(SUBSCRIPTIONS)
    new = [each for each in dict.fromkeys(subscribers) if each not in memory]
    if not new:
        return memory
    memory |= {each: [] for each in new}
    # Without ORDER BY and LIMIT, for which a planner might read the subscriptions of all.
    rows = books.direct.rows(
        f"""
        SELECT s.subscriber_id, s.subscription_id, s.publication_id, s.type, s.mailing_address_id,
            s.begins_on, (
                SELECT min(t.issues_left) FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = s.subscription_id AND t.issues_left <> 0), (
                SELECT t.ended_at FROM terms AS t WHERE t.account_id = :account_id
                AND t.term_id = (SELECT max(n.term_id) FROM terms AS n
                    WHERE n.account_id = :account_id AND n.subscription_id = s.subscription_id))
        FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed(new)})
            AND s.cancelled_on IS NULL
        """,
        account_id=books.account_id,
    )
    found = [_Subscription(*row) for row in rows]
    for each in found:
        memory[each.subscriber_id].append(each)
    _deliveries(books, [each.subscription_id for each in found if each.least is None])
    return memory


def _deliveries(books: Operation, subscriptions: Iterable[int]) -> dict[int, list[_Delivery]]:
    """Return what each subscription got, of a publication where grace issues count."""
    memory = books.memory("deliveries")
    new = [each for each in subscriptions if each not in memory]
    if not new:
        return memory
    memory |= {each: [] for each in new}
    rows = books.direct.rows(
        f"""
        SELECT r.subscription_id, i.date, r.issue_id, r.is_grace, r.term_id
        FROM subscription_issues AS r
        JOIN issues AS i ON i.account_id = r.account_id AND i.issue_id = r.issue_id
        JOIN publications AS p ON p.account_id = i.account_id
            AND p.publication_id = i.publication_id AND p.grace_counts = 1
        WHERE r.account_id = :account_id AND r.subscription_id IN ({listed(new)})
        """,
        account_id=books.account_id,
    )
    for subscription_id, *row in rows:
        memory[subscription_id].append(_Delivery(*row))
    return memory
