"""What the first page of a reader shows: the reader's subscriptions, gifts and documents.

Amounts are whole cents, with tax.
"""

from collections.abc import Mapping
from typing import NamedTuple

from masthead.circulation.reader_pages import May, Offered
from masthead.circulation.reader_rules import State
from masthead.circulation.requalifying import Free
from masthead.store.books.reader_home import Issue, Reader


class Address(NamedTuple):
    """An address: its id, its fields that are not empty by name, and all in one line."""

    address_id: int
    fields: Mapping[str, str]
    line: str


class Owed(NamedTuple):
    """What is to be paid: the invoice, if there is one, and the cents that are open.

    ``number`` is the invoice's. ``due_on`` is the day until which it is to be paid.
    ``is_collected``: the bank collects it by the mandate of the reader.
    """

    order_id: int
    cents: int
    invoice_id: int | None = None
    number: str | None = None
    due_on: str | None = None
    is_collected: bool = False


class Pause(NamedTuple):
    """A pause, both days included; no ``last`` day: a clerk ends it. ``is_now``: it runs today."""

    first: str
    last: str | None
    is_now: bool


class Temporary(NamedTuple):
    """Another address for a while, both days included."""

    first: str
    last: str | None
    line: str
    is_now: bool


class Cancelled(NamedTuple):
    """How a subscription was cancelled.

    ``ends_with`` is the last issue and ``ends_on`` its day, if it is known. ``at_end``: it ends
    when its issues are used up. ``ended_on``: the day on which it ended; None while it runs.
    """

    made_on: str
    at_end: bool
    ends_with: str | None
    ends_on: str | None
    ended_on: str | None


class Renewal(NamedTuple):
    """The automatic renewal of a subscription: since when, and what it orders.

    ``renews_on`` is the day of the next order and ``cents`` what it costs; both are None until it
    is announced.
    """

    given_on: str
    bundle: str
    renews_on: str | None
    cents: int | None


class Next(NamedTuple):
    """An issue to come; ``is_paused``: it falls into a pause and does not come."""

    issue_id: int
    name: str
    day: str
    is_paused: bool


class Subscription(NamedTuple):
    """A subscription of the reader, and what may be done with it now.

    ``issues_left`` is None if it is unlimited. ``until`` is the last day of what is left.
    ``is_gift``: somebody else pays for it. ``qualified`` is None unless it is free to the reader by
    a qualification. ``next`` is the issue that comes next, None if none does.
    """

    subscription_id: int
    publication_id: int
    publication: str
    type: str
    copies: int
    state: State
    issues_left: int | None
    until: str | None
    begins_on: str | None
    is_gift: bool
    owed: Owed | None
    next: Next | None
    coming: tuple[Next, ...]
    received: tuple[Issue, ...]
    address: Address | None
    pauses: tuple[Pause, ...]
    temporary: tuple[Temporary, ...]
    cancelled: Cancelled | None
    renewal: Renewal | None
    may: May
    qualified: Free | None = None


class Gift(NamedTuple):
    """What the reader gave: to whom, by the name that the reader gave, and its price.

    ``owed`` is None once it is paid. ``has_ended``: it was refunded.
    """

    order_id: int
    recipient: str
    bundle: str
    ordered_on: str
    cents: int
    owed: Owed | None
    has_ended: bool


class Document(NamedTuple):
    """An invoice, a receipt or a credit note of the reader; ``open_cents`` is what is not paid."""

    invoice_id: int
    kind: str
    number: str
    issued_on: str
    due_on: str | None
    cents: int
    open_cents: int


class Home(NamedTuple):
    """What a reader sees first. ``addresses`` are the reader's own, by ascending id.

    ``offered`` is what the pages of the account have, to buy and to give only where readers see a
    bundle for that. ``documents`` are the newest first. ``owed`` is the sum of all that is open.
    """

    reader: Reader
    subscriptions: tuple[Subscription, ...]
    gifts: tuple[Gift, ...]
    documents: tuple[Document, ...]
    addresses: tuple[Address, ...]
    offered: Offered
    owed: int
    currency: str
    today: str

    def subscription(self, subscription_id: int) -> Subscription | None:
        """Return one of the reader's subscriptions by its id, None if it is not the reader's."""
        return next(
            (each for each in self.subscriptions if each.subscription_id == subscription_id), None
        )

    def document(self, invoice_id: int) -> Document | None:
        """Return one of the reader's documents by its id, None if it is not the reader's."""
        return next((each for each in self.documents if each.invoice_id == invoice_id), None)
