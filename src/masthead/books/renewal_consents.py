"""The consent of a reader to automatic renewal: giving it, stopping it, showing it.

A consent has its day, the words by which it was given, where it was given, and the bundle that is
ordered (billing, "Automatic renewal"). ``books.automatic_renewals`` renews.
"""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.books.payer_payments import checked_text
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import single_spaced
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.billing import announced_renewals, renewal_consents
from masthead.store.billing.announced_renewals import AnnouncedRow
from masthead.store.billing.renewal_consents import Consent
from masthead.store.books.catalogue import bundles, lines_of
from masthead.store.books.catalogue_records import Bundle
from masthead.store.books.extendable_subscriptions import named
from masthead.store.books.names import subscription_named
from masthead.store.books.operation import Operation
from masthead.store.books.subscription import changeable, is_to_end, stored_subscription

__all__ = [
    "WORDS_MAX",
    "AnnouncedRow",
    "Consent",
    "Given",
    "Renewal",
    "Shown",
    "Stopped",
    "give",
    "renewing_bundles",
    "show",
    "stop",
]

WORDS_MAX = 1_000
"""The most characters of the words of a consent."""


class Given(NamedTuple):
    """A consent that was noted, and what its bundle is called."""

    consent: Consent
    bundle: str

    @property
    def sentence(self) -> str:
        """Which subscription renews automatically, since when, and by which bundle."""
        return (
            f"subscription {self.consent.subscription_id} renews automatically since "
            f"{self.consent.given_on}, by {self.bundle or f'bundle {self.consent.bundle_id}'}"
        )


def give(
    books: Books,
    subscription_id: int,
    bundle_id: int,
    words: str,
    *,
    source: str | None = None,
    day: str | None = None,
    dry_run: bool = False,
) -> Given:
    """Note the consent to renew a subscription by a bundle, given on ``day``, by default today.

    Raises NotFound if there is no such subscription. Raises BadInput if it was cancelled, is
    unlimited, has no issues left, or renews automatically already; for a bundle that is not for
    sale or gives nothing of the subscription; without the words; and for a day to come.
    """
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        name = subscription_named(change, subscription_id)
        running = renewal_consents.running_consent(change, subscription_id)
        if running is not None:
            raise BadInput(
                f"{name} renews automatically since {running.given_on}: stop that first",
                code="renews_already",
                subscription=subscription_id,
            )
        if is_to_end(change, subscription_id):
            raise BadInput(
                f"{name} was cancelled, and is still to end: undo that first",
                code="cancelled_meanwhile",
                subscription=subscription_id,
            )
        if found.issues == UNLIMITED:
            raise BadInput(f"{name} is unlimited: it never needs a renewal")
        if not found.issues:
            raise BadInput(f"{name} has no issues left: take an order first", code="nothing_left")
        bundle = _bundle(change, subscription_id, bundle_id)
        text = single_spaced(words)
        if not text:
            raise BadInput("say by which words the consent was given", field="words")
        if len(text) > WORDS_MAX:
            raise BadInput(
                f"the words have {len(text):,} characters: {WORDS_MAX:,} is the most", field="words"
            )
        consent = Consent(
            consent_id=change.new_id("renewal_consents"),
            subscription_id=subscription_id,
            subscriber_id=found.subscriber_id,
            bundle_id=bundle_id,
            given_on=change.today if day is None else check_past_day(day, change.today),
            words=text,
            source=checked_text(source, "source"),
            stopped_on=None,
            stop_reason=None,
        )
        renewal_consents.add_consent(change, consent)
        done = Given(consent, bundle.name or "")
        change.say(done.sentence)
    return done


class Renewal(NamedTuple):
    """A bundle that can renew a subscription: its name, and its price with tax, in cents."""

    bundle_id: int
    name: str
    cents: int


def renewing_bundles(books: Books, subscription_id: int) -> list[Renewal]:
    """Return the bundles for sale that can renew a subscription, by their ids.

    Raises NotFound if there is no such subscription.
    """
    with books.read() as reading:
        stored_subscription(reading.connection, reading.account_id, subscription_id)
        return [
            Renewal(key, name or "", cents)
            for key, name, cents in renewal_consents.bundles_for(reading, subscription_id)
        ]


