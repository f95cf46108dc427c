"""The records that can be read from a service without a snapshot.

The interface lists subscribers, and the subscriptions and answers of each known subscriber. Orders,
addresses, purchases, list downloads and deleted subscribers come only from the change feed, for the
period that it has.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TypeVar, Unpack

from msgspec.structs import asdict

from masthead.client import ChangedRecord, Client, SubscriberFilters
from masthead.contract.operations import OPERATIONS
from masthead.contract.shapes import (
    AnswerRecord,
    ChangedSubscriber,
    ChangedSubscription,
    Subscription,
)
from masthead.errors import ServiceError
from masthead.mirror.aside import Aside

FEED_REACHES = timedelta(days=5) - timedelta(minutes=5)
"""The period requested from the change feed: its five days, less a tolerance for clocks."""

HAS_NO = "has no"
REFUSES = "does not allow the"
"""The reasons why a service does not show its snapshot or digest."""

LACKING = (
    "the service {} snapshot: addresses, purchases, list downloads and orders that last "
    "changed more than five days before this copy began are not in it, nor are subscribers who "
    "were deleted before, nor those beyond the first 100 where its lists have no further page"
)
LACKING_SINCE = (
    "the service {} snapshot: changes of addresses, purchases, list downloads and orders "
    "between {} and five days before the copy went on are not in it"
)

LISTED_BY = OPERATIONS["search_subscribers"].path
OFFERED_BY = {
    "subscriptions": OPERATIONS["list_subscriptions"].path,
    "customfields": OPERATIONS["get_custom_field_answers"].path,
}
"""The path that shows each of these entities, for a subscriber."""

_NOT_IN_THE_FEED = {"paid_issues_left", "unearned_revenue"}
_NOT_FOUND = 404

Result = TypeVar("Result")


def listed(client: Client, **filters: Unpack[SubscriberFilters]) -> Iterator[ChangedSubscriber]:
    """Yield the subscribers that a search finds, as records of the change feed.

    Their ``modified_date`` is None, since the search does not have it.
    """
    for subscriber in client.search_subscribers(**filters):
        yield ChangedSubscriber(**asdict(subscriber), modified_date=None)


def offered_of(
    client: Client, aside: Aside, subscriber_ids: Iterable[int], entity: str
) -> Iterator[ChangedRecord]:
    """Yield the subscriptions or the answers of the subscribers that the service knows.

    ``entity`` is one of :data:`OFFERED_BY`. Odd records are set aside.
    """
    for subscriber_id in subscriber_ids:
        if entity == "subscriptions":
            for found in subscriptions_of(client, subscriber_id) or ():
                shown = {k: v for k, v in asdict(found).items() if k not in _NOT_IN_THE_FEED}
                yield ChangedSubscription(subscriber_id=subscriber_id, **shown)
        else:
            answers = unless_unknown(
                aside.unless_odd, client.get_custom_field_answers, subscriber_id
            )
            if answers is not None:
                yield AnswerRecord(subscriber_id, answers)


def unless_unknown(request: Callable[..., Result], *values: object) -> Result | None:
    """Return the result of a request, or None if the service has no such id (404)."""
    try:
        return request(*values)
    except ServiceError as error:
        if error.status != _NOT_FOUND:
            raise
        return None


def subscriptions_of(client: Client, subscriber_id: int) -> list[Subscription] | None:
    """Return a subscriber's subscriptions, or None if the service has no such subscriber."""
    return unless_unknown(lambda: list(client.list_subscriptions(subscriber_id=subscriber_id)))
