"""What a type checker sees of the clients: `make types` is the test, and nothing here is run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, assert_type

import masthead
from masthead import AsyncClient, Client
from masthead.client import (
    AsyncChanges,
    AsyncDeletions,
    ChangedRecord,
    Changes,
    Deletion,
    Deletions,
    EntityDigest,
    SubscriberFilters,
    SubscriptionFilters,
)
from masthead.contract.shapes import (
    Account,
    AuthenticatedSubscriber,
    CustomFieldAnswer,
    CustomFieldDefinition,
    MailingListEntry,
    Order,
    Subscriber,
    Subscription,
)

if TYPE_CHECKING:
    from masthead.errors import ServiceUnreachable


def what_the_plain_client_returns(client: Client) -> None:
    assert_type(client.list_accounts(), list[Account])
    assert_type(client.get_account(1), Account)
    assert_type(client.authenticate("login", "password"), AuthenticatedSubscriber | None)
    assert_type(client.changes(datetime.now(UTC)), Changes)
    assert_type(client.changes("2026-11-21T00:00:00+00:00", ["orders"]), Changes)
    assert_type(client.snapshot(), Changes)
    assert_type(client.deletions("2026-11-21T00:00:00+00:00"), Deletions)
    assert_type(client.digest(), dict[str, EntityDigest])
    assert_type(client.get_custom_field_answers(1), list[CustomFieldAnswer])
    assert_type(client.list_custom_fields(), list[CustomFieldDefinition])
    assert_type(client.list_subscriptions(type="Print", limit=5), Iterator[Subscription])
    assert_type(client.search_subscribers(email="a@b.example"), Iterator[Subscriber])
    assert_type(client.get_order(1), Order)
    assert_type(client.download_mailing_list(1, download=True), Iterator[MailingListEntry])
    assert_type(client.close(), None)


async def what_the_other_client_returns(client: AsyncClient) -> None:
    assert_type(await client.list_accounts(), list[Account])
    assert_type(await client.get_account(1), Account)
    assert_type(await client.authenticate("login", "password"), AuthenticatedSubscriber | None)
    assert_type(await client.changes(datetime.now(UTC)), AsyncChanges)
    assert_type(await client.snapshot(["orders"]), AsyncChanges)
    assert_type(await client.deletions(datetime.now(UTC), ["orders"]), AsyncDeletions)
    assert_type(await client.digest(), dict[str, EntityDigest])
    assert_type(await client.get_custom_field_answers(1), list[CustomFieldAnswer])
    assert_type(await client.list_custom_fields(), list[CustomFieldDefinition])
    assert_type(client.list_subscriptions(issues_left=-1), AsyncIterator[Subscription])
    assert_type(client.search_subscribers(last_name="s*"), AsyncIterator[Subscriber])
    assert_type(await client.get_order(1), Order)
    assert_type(client.download_mailing_list(1), AsyncIterator[MailingListEntry])
    assert_type(await client.close(), None)


def what_a_block_gives(key: str, login: str) -> None:
    with masthead.Client("https://press.example", key, login, timeout_s=2, patience_s=5) as client:
        assert_type(client, Client)
        with client.changes("2026-11-21T00:00:00+00:00") as changes:
            assert_type(changes, Changes)


async def what_an_async_block_gives(key: str, login: str) -> None:
    async with masthead.AsyncClient("https://press.example", key, login) as client:
        assert_type(client, AsyncClient)
        async with client.snapshot() as changes:
            assert_type(changes, AsyncChanges)
            async for record in changes:
                assert_type(record, ChangedRecord)
        async for record in client.changes("2026-11-21T00:00:00+00:00"):
            assert_type(record, ChangedRecord)
        async for deletion in client.deletions("2026-11-21T00:00:00+00:00"):
            assert_type(deletion, Deletion)


def what_the_feed_holds(changes: Changes) -> None:
    assert_type(changes.through, str)
    assert_type(changes.is_date, bool)
    for record in changes:
        assert_type(record, ChangedRecord)
        if isinstance(record, Order):
            assert_type(record.order_id, int)


def what_records_hold(subscription: Subscription, order: Order, error: ServiceUnreachable) -> None:
    assert_type(subscription.subscription_id, int)
    assert_type(subscription.issues, int | None)
    assert_type(subscription.date_expired, date | None)
    assert_type(subscription.unearned_revenue, Decimal | None)
    assert_type(subscription.renew_campaign_active, bool)
    assert_type(order.grand_total, Decimal)
    assert_type(order.order_date, datetime | None)
    assert_type(order.import_name, str | None)
    assert_type(error.status, int | None)
    assert_type(error.message, str)
    assert_type(error.retry_after_s, float | None)


def filters_may_be_made_ahead(client: Client) -> None:
    of_subscriptions: SubscriptionFilters = {"campaign_active": True, "max_issues_left": 2}
    of_subscribers: SubscriberFilters = {"source": "web"}
    assert_type(client.list_subscriptions(**of_subscriptions), Iterator[Subscription])
    assert_type(client.search_subscribers(**of_subscribers), Iterator[Subscriber])


def what_is_refused(client: Client) -> Any:
    """Each line is an error that the checker finds: it reports an "ignore" that is not needed."""
    client.search_subscribers(emial="a@b.example")  # type: ignore[call-arg]
    client.search_subscribers(email=None)  # type: ignore[arg-type]
    client.list_subscriptions(type="print")  # type: ignore[arg-type]
    client.list_subscriptions(min_copies="2")  # type: ignore[arg-type]
    client.get_order("71")  # type: ignore[arg-type]
    Client("https://press.example", "key")  # type: ignore[call-arg]
    return masthead.Clinet  # type: ignore[attr-defined]


def what_the_deletions_hold(deletions: Deletions) -> None:
    assert_type(deletions.through, str)
    for deletion in deletions:
        assert_type(deletion, Deletion)
        assert_type(deletion.entity, str)
        assert_type(deletion.id, int)
