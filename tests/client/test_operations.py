"""Each operation as a typed result: compared with values typed by hand, on both stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.shapes import AnswerRecord, ChangedSubscriber, MailingListEntry
from masthead.errors import ServiceError
from tests.client import golden as typed

if TYPE_CHECKING:
    from masthead import Client
    from tests.client.flavours import Connect


def test_an_account(golden: Client) -> None:
    """interface, operation 2."""
    assert golden.get_account(1) == typed.ACCOUNT


def test_the_accounts_that_the_credentials_open(connect: Connect, masthead_url: str) -> None:
    """interface, operation 1."""
    with connect(masthead_url, "key-overseer", "login-overseer") as overseer:
        accounts = overseer.list_accounts()
    assert accounts[0] == typed.ACCOUNT
    assert [account.account_id for account in accounts] == list(range(1, 12))


def test_a_login_that_fits(golden: Client) -> None:
    """interface, operation 3."""
    assert golden.authenticate("mira.lang@example.org", "secret") == typed.LOGIN


def test_a_login_that_fits_no_subscriber(golden: Client) -> None:
    """interface, operation 3."""
    assert golden.authenticate("mira.lang@example.org", "Secret") is None
    assert golden.authenticate("", "") is None


def test_a_login_with_every_character(golden: Client) -> None:
    """interface, operation 3: login and password arrive as they are."""
    found = golden.authenticate('o\'brien+"tag"@exämple.org', "pässwörd 😀")
    assert found
    assert found.subscriber_id == typed.BIGGEST


@pytest.mark.parametrize(
    ("entity", "records"),
    [
        ("addresses", typed.ADDRESSES),
        ("purchases", typed.PURCHASES),
        ("listdownloads", typed.LIST_DOWNLOADS),
    ],
)
def test_the_records_of_the_change_feed(golden: Client, entity: str, records: list[Any]) -> None:
    """interface, operation 4."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    assert list(golden.changes(yesterday, [entity])) == records
    assert list(golden.snapshot([entity])) == records


def test_the_orders_of_the_change_feed(golden: Client) -> None:
    """interface, operation 4; rules, "Change feed: keys"."""
    assert next(iter(golden.snapshot(["orders"]))) == typed.ORDER


def test_subscriptions_of_which_little_is_known(sparse: Client) -> None:
    """interface, operation 4; rules, "Missing values"."""
    assert list(sparse.snapshot(["subscriptions"])) == [typed.BARE_SUBSCRIPTION]


def test_the_subscribers_of_the_change_feed(golden: Client) -> None:
    """interface, operation 4: with the time of their change."""
    first, *others = golden.snapshot(["subscribers"])
    assert isinstance(first, ChangedSubscriber)
    assert first.email == "mira.lang@example.org"
    assert isinstance(first.modified_date, datetime)
    deleted = [record for record in others if isinstance(record, ChangedSubscriber)][1]
    assert str(deleted.delete_date) == "2024-02-29 23:59:59"


def test_the_custom_fields_of_the_change_feed(golden: Client) -> None:
    """interface, operation 4."""
    records = list(golden.snapshot(["customfields"]))
    first = records[0]
    assert isinstance(first, AnswerRecord)
    assert first.subscriber_id == 1
    assert first.custom_fields[0] == typed.TOPICS_ANSWER
    assert len(records) == 4


def test_all_entities_of_the_change_feed(golden: Client) -> None:
    """interface, operation 4: the class of a record tells of which entity it is."""
    found = [type(record).__name__ for record in golden.snapshot()]
    assert {name: found.count(name) for name in found} == {
        "AnswerRecord": 4,
        "ChangedSubscription": 4,
        "ChangedSubscriber": 4,
        "Address": 3,
        "Purchase": 3,
        "ListDownload": 3,
        "Order": 3,
    }


def test_the_digest(golden: Client) -> None:
    """decisions, "Digest": an extension of Masthead."""
    digest = golden.digest(["orders", "addresses"])
    assert {name: found.records for name, found in digest.items()} == {"orders": 3, "addresses": 3}
    assert all(len(found.digest) == 64 for found in digest.values())


def test_the_answers_of_a_subscriber(golden: Client) -> None:
    """interface, operation 5."""
    answers = golden.get_custom_field_answers(1)
    assert answers[0] == typed.TOPICS_ANSWER
    assert answers[3] == typed.MOTTO_ANSWER
    assert [answer.field_id for answer in answers] == [1, 2, 3, 4, 10, typed.BIGGEST]


def test_the_custom_fields(golden: Client) -> None:
    """interface, operation 6."""
    definitions = golden.list_custom_fields()
    assert definitions[1] == typed.SIZE_FIELD
    assert [found.field_id for found in definitions] == [1, 2, 3, 4, 10, typed.BIGGEST]


def test_the_subscriptions(golden: Client) -> None:
    """interface, operation 7."""
    assert list(golden.list_subscriptions()) == typed.SUBSCRIPTIONS


def test_the_subscribers(golden: Client) -> None:
    """interface, operation 8."""
    assert list(golden.search_subscribers()) == typed.SUBSCRIBERS


def test_an_order(golden: Client) -> None:
    """interface, operation 9."""
    assert golden.get_order(71) == typed.ORDER


@pytest.mark.parametrize("download", [False, True])
def test_a_mailing_list(golden: Client, download: bool) -> None:
    """interface, operation 10."""
    assert list(golden.download_mailing_list(81, download=download)) == typed.ENTRIES


def test_an_entry_of_a_mailing_list_of_which_little_is_known(sparse: Client) -> None:
    """interface, operation 10; rules, "Missing values"."""
    (entry,) = sparse.download_mailing_list(1)
    assert entry == MailingListEntry(1, None, is_grace=False, is_paid=False, type=None)


@pytest.mark.parametrize(
    "name", ["get_account", "get_custom_field_answers", "get_order", "download_mailing_list"]
)
def test_what_does_not_exist(golden: Client, name: str) -> None:
    """rules, "Ids in paths", "Error body"."""
    with pytest.raises(ServiceError, match=r"there is no .* 424242") as caught:
        list(getattr(golden, name)(424242))  # What is iterated over is asked for only then.
    assert caught.value.status == 404


def test_credentials_that_open_nothing(connect: Connect, masthead_url: str) -> None:
    """rules, "Wrong credentials"."""
    client = connect(masthead_url, "key-golden", "wrong")
    with pytest.raises(ServiceError, match="403: these credentials open no account") as caught:
        client.list_accounts()
    assert (caught.value.status, caught.value.path) == (403, "/2/accounts/")
    assert caught.value.message == "these credentials open no account"
