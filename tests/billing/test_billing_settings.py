"""Settings, tax rates, shipping prices and VAT numbers as operations on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.billing.tax import ShippingPrice, TaxRate
from masthead.books import billing_settings, tax_rates
from masthead.errors import BadInput, MastheadError, NotFound
from masthead.store.billing import rates as stored_rates
from masthead.store.billing.settings import is_billing, settings_of
from tests.billing.seller import SELLER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.circulation.desk import Desk

RATE = TaxRate("DE", None, "print", 700, "2026-01-01")
PRICE = ShippingPrice("AT", "Print", 1200, "2026-01-01")


@pytest.fixture
def desk(shared: Desk) -> Desk:
    shared.empty()
    shared.to("2026-03-01")
    shared.put("subscribers", subscriber_id=1, first_name="Ada", last_name="Ames")
    return shared


def shown(desk: Desk) -> dict[str, str]:
    return {each.name: each.value for each in billing_settings.show(desk.books) if each.is_set}


def audited(desk: Desk) -> str:
    sql = "SELECT summary FROM audit ORDER BY entry_id DESC LIMIT 1"
    (summary,) = desk.connection.column_as(str, sql)
    return summary


def test_settings_are_set_replaced_and_cleared(desk: Desk) -> None:
    done = billing_settings.set_values(desk.books, {"due_days": "30", "seller_country": "de"})
    assert done.sentence == "2 settings of billing changed: due_days and seller_country"
    assert audited(desk) == done.sentence
    assert shown(desk) == {"due_days": "30", "seller_country": "DE"}
    billing_settings.set_values(desk.books, {"due_days": "", "seller_country": "AT"})
    assert shown(desk) == {"seller_country": "AT"}
    with desk.books.read() as reading:
        assert settings_of(reading).due_days == 14
        assert settings_of(reading).seller_country == "AT"


def test_the_same_values_again_change_nothing(desk: Desk) -> None:
    billing_settings.set_values(desk.books, SELLER)
    before = audited(desk)
    done = billing_settings.set_values(desk.books, SELLER)
    assert done.sentence.startswith("nothing changed")
    assert audited(desk) == before


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"due_days": "30", "seller_iban": "DE00"}, "seller_iban: 'DE00' is not an IBAN"),
        ({"due_days": "30", "due_day": "30"}, "billing has no setting 'due_day'"),
        ({"templates": "/nonexistent"}, "there is no folder /nonexistent for the setting"),
        ({"due_days": "30", "credit_note_number": "{year}-{number:06}"}, "the same number"),
    ],
)
def test_a_bad_value_changes_nothing(desk: Desk, values: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        billing_settings.set_values(desk.books, values)
    assert sentence in str(caught.value)
    assert shown(desk) == {}


def test_billing_begins_once(desk: Desk) -> None:
    billing_settings.set_values(desk.books, SELLER)
    dry = billing_settings.begin(desk.books, dry_run=True)
    assert billing_settings.begun_on(desk.books) is None
    done = billing_settings.begin(desk.books)
    assert done == dry
    assert done.sentence.startswith("billing begins on 2026-03-01: each order with a price")
    assert audited(desk) == done.sentence
    assert billing_settings.begun_on(desk.books) == "2026-03-01"
    desk.to("2026-04-01")
    again = billing_settings.begin(desk.books)
    assert again.sentence == "nothing changed: billing began on 2026-03-01"


def test_the_journal_begins_with_the_liability_to_readers(desk: Desk) -> None:
    desk.put("publications", publication_id=1, name="Tide")
    desk.put("subscriptions", subscription_id=1, subscriber_id=1, publication_id=1)
    desk.put(
        "terms",
        term_id=1,
        subscription_id=1,
        issues=12,
        issues_left=9,
        price=3600,
        kind="paid",
        paid_on="2026-01-01",
    )
    desk.put_many(
        "revenue",
        [
            {"revenue_id": 1, "term_id": 1, "kind": "received", "cents": 3600,
             "booked_on": "2026-01-01"},
            {"revenue_id": 2, "term_id": 1, "kind": "earned", "cents": 900,
             "booked_on": "2026-02-01"},
        ],
    )  # fmt: skip
    billing_settings.set_values(desk.books, SELLER)
    done = billing_settings.begin(desk.books)
    assert done.deferred == 2700
    lines = desk.connection.rows(
        "SELECT account, cents, booked_on FROM journal_lines WHERE account_id = :id ORDER BY 1",
        id=desk.account_id,
    )
    assert [tuple(line) for line in lines] == [
        ("deferred", -2700, "2026-03-01"),
        ("opening", 2700, "2026-03-01"),
    ]


@pytest.mark.parametrize("missing", ["seller_name", "seller_city", "seller_vat_id"])
def test_billing_begins_only_with_a_seller(desk: Desk, missing: str) -> None:
    settings = {name: text for name, text in SELLER.items() if name != missing}
    billing_settings.set_values(desk.books, settings)
    with pytest.raises(BadInput, match=rf"an invoice needs {missing}.*: set it first") as caught:
        billing_settings.begin(desk.books)
    assert caught.value.code == "billing_settings_missing"
    assert billing_settings.begun_on(desk.books) is None


def test_billing_needs_open_books(desk: Desk) -> None:
    with desk.connection.transaction():
        desk.connection.change("DELETE FROM books WHERE account_id = :id", id=desk.account_id)
    try:
        with pytest.raises(MastheadError, match="open its books first"):
            billing_settings.begin(desk.books)
    finally:
        desk.put("books", books_id=1, opened_on="2026-01-01", opened_at="2026-01-01 12:00:00")


def test_an_account_that_bills_keeps_its_seller_and_when_tax_is_due(desk: Desk) -> None:
    billing_settings.set_values(desk.books, SELLER)
    billing_settings.begin(desk.books)
    with pytest.raises(BadInput, match="billing has begun, and an invoice needs seller_name"):
        billing_settings.set_values(desk.books, {"seller_name": ""})
    with pytest.raises(BadInput, match="tax_due is payment since billing began on 2026-03-01"):
        billing_settings.set_values(desk.books, {"tax_due": "invoice"})
    billing_settings.set_values(desk.books, {"seller_name": "Muster AG"})
    assert shown(desk)["seller_name"] == "Muster AG"


def test_an_operation_knows_whether_the_account_bills(desk: Desk) -> None:
    with desk.books.change() as change:
        assert not is_billing(change)
    billing_settings.set_values(desk.books, SELLER)
    billing_settings.begin(desk.books)
    with desk.books.change() as change:
        assert is_billing(change)
        assert settings_of(change).seller_city == "Berlin"
    with desk.books.read() as reading:
        assert is_billing(reading)


def test_a_tax_rate_counts_until_the_next_one(desk: Desk) -> None:
    done = tax_rates.add_rate(desk.books, RATE._replace(country="de"))
    assert done == (
        1, "tax rate 1 was added: for print in DE, 7 % from 2026-01-01 on"
    )  # fmt: skip
    assert audited(desk) == done.sentence
    tax_rates.add_rate(desk.books, RATE._replace(percent=500, begins_on="2026-07-01"))
    tax_rates.add_rate(desk.books, RATE._replace(country="US", state=" tx ", percent=825))
    found = [(each.stored.rate, each.until) for each in tax_rates.rates(desk.books)]
    assert found == [
        (RATE, "2026-07-01"),
        (RATE._replace(percent=500, begins_on="2026-07-01"), None),
        (RATE._replace(country="US", state="TX", percent=825), None),
    ]


@pytest.mark.parametrize(
    ("rate", "sentence"),
    [
        (RATE, "for print in DE, there is a rate of 7 % from 2026-01-01 on already"),
        (RATE._replace(percent=1900), "there is a rate of 7 % from 2026-01-01 on already"),
        (RATE._replace(country="Germany"), "'Germany' is not the code of a country"),
        (RATE._replace(percent=10_001), "100.01 % is not a percentage"),
        (RATE._replace(begins_on="2026-02-30"), "'2026-02-30' is not a day"),
        (RATE._replace(state="x" * 51), "is no state"),
    ],
)
def test_a_bad_tax_rate_is_refused(desk: Desk, rate: TaxRate, sentence: str) -> None:
    tax_rates.add_rate(desk.books, RATE)
    with pytest.raises(BadInput) as caught:
        tax_rates.add_rate(desk.books, rate)
    assert sentence in str(caught.value)
    assert [each.stored.rate for each in tax_rates.rates(desk.books)] == [RATE]


def test_a_shipping_price_counts_until_the_next_one(desk: Desk) -> None:
    done = tax_rates.add_shipping_price(desk.books, PRICE._replace(country="at"))
    assert done.sentence == (
        "shipping price 1 was added: a copy of type print to AT costs 12.00 USD from 2026-01-01 on"
    )
    tax_rates.add_shipping_price(desk.books, PRICE._replace(country=None, cents=2500))
    tax_rates.add_shipping_price(desk.books, PRICE._replace(cents=0, begins_on="2026-07-01"))
    found = [(each.stored.price, each.until) for each in tax_rates.shipping_prices(desk.books)]
    assert found == [
        (PRICE, "2026-07-01"),
        (PRICE._replace(cents=0, begins_on="2026-07-01"), None),
        (PRICE._replace(country=None, cents=2500), None),
    ]


@pytest.mark.parametrize(
    ("price", "sentence"),
    [
        (PRICE._replace(cents=1), "costs 12.00 USD from 2026-01-01 on already"),
        (PRICE._replace(country="XX"), "'XX' is not the code of a country"),
        (PRICE._replace(type="Letter"), "'Letter' is no type"),
        (PRICE._replace(cents=-1), "an amount of 0 or more"),
        (PRICE._replace(begins_on="soon"), "'soon' is not a day"),
    ],
)
def test_a_bad_shipping_price_is_refused(desk: Desk, price: ShippingPrice, sentence: str) -> None:
    tax_rates.add_shipping_price(desk.books, PRICE)
    with pytest.raises(BadInput) as caught:
        tax_rates.add_shipping_price(desk.books, price)
    assert sentence in str(caught.value)
    assert [each.stored.price for each in tax_rates.shipping_prices(desk.books)] == [PRICE]


def test_what_has_not_begun_can_be_removed(desk: Desk) -> None:
    tax_rates.add_rate(desk.books, RATE._replace(begins_on="2026-03-02"))
    tax_rates.add_shipping_price(desk.books, PRICE._replace(begins_on="2026-03-02"))
    assert tax_rates.remove_rate(desk.books, 1).sentence.startswith("tax rate 1 was removed")
    done = tax_rates.remove_shipping_price(desk.books, 1)
    assert done.sentence == "shipping price 1 was removed before it began"
    assert tax_rates.rates(desk.books) == []
    assert tax_rates.shipping_prices(desk.books) == []


def test_what_has_begun_stays(desk: Desk) -> None:
    tax_rates.add_rate(desk.books, RATE._replace(begins_on="2026-03-01"))
    tax_rates.add_shipping_price(desk.books, PRICE)
    with pytest.raises(BadInput, match="tax rate 1 began on 2026-03-01"):
        tax_rates.remove_rate(desk.books, 1)
    with pytest.raises(BadInput, match="shipping price 1 began on 2026-01-01"):
        tax_rates.remove_shipping_price(desk.books, 1)
    assert len(tax_rates.rates(desk.books)) == len(tax_rates.shipping_prices(desk.books)) == 1


@pytest.mark.parametrize("remove", [tax_rates.remove_rate, tax_rates.remove_shipping_price])
def test_what_is_not_there_cannot_be_removed(
    desk: Desk, remove: Callable[..., tax_rates.Done]
) -> None:
    with pytest.raises(NotFound, match="has no"):
        remove(desk.books, 7)


def test_a_payer_has_a_vat_number(desk: Desk) -> None:
    done = tax_rates.set_vat_id(desk.books, 1, "atu 57194903")
    assert done.sentence == "the VAT number of subscriber 1 was set"
    assert tax_rates.vat_id(desk.books, 1) == "ATU57194903"
    same = tax_rates.set_vat_id(desk.books, 1, "ATU57194903")
    assert same.sentence.startswith("nothing changed")
    tax_rates.set_vat_id(desk.books, 1, "DE136695976")
    with desk.books.change() as change:
        assert stored_rates.vat_id_of(change, 1) == "DE136695976"
    removed = tax_rates.set_vat_id(desk.books, 1, None)
    assert removed.sentence == "the VAT number of subscriber 1 was removed"
    assert tax_rates.vat_id(desk.books, 1) is None
    assert tax_rates.set_vat_id(desk.books, 1, None).sentence.startswith("nothing changed")


def test_a_wrong_vat_number_is_refused(desk: Desk) -> None:
    with pytest.raises(BadInput, match="'ATU57194904' is not a VAT number"):
        tax_rates.set_vat_id(desk.books, 1, "ATU57194904")
    with pytest.raises(NotFound, match="has no subscriber 2"):
        tax_rates.set_vat_id(desk.books, 2, "ATU57194903")
    assert tax_rates.vat_id(desk.books, 1) is None


def test_a_dry_run_changes_nothing(desk: Desk) -> None:
    billing_settings.set_values(desk.books, SELLER, dry_run=True)
    tax_rates.add_rate(desk.books, RATE, dry_run=True)
    tax_rates.add_shipping_price(desk.books, PRICE, dry_run=True)
    tax_rates.set_vat_id(desk.books, 1, "ATU57194903", dry_run=True)
    assert shown(desk) == {}
    assert tax_rates.rates(desk.books) == []
    assert tax_rates.shipping_prices(desk.books) == []
    assert tax_rates.vat_id(desk.books, 1) is None
