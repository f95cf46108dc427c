"""The tax and the shipping of orders, on both databases (billing, "Tax")."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from masthead.billing.tax import ShippingPrice, TaxPart, TaxRate
from masthead.books import billing_settings, catalogue, orders, tax_rates
from masthead.circulation.ordering import Item, Order, Person
from masthead.store.billing import order_tax
from tests.billing.seller import SELLER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.circulation.desk import Desk

VIENNA = {"address": "Gasse 1", "city": "Wien", "country_name": "Österreich"}
BERNE = {"address": "Gasse 1", "city": "Bern", "country_abbreviation": "CH"}
PRINT, BOTH, DIGITAL, MUG = range(1, 5)
"""Print for 100.00 and 7.00 tax, Both for 120.00 and 8.40, Digital for 50.00, a mug for 10.00."""


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """An account with a catalogue and rates, which does not bill yet."""
    shared.empty()
    shared.to("2026-03-01")
    shared.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    shared.put("issues", issue_id=1, publication_id=1, name="April", date="2026-04-01")
    books = shared.books
    line = catalogue.Line(1, 12, "Print", 1, 10_000)
    catalogue.add_bundle(books, "A year", [line], None, 700)
    both = line._replace(type="Both", price=12_000)
    catalogue.add_bundle(books, "Both", [both], None, 840, digital_share=2_500)
    catalogue.add_bundle(books, "Digital", [line._replace(type="Digital", price=5_000)], None, 0)
    catalogue.add(books, "product", {"name": "Mug", "price": 1_000, "tax": 190})
    for country, goods, percent in (
        ("DE", "print", 700),
        ("DE", "digital", 1900),
        ("DE", "product", 1900),
        ("AT", "print", 1000),
    ):
        rate = TaxRate(country, None, goods, percent, "2026-01-01")  # type: ignore[arg-type]
        tax_rates.add_rate(books, rate)
    tax_rates.add_shipping_price(books, ShippingPrice("AT", "Print", 1_100, "2026-01-01"))
    billing_settings.set_values(books, SELLER)
    return shared


def bundle(number: int, **more: object) -> Item:
    return Item(bundle_id=number, **more)  # type: ignore[arg-type]


class Taken(NamedTuple):
    """An order's totals and shipping as stored, and the prices of its terms."""

    sub_total: str
    tax_total: str
    grand_total: str
    shipping: int
    shipping_tax: int
    terms: tuple[int, ...]


def take(desk: Desk, *items: Item, address: dict[str, str] | None = None) -> Taken:
    payer = Person(last_name="Ames", email="ada@example.org", address=address or {})
    placed = orders.place(desk.books, Order(payer, items))
    row = desk.connection.row(
        """
        SELECT sub_total, tax_total, grand_total, shipping, shipping_tax FROM orders
        WHERE account_id = :id AND order_id = :order_id
        """,
        id=desk.account_id,
        order_id=placed.order_id,
    )
    assert row is not None
    terms = desk.connection.column_as(
        int,
        """
        SELECT t.price FROM terms AS t
        JOIN order_items AS i ON i.account_id = :id AND i.order_item_id = t.order_item_id
        WHERE t.account_id = :id AND i.order_id = :order_id ORDER BY t.term_id
        """,
        id=desk.account_id,
        order_id=placed.order_id,
    )
    taken = Taken._make((*row, tuple(terms)))
    assert orders.show(desk.books, placed.order_id).due == round(float(taken.grand_total) * 100)
    assert placed.cents == round(float(taken.grand_total) * 100)
    return taken


def parts_of(
    monkeypatch: pytest.MonkeyPatch, desk: Desk, *items: Item, address: dict[str, str]
) -> tuple[Sequence[Sequence[TaxPart]], Sequence[TaxPart]]:
    """Take an order; return the parts of its items and of its shipping."""
    found = []
    rule = order_tax.taxed

    def noted(*arguments: object) -> object:
        found.append(rule(*arguments))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(orders, "taxed", noted)
    take(desk, *items, address=address)
    ((priced, shipping),) = found
    return [each.parts for each in priced], shipping


def test_an_account_that_does_not_bill_has_the_tax_of_its_bundles(desk: Desk) -> None:
    taken = take(desk, bundle(PRINT), address=VIENNA)
    assert taken == Taken("100", "7", "107", 0, 0, (10_000,))


def test_an_order_has_the_rate_of_the_readers_country(desk: Desk) -> None:
    billing_settings.begin(desk.books)
    taken = take(desk, bundle(PRINT), address=VIENNA)
    assert taken == Taken("97.27", "10.73", "118", 1_000, 100, (9_727,))


def test_prices_without_tax_get_the_tax_of_the_country(desk: Desk) -> None:
    billing_settings.set_values(desk.books, {"prices_with_tax": "no"})
    billing_settings.begin(desk.books)
    taken = take(desk, bundle(PRINT), address=VIENNA)
    assert taken == Taken("100", "11.1", "122.1", 1_100, 110, (10_000,))


