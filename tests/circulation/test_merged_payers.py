"""What collecting and the readers' pages store of two subscribers who are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import subscribers
from tests.circulation.two_readers import TODAY, fill

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

OF_A_SUBSCRIPTION = ("renewal_consents", "mails", "letters", "reader_changes", "reader_requests")


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account, filled; each of the two has a consent to automatic renewal."""
    fill(shared)
    for number in (1, 2):
        shared.put(
            "renewal_consents",
            consent_id=number,
            subscription_id=number,
            subscriber_id=number,
            bundle_id=1,
            given_on="2026-01-01",
        )
    shared.put(
        "mandates",
        mandate_id=1,
        subscriber_id=2,
        reference="M-1",
        scheme="core",
        signed_on="2026-01-01",
        status="active",
        status_since="2026-01-01",
    )
    shared.put("held_addresses", held_address_id=1, subscriber_id=2, held_on="2026-01-01")
    shared.put(
        "mails", mail_id=1, subscriber_id=2, subscription_id=2, kind="welcome", status="queued"
    )
    shared.put(
        "letters",
        letter_id=1,
        kind="welcome",
        subscription_id=2,
        subscriber_id=2,
        written_on="2026-01-01",
    )
    shared.put(
        "reader_changes", reader_change_id=1, subscriber_id=2, subscription_id=2, kind="pause"
    )
    shared.put("reader_consents", reader_consent_id=1, subscriber_id=2, purpose="news")
    shared.put(
        "reader_requests",
        reader_request_id=1,
        subscriber_id=2,
        subscription_id=2,
        kind="message",
    )
    shared.put(
        "announced_renewals",
        announcement_id=1,
        consent_id=2,
        subscription_id=2,
        term_id=2,
        bundle_id=1,
        price=100,
        tax=7,
        announced_on="2026-01-01",
        renews_on="2026-02-01",
        status="announced",
    )
    return shared


def test_what_collecting_stores_moves_too(desk: Desk) -> None:
    """billing, "Derived rule": it moves with merged subscribers."""
    subscribers.merge(desk.books, 1, 2, keep_both=True)
    for table in ("mandates", "held_addresses", "reader_consents", *OF_A_SUBSCRIPTION):
        assert {row["subscriber_id"] for row in desk.table(table)} == {1}, table
    consents = [
        (row["subscription_id"], row["stopped_on"]) for row in desk.table("renewal_consents")
    ]
    assert consents == [(1, None), (2, None)]


def test_a_merged_subscription_is_renewed_by_one_consent(desk: Desk) -> None:
    """decisions, "What merging joins": the consent of the subscription that continues stays."""
    subscribers.merge(desk.books, 1, 2)
    for table in (*OF_A_SUBSCRIPTION, "announced_renewals"):
        assert {row["subscription_id"] for row in desk.table(table)} == {1}, table
    stopped = [(row["stopped_on"], row["stop_reason"]) for row in desk.table("renewal_consents")]
    assert stopped == [(None, None), (TODAY, "merged")]


def test_the_only_consent_moves(desk: Desk) -> None:
    desk.connection.change(
        "UPDATE renewal_consents SET stopped_on = '2026-02-01' WHERE consent_id = 1"
    )
    subscribers.merge(desk.books, 1, 2)
    moved = [(row["subscription_id"], row["stopped_on"]) for row in desk.table("renewal_consents")]
    assert moved == [(1, "2026-02-01"), (1, None)]
