"""A reader switches the automatic renewal of a subscription on or off.

Each operation raises NotFound for a subscription that is not the reader's, and BadInput with a code
of ``circulation.reader_rules.REFUSALS`` for what it refuses. Amounts are whole cents, with tax.
"""

from typing import NamedTuple

from masthead.books import renewal_consents
from masthead.books.account import Books
from masthead.books.reader_acts import acting, own_subscription, running_subscription
from masthead.books.reader_cancelling import check_own
from masthead.books.renewal_consents import WORDS_MAX, Renewal
from masthead.circulation.reader_rules import refused
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.billing import renewal_consents as stored
from masthead.store.books.last_days import last_day
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange
from masthead.store.books.reader_home import shown_bundles
from masthead.store.books.subscription import is_to_end

SOURCE = "readers' pages"
"""Where a consent was given that a reader gives."""


class SwitchedOn(NamedTuple):
    """A subscription that renews automatically: by which bundle, and for how many cents today."""

    subscription_id: int
    bundle_id: int
    bundle: str
    cents: int

    @property
    def sentence(self) -> str:
        """What renews, and by which bundle."""
        return f"subscription {self.subscription_id} renews automatically, by {self.bundle}"


class SwitchedOff(NamedTuple):
    """A subscription that does not renew automatically any more.

    ``announced_for`` is the day of the announced renewal that does not come now. ``order_id`` is
    the order of a renewal that was made already, and stays.
    """

    subscription_id: int
    announced_for: str | None
    order_id: int | None

    @property
    def sentence(self) -> str:
        """What does not renew any more."""
        return f"subscription {self.subscription_id} does not renew automatically any more"


def bundles(books: Books, subscriber_id: int, subscription_id: int) -> list[Renewal]:
    """Return the bundles by which a subscription can renew, with their prices.

    They are those that the publisher shows readers for renewing.
    """
    with books.snapshot() as inside, inside.read() as reading:
        own_subscription(reading, subscriber_id, subscription_id)
        shown = {each.bundle_id for each in shown_bundles(reading) if each.renew}
        found = renewal_consents.renewing_bundles(inside, subscription_id)
        return [each for each in found if each.bundle_id in shown]


def switch_on(
    books: Books,
    subscriber_id: int,
    subscription_id: int,
    bundle_id: int,
    words: str,
    *,
    dry_run: bool = False,
) -> SwitchedOn:
    """Note the reader's consent to renew a subscription by a bundle, in the words of the page."""
    with acting(books, subscriber_id, "automatic_renewal", dry_run=dry_run) as act:
        found = running_subscription(act.change, subscriber_id, subscription_id)
        check_own(act.change, subscriber_id, subscription_id)
        if found.issues == UNLIMITED:
            raise refused("unlimited")
        if is_to_end(act.change, subscription_id):
            raise refused("cancelled_already")
        if stored.running_consent(act.change, subscription_id) is not None:
            raise refused("renews_already")
        if not words.strip():
            raise refused("consent_missing", field="words")
        offered = {each.bundle_id: each for each in bundles(act.books, subscriber_id, found[0])}
        if bundle_id not in offered:
            raise refused("not_for_sale", field="bundle")
        given = renewal_consents.give(
            act.books, subscription_id, bundle_id, words[:WORDS_MAX], source=SOURCE
        )
        bundle = offered[bundle_id]
        act.note(
            "automatic_renewal",
            subscription_id,
            {"on": False},
            {"on": True, "consent_id": given.consent.consent_id, "bundle": bundle.name},
        )
        act.confirm(
            "renewal_on",
            subscription_id,
            bundle=bundle.name,
            words=given.consent.words,
            until=last_day(act.change, subscription_id),
        )
        return SwitchedOn(subscription_id, bundle_id, bundle.name, bundle.cents)


def switch_off(
    books: Books, subscriber_id: int, subscription_id: int, *, dry_run: bool = False
) -> SwitchedOff:
    """Stop the automatic renewal of a subscription from today on."""
    with acting(books, subscriber_id, "automatic_renewal", dry_run=dry_run) as act:
        own_subscription(act.change, subscriber_id, subscription_id)
        if stored.running_consent(act.change, subscription_id) is None:
            raise refused("renews_not")
        done = renewal_consents.stop(act.books, subscription_id)
        act.note(
            "automatic_renewal",
            subscription_id,
            {"on": True, "consent_id": done.consent.consent_id},
            {"on": False},
        )
        act.confirm("renewal_off", subscription_id, until=last_day(act.change, subscription_id))
        return SwitchedOff(
            subscription_id,
            done.announced and done.announced.renews_on,
            done.ordered and done.ordered.order_id,
        )


def undo(books: Books, change: Operation, made: ReaderChange) -> None:
    """Take back what a reader switched. Raises BadInput if it was switched since."""
    subscription_id = made.subscription_id or 0
    before, after = made.before or {}, made.after or {}
    running = stored.running_consent(change, subscription_id)
    if after["on"]:
        if running is None or running.consent_id != after["consent_id"]:
            raise BadInput("automatic renewal was switched since: it cannot be undone any more")
        renewal_consents.stop(books, subscription_id)
        return
    if running is not None:
        raise BadInput("the subscription renews automatically again already")
    stored.resume_consent(change, int(before["consent_id"]))