def test_a_reader_without_a_country_is_in_the_sellers(desk: Desk) -> None:
    """decisions, "The country of a line"."""
    billing_settings.begin(desk.books)
    assert take(desk, bundle(DIGITAL)).tax_total == "7.98"
    at_home = {"address": "Allee 1", "city": "Berlin"}
    assert take(desk, bundle(PRINT), address=at_home) == Taken("100", "7", "107", 0, 0, (10_000,))


def test_where_no_rate_is_set_the_tax_of_the_bundle_stands(desk: Desk) -> None:
    billing_settings.begin(desk.books)
    assert take(desk, bundle(PRINT), address=BERNE) == Taken("100", "7", "107", 0, 0, (10_000,))
    nowhere = BERNE | {"country_abbreviation": "??"}
    assert take(desk, bundle(PRINT), address=nowhere).tax_total == "7"


def test_print_and_digital_of_a_line_are_taxed_apart(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    billing_settings.begin(desk.books)
    at_home = {"address": "Allee 1", "city": "Berlin", "country_abbreviation": "DE"}
    items, shipping = parts_of(monkeypatch, desk, bundle(BOTH), address=at_home)
    assert items == [
        (
            TaxPart("print", 9_000, 630, 700, "S", 0),
            TaxPart("digital", 2_697, 513, 1900, "S", 0),
        )
    ]
    assert shipping == ()


def test_several_copies_are_taxed_and_sent_together(desk: Desk) -> None:
    """decisions, "Shipping"."""
    billing_settings.begin(desk.books)
    taken = take(desk, bundle(PRINT, copies=3), address=VIENNA)
    assert taken == Taken("291.82", "32.18", "354", 3_000, 300, (29_182,))


def test_a_product_is_taxed_and_not_sent(desk: Desk) -> None:
    billing_settings.begin(desk.books)
    assert take(desk, Item(product_id=1)) == Taken("10", "1.9", "11.9", 0, 0, ())


def test_the_reader_counts_and_not_the_payer(desk: Desk) -> None:
    billing_settings.begin(desk.books)
    donor = {"address": "Allee 1", "city": "Berlin", "country_abbreviation": "DE"}
    recipient = Person(last_name="Bell", address=VIENNA)
    taken = take(desk, bundle(PRINT, recipient=recipient), address=donor)
    assert (taken.tax_total, taken.shipping) == ("10.73", 1_000)
    without_address = Person(last_name="Cole", email="cole@example.org")
    digital = take(desk, bundle(DIGITAL, recipient=without_address), address=donor)
    assert digital.tax_total == "7.98"


def test_a_tax_that_an_order_names_stands_and_nothing_is_added(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    billing_settings.begin(desk.books)
    items, shipping = parts_of(
        monkeypatch, desk, bundle(PRINT, price=5_000, tax=123), address=VIENNA
    )
    assert items == [(TaxPart("print", 5_000, 123, 246, "S"),)]
    assert shipping == ()


def test_a_price_that_an_order_names_is_net_and_taxed_by_the_rates(desk: Desk) -> None:
    """decisions, "Prices that an order names"."""
    billing_settings.begin(desk.books)
    taken = take(desk, bundle(PRINT, price=5_000), address=VIENNA)
    assert taken == Taken("50", "5", "55", 0, 0, (5_000,))


def test_a_business_of_another_eu_country_pays_no_tax(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Reverse charge and exports"."""
    billing_settings.begin(desk.books)
    take(desk, bundle(DIGITAL), address=VIENNA)
    tax_rates.set_vat_id(desk.books, 1, "ATU57194903")
    items, shipping = parts_of(monkeypatch, desk, bundle(PRINT), address=VIENNA)
    assert items == [(TaxPart("print", 10_000, 0, 0, "AE", 0),)]
    assert shipping == (TaxPart("shipping", 1_028, 0, 0, "AE"),)


def test_a_rate_counts_from_its_day_on(desk: Desk) -> None:
    billing_settings.begin(desk.books)
    tax_rates.add_rate(desk.books, TaxRate("AT", None, "print", 2000, "2026-03-02"))
    assert take(desk, bundle(PRINT), address=VIENNA).tax_total == "10.73"
    desk.to("2026-03-02")
    assert take(desk, bundle(PRINT), address=VIENNA).tax_total == "19.66"


def test_a_shipping_rate_goes_before_that_of_print(desk: Desk) -> None:
    billing_settings.begin(desk.books)
    tax_rates.add_rate(desk.books, TaxRate("AT", None, "shipping", 2000, "2026-01-01"))
    taken = take(desk, bundle(PRINT), address=VIENNA)
    assert (taken.shipping, taken.shipping_tax) == (917, 183)
    assert taken.tax_total == "11.56"


def test_what_costs_nothing_is_sent_for_nothing(desk: Desk) -> None:
    free = [catalogue.Line(1, 12, "Print", 1, 0)]
    sample = catalogue.add_bundle(desk.books, "Sample", free, None, 0)
    billing_settings.begin(desk.books)
    assert take(desk, bundle(sample.key), address=VIENNA) == Taken("0", "0", "0", 0, 0, (0,))
