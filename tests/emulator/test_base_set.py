"""The base set: each of its subscribers is the case that its name and the page say."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from masthead.contract.shapes import ChangedSubscriber, Entitlement, ListDownload, Purchase
from masthead.emulator import BaseSet
from masthead.emulator.base_set import FREE, MONTHLY, PASSWORD, WEEKLY
from masthead.errors import BadInput
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from masthead import Client
    from masthead.emulator import MastheadServer

ENDED = {
    BaseSet.EXPIRED,
    BaseSet.GRACE,
    BaseSet.CANCELLED,
    BaseSet.DISQUALIFIED,
    BaseSet.PAYER,
    BaseSet.BARE,
}


@pytest.fixture
def server(server: MastheadServer) -> MastheadServer:
    """An emulator with the base set, on a day a year ahead."""
    server.clock.move(days=365)
    server.add_base_set()
    return server


def test_each_subscriber_may_read_what_the_case_allows(
    server: MastheadServer, client: Client
) -> None:
    """rules, "The records of the emulator" and "What a reader may read"."""

    def readable(subscriber: BaseSet) -> Sequence[Entitlement]:
        found = client.entitlements(code=server.entitlement_code(subscriber))
        assert found
        return found.entitlements

    living = set(BaseSet) - {BaseSet.DELETED}
    assert {each for each in living if readable(each)} == living - ENDED
    assert [each.publication_id for each in readable(BaseSet.BUNDLE)] == [WEEKLY, MONTHLY]
    assert [each.format for each in readable(BaseSet.BOTH)] == ["digital", "print"]


def test_each_subscription_is_the_case_of_its_subscriber(
    server: MastheadServer, client: Client
) -> None:
    today = server.clock.now.date()
    of = {each.subscription_id // 10: each for each in client.list_subscriptions()}
    assert of.keys() == set(BaseSet) - {BaseSet.PAYER, BaseSet.BARE}
    assert of[BaseSet.ACTIVE].date_last_renewed
    assert of[BaseSet.DIGITAL].type == "Digital"
    assert of[BaseSet.BOTH].type == "Both"
    assert (of[BaseSet.UNLIMITED].issues, of[BaseSet.UNLIMITED].date_expired) == (-1, None)
    assert (of[BaseSet.UNPAID].paid_issues_left, of[BaseSet.UNPAID].issues) == (0, 32)
    assert of[BaseSet.EXPIRES_TODAY].date_expired == today
    assert of[BaseSet.EXPIRED].date_expired == today - timedelta(days=60)
    assert of[BaseSet.GRACE].date_expired == today - timedelta(days=7)
    assert not of[BaseSet.CANCELLED].renew_campaign_active
    assert of[BaseSet.GIFT].billing_address_id == BaseSet.PAYER
    assert of[BaseSet.ORGANISATION].copies == 25
    assert {of[one].publication_id for one in (BaseSet.QUALIFIED, BaseSet.DISQUALIFIED)} == {FREE}
    for each in of.values():
        owner = each.subscription_id // 10
        assert (each.issues == 0) == (owner in {*ENDED, BaseSet.EXPIRES_TODAY})


def test_the_search_finds_all_but_the_deleted_one(server: MastheadServer, client: Client) -> None:
    found = {each.subscriber_id: each for each in client.search_subscribers()}
    assert found.keys() == set(BaseSet) - {BaseSet.DELETED}
    shared = client.search_subscribers(email="penn@reader.example")
    assert [each.subscriber_id for each in shared] == [
        BaseSet.SHARED_EMAIL,
        BaseSet.SHARED_EMAIL_TOO,
    ]
    assert not found[BaseSet.WITHOUT_EMAIL].email
    assert not found[BaseSet.BARE].last_name
    (odd,) = client.search_subscribers(last_name="O'Brien-Nuñez 王")
    assert (odd.subscriber_id, odd.email) == (BaseSet.BEYOND_ASCII, "zoe+weekly@reader.example")
    with client.snapshot(["subscribers"]) as snapshot:
        deleted = [e for e in snapshot if isinstance(e, ChangedSubscriber) and e.delete_date]
    assert [each.subscriber_id for each in deleted] == [BaseSet.DELETED]


def test_everybody_with_an_email_logs_in_with_the_password(
    server: MastheadServer, client: Client
) -> None:
    for each in client.search_subscribers():
        if each.email and each.email != "penn@reader.example":
            opened = client.authenticate(each.email, PASSWORD)
            assert opened
            assert opened.subscriber_id == each.subscriber_id
        if each.subscriber_id == BaseSet.WITHOUT_EMAIL:
            opened = client.authenticate(each.renewal_code or "", "55057")
            assert opened
            assert opened.subscriber_id == each.subscriber_id
    assert client.authenticate("vera@reader.example", PASSWORD) is None


def test_orders_lists_and_answers_fit_the_cases(server: MastheadServer, client: Client) -> None:
    assert client.get_order(BaseSet.PAYER).is_gift
    assert client.get_order(BaseSet.CANCELLED).order_items[0].refund_date
    assert not client.get_order(BaseSet.ACTIVE).order_items[0].refund_date
    with client.snapshot(["purchases", "listdownloads"]) as snapshot:
        records = list(snapshot)
    payers = {each.subscriber_id for each in records if isinstance(each, Purchase)}
    assert BaseSet.UNPAID not in payers
    assert BaseSet.PAYER in payers
    lists = [each for each in records if isinstance(each, ListDownload)]
    assert [each.status for each in lists] == [*(["Complete"] * 3), "Pending"]
    for made in lists:
        entries = list(client.download_mailing_list(made.mailing_list_id))
        assert len(entries) == (made.count or 0)
    grace = [each for each in client.download_mailing_list(2) if each.is_grace]
    assert [each.subscription_id for each in grace] == [10 * BaseSet.GRACE + 1]
    (trade, _) = client.get_custom_field_answers(BaseSet.DISQUALIFIED)
    assert trade.values
    (question, _) = client.list_custom_fields()
    chosen = {each.option_id for each in trade.values}
    assert {each.option_id for each in question.value_options if each.disqualifier} == chosen


def test_it_is_not_added_twice(server: MastheadServer) -> None:
    with pytest.raises(BadInput, match="is there already"):
        server.add_base_set()


def test_other_languages_get_the_ids_by_name_and_the_page_has_them_all(
    server: MastheadServer,
) -> None:
    server.reset()
    named = server.ask("POST", "/base-set")["subscribers"]
    assert named["grace"] == BaseSet.GRACE
    assert len(named) == len(BaseSet)
    page = (ROOT / "docs" / "testing.md").read_text()
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \|", page, re.MULTILINE)
    assert re.findall(r"[A-Z_]+", "".join(rows)) == [each.name for each in BaseSet]