class Stopped(NamedTuple):
    """A consent that was stopped.

    ``announced`` is the renewal that was announced and does not come any more. ``ordered`` is the
    one whose order stays.
    """

    consent: Consent
    announced: AnnouncedRow | None
    ordered: AnnouncedRow | None

    @property
    def sentence(self) -> str:
        """What does not renew any more, and what stays."""
        said = f"subscription {self.consent.subscription_id} does not renew automatically any more"
        if self.announced is not None:
            said += f"; the renewal announced for {self.announced.renews_on} does not come"
        if self.ordered is not None:
            said += (
                f"; order {self.ordered.order_id}, which renewed it for {self.ordered.renews_on}, "
                "stays"
            )
        return said


def stop(
    books: Books, subscription_id: int, *, reason: str | None = None, dry_run: bool = False
) -> Stopped:
    """Stop the automatic renewal of a subscription from today on, and what was announced of it.

    An order that was made stays. Raises NotFound if there is no such subscription, BadInput if it
    does not renew automatically.
    """
    with books.change(dry_run=dry_run) as change:
        kept = stored_subscription(change.connection, change.account_id, subscription_id)
        if kept.merged_into is not None:
            subscription_id = kept.merged_into
        running = renewal_consents.running_consent(change, subscription_id)
        if running is None:
            name = subscription_named(change, subscription_id)
            raise BadInput(f"{name} does not renew automatically: nothing was changed")
        announced = announced_renewals.newest_of(change, subscription_id)
        renewal_consents.stop_consent(change, running.consent_id, checked_text(reason, "reason"))
        status = None if announced is None else announced.status
        done = Stopped(
            running,
            announced if status == "announced" else None,
            announced if status == "renewed" else None,
        )
        change.say(done.sentence)
    return done


class Shown(NamedTuple):
    """The consents of a subscription, the newest first, and its newest announced renewal.

    ``bundles`` are the names of the bundles by their ids.
    """

    subscription_id: int
    consents: list[Consent]
    announced: AnnouncedRow | None
    bundles: dict[int, str]
    currency: str

    @property
    def running(self) -> Consent | None:
        """The consent that was not stopped, None if the subscription does not renew so."""
        return next((each for each in self.consents if each.stopped_on is None), None)

    @property
    def next(self) -> str | None:
        """When the next order is made and what it costs; None if no renewal is announced."""
        if self.announced is None or self.announced.status != "announced":
            return None
        cents = in_currency(self.announced.price + self.announced.tax, self.currency)
        return f"{self.announced.renews_on}, for {cents}"


def show(books: Books, subscription_id: int) -> Shown:
    """Return the consents of a subscription. Raises NotFound if there is no such subscription."""
    with books.read() as reading:
        stored_subscription(reading.connection, reading.account_id, subscription_id)
        consents = renewal_consents.consents_of(reading, subscription_id)
        announced = announced_renewals.newest_of(reading, subscription_id)
        names = {each.bundle_id: each.name or "" for each in bundles(reading)} if consents else {}
        return Shown(subscription_id, consents, announced, names, reading.currency)


def _bundle(change: Operation, subscription_id: int, bundle_id: int) -> Bundle:
    found = next((each for each in bundles(change) if each.bundle_id == bundle_id), None)
    if found is None:
        raise BadInput(f"there is no bundle {bundle_id}", code="not_in_catalogue", thing="bundle")
    if not found.is_active:
        raise BadInput(f"{found.name or 'the bundle'} is retired: name one that is for sale")
    subscription = named(change, subscription_id, 0)
    if not any(map(subscription.is_of, lines_of(change.direct, change.account_id, bundle_id))):
        raise BadInput(
            f"{found.name or 'the bundle'} gives nothing of "
            f"{subscription_named(change, subscription_id)}: name a bundle that extends it"
        )
    return found
