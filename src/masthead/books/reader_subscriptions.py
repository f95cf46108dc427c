"""The subscriptions of a reader, with what belongs to each of them now.

All statements are sent together: none needs what another one finds.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from masthead.circulation.reader_rules import Standing
from masthead.circulation.spans import Span
from masthead.contract.subscription_types import UNLIMITED
from masthead.databases.queries import Batch
from masthead.store.books import reader_page
from masthead.store.books.details import Postal, postals_of
from masthead.store.books.reader_page import (
    Coming,
    Ended,
    Letter,
    Line,
    Renewing,
    SpanLine,
    TermLine,
)


class Served(NamedTuple):
    """A subscription and what belongs to it now.

    ``terms`` are those with issues left. ``payers`` are the ids and names of others who paid for
    them. ``next_to`` is the address of the issue ``coming``, which is None if none comes.
    ``planned`` are the issues of its publication that are not closed. ``unpaid`` is the order
    that is not paid, ``is_held`` says that nothing comes until it is. ``renewing`` is None if
    it does not renew automatically.
    """

    line: Line
    terms: list[TermLine]
    payers: Mapping[int, str]
    suspensions: list[SpanLine]
    temporary: list[tuple[SpanLine, Postal]]
    ended: Ended | None
    mailing: Postal | None
    billing: Postal | None
    coming: Coming | None
    planned: list[Coming]
    next_to: Postal | None
    unpaid: int | None
    is_held: bool
    letters: list[Letter]
    renewing: Renewing | None

    @property
    def is_over(self) -> bool:
        """Whether it was cancelled or merged, so that an order begins another one."""
        return self.line.cancelled_on is not None or self.line.merged_into is not None


class SubscriptionsAsked:
    """What a batch reads of the subscriptions of a reader.

    After the batch was sent, :meth:`served` returns them, and ``lines()``, ``terms()`` and
    ``places()`` the rows themselves.
    """

    def __init__(self, batch: Batch, subscriber_id: int) -> None:
        self._subscriber_id = subscriber_id
        self.lines = batch.add(reader_page.lines(subscriber_id))
        self.terms = batch.add(reader_page.terms(subscriber_id))
        self.places = batch.add(postals_of(subscriber_id))
        self._suspensions = batch.add(reader_page.suspensions(subscriber_id))
        self._temporary = batch.add(reader_page.temporary_addresses(subscriber_id))
        self._ended = batch.add(reader_page.cancellations(subscriber_id))
        self._letters = batch.add(reader_page.letters(subscriber_id))
        self._renewing = batch.add(reader_page.renewing(subscriber_id))
        self._planned = batch.add(reader_page.coming_to(subscriber_id))

    def served(self) -> list[Served]:
        """Return the subscriptions and what belongs to them now, by ascending id."""
        places, planned = self.places(), self._planned()
        terms, suspensions, temporary = self.terms(), self._suspensions(), self._temporary()
        ended = {each.subscription_id: each for each in self._ended()}
        renewing = {each.subscription_id: each for each in self._renewing()}
        letters = self._letters()
        found = []
        for line in self.lines():
            key = line.subscription_id
            own = [term for term in terms if term.subscription_id == key and term.issues_left != 0]
            spans = [each for each in suspensions if each.subscription_id == key]
            aways = [each for each in temporary if each.subscription_id == key]
            unpaid, is_held = _unpaid(line, own)
            coming = None if is_held else _coming(line, planned, spans, ended.get(key))
            away = next(
                (each.address_id for each in aways if coming and _is_in(each, coming.day)), None
            )
            found.append(
                Served(
                    line,
                    own,
                    _others(own, self._subscriber_id),
                    spans,
                    # The readers' pages are not shown an address that is another reader's.
                    [(each, at) for each in aways if (at := places.get(each.address_id or -1))],
                    ended.get(key),
                    places.get(line.mailing_address_id or -1),
                    places.get(line.billing_address_id or -1),
                    coming,
                    [each for each in planned if each.publication_id == line.publication_id],
                    places.get(away or line.mailing_address_id or -1) if coming else None,
                    unpaid,
                    is_held,
                    [each for each in letters if each.subscription_id == key],
                    renewing.get(key),
                )
            )
        return found


def standing_of(served: Served, subscriber_id: int) -> Standing:
    """Return what the rules need to know of a subscription of a reader."""
    line, ended = served.line, served.ended
    return Standing(
        line.issues or 0,
        is_over=served.is_over,
        is_cancelled=ended is not None and ended.ended_on is None,
        is_final=ended is not None and bool(ended.is_final),
        is_waiting=served.is_held,
        is_own=is_own(served.terms, subscriber_id),
        begins_on=line.begins_on,
        pauses=tuple(Span(0, each.first, each.last) for each in served.suspensions),
        renews=served.renewing is not None,
        of_terms=left_of(served.terms),
    )


def left_of(terms: Iterable[TermLine]) -> int:
    """Return the issues left of terms; -1 is unlimited."""
    left = [each.issues_left for each in terms]
    return UNLIMITED if UNLIMITED in left else sum(left)


def is_own(terms: Collection[TermLine], subscriber_id: int) -> bool:
    """Return whether a reader may change a subscription: it is free, or the reader pays for it.

    ``terms`` are those of the subscription with issues left.
    """
    paid_by = [each.payer_id for each in terms if each.kind == "paid"]
    return not paid_by or subscriber_id in paid_by


def unpaid_order(terms: Iterable[TermLine], payer_id: int) -> int | None:
    """Return the oldest order that a payer has not paid; None if all is paid."""
    return next((each.order_id for each in _due(terms) if each.payer_id == payer_id), None)


def _due(terms: Iterable[TermLine]) -> list[TermLine]:
    return [term for term in terms if term.price > 0 and term.paid_on is None and not term.ended_at]


def _others(terms: Collection[TermLine], subscriber_id: int) -> Mapping[int, str]:
    """Return the ids and names of the payers of terms other than the subscriber."""
    return {
        term.payer_id: " ".join(
            part for part in (term.payer_first_name, term.payer_last_name) if part
        )
        for term in terms
        if term.payer_id is not None and term.payer_id != subscriber_id
    }


def _unpaid(line: Line, terms: list[TermLine]) -> tuple[int | None, bool]:
    """Return the unpaid order of a subscription, and whether nothing comes until it is paid.

    An unpaid term is served for the publication's credit, unless another one is paid (circulation,
    "Closing"). A subscription that goes by a qualification waits for nothing: its terms have an
    end, and its issues have none.
    """
    due = _due(terms)
    if not due:
        return None, False
    waits = [
        term
        for term in due
        if term.issues != UNLIMITED and term.issues - term.issues_left >= line.credit
    ]
    return due[0].order_id, len(waits) == len(terms) and line.issues != UNLIMITED


def _coming(
    line: Line, planned: Collection[Coming], spans: list[SpanLine], ended: Ended | None
) -> Coming | None:
    """Return the planned issue that a subscription gets next."""
    if line.cancelled_on or line.merged_into or not line.issues:
        return None
    last = ended.issue_day if ended else None
    for each in planned:
        if each.publication_id != line.publication_id or each.day < (line.begins_on or ""):
            continue
        if last is not None and each.day > last:
            return None
        if not any(_is_in(span, each.day) for span in spans):
            return each
    return None


def _is_in(span: SpanLine, day: str) -> bool:
    return span.first <= day and (span.last is None or day <= span.last)
