"""The made-up sales: purchases of subscriptions, and orders with their items."""

from itertools import count
from typing import NamedTuple

from masthead.sample_data.generate_catalogue import PRODUCTS, price_of
from masthead.sample_data.generate_publisher import Calendar, Publication, Row
from masthead.sample_data.generate_values import Draws, shortest, two_decimals
from masthead.sample_data.generate_words import NOTES, Country

_PAYMENT_TYPES = ("Credit Card", "Credit Card", "Check", "Bill Me", "Direct Debit", "Cash")
_IMPORTS = ("autumn-mailing.csv", "agency transfer 0042", "trade show cards, hall 7 (typ)")
_PRODUCTS = tuple((product_id, cents) for product_id, _, _, cents in PRODUCTS)


class Payer(NamedTuple):
    """A payer; the country determines the tax."""

    subscriber_id: int
    country: Country


class Delivery(NamedTuple):
    """The addresses of a sale; nothing is mailed if ``mailing_id`` is None."""

    mailing_id: int | None
    billing_id: int
    is_gift: int = 0


class Sale(NamedTuple):
    """The sale of a subscription."""

    publication: Publication
    years: int
    copies: int
    delivery: Delivery

    @property
    def bundle_id(self) -> int:
        """The id of the bundle."""
        return self.publication.publication_id * 10 + self.years

    @property
    def cents(self) -> int:
        """The price without tax, with 10 % off for each year after the first."""
        return price_of(self.publication, self.years) * self.copies


class _Item(NamedTuple):
    bundle_id: int | None
    product_id: int | None
    cents: int


class Sales:
    """Makes sales, and adds them to ``rows``."""

    def __init__(self, draws: Draws, rows: dict[str, list[Row]], calendar: Calendar) -> None:
        self._draws = draws
        self._rows = rows
        self._calendar = calendar
        self._order_ids = count(1)
        self._order_item_ids = count(1)
        self._purchase_ids = count(1)

    def sell(self, payer: Payer, sale: Sale, day: int) -> int:
        """Add a purchase, usually with its order; return the id of the purchase."""
        random, pick = self._draws.random, self._draws.pick
        publication, years, _, delivery = sale
        cents = sale.cents
        purchase_id = next(self._purchase_ids)
        name = f"{publication.name}, {years} year{'s' if years > 1 else ''}"
        self._rows["purchases"].append(
            (
                purchase_id,
                pick(_PAYMENT_TYPES),
                pick(NOTES) if random() < 0.04 else None,
                payer.subscriber_id,
                sale.bundle_id,
                delivery.mailing_id,
                delivery.billing_id,
                name if random() < 0.8 else None,
                f"INV-{purchase_id:07}" if random() < 0.6 else None,
                two_decimals(cents + _tax(cents, payer.country)),
                two_decimals(cents) if random() < 0.7 else None,
                delivery.is_gift,
            )
        )
        if random() < 0.65:
            items = [_Item(sale.bundle_id, None, cents)]
            while random() < 0.2:
                items.append(_Item(None, *pick(_PRODUCTS)))
            self._order(payer, delivery, day, items)
        return purchase_id

    def sell_product(self, payer: Payer, delivery: Delivery, day: int) -> None:
        """Add an order of one product."""
        self._order(payer, delivery, day, [_Item(None, *self._draws.pick(_PRODUCTS))])

    def _order(self, payer: Payer, delivery: Delivery, day: int, items: list[_Item]) -> None:
        """Add an order; its totals are the sums of its items."""
        random, time, today = self._draws.random, self._calendar.time, self._calendar.today
        order_id = next(self._order_ids)
        sub_total = tax_total = 0
        for item in items:
            tax = _tax(item.cents, payer.country)
            sub_total += item.cents
            tax_total += tax
            refunded = random() < 0.03
            refunded_on = min(today, day + int(random() * 40))
            fulfilled_on = day + 1 + int(random() * 6)
            self._rows["order_items"].append(
                (
                    next(self._order_item_ids),
                    order_id,
                    item.bundle_id,
                    item.product_id,
                    time(refunded_on, random()) if refunded else None,
                    time(fulfilled_on, random()) if fulfilled_on <= today else None,
                    shortest(item.cents),
                    shortest(tax),
                    shortest(item.cents + tax),
                )
            )
        self._rows["orders"].append(
            (
                order_id,
                payer.subscriber_id,
                delivery.mailing_id or delivery.billing_id,
                delivery.billing_id,
                self._draws.pick(_IMPORTS) if random() < 0.1 else None,
                1 + int(random() * 12) if random() < 0.5 else None,
                1 + int(random() * 4) if random() < 0.8 else None,
                time(day, random()),
                delivery.is_gift,
                shortest(sub_total),
                shortest(tax_total),
                shortest(sub_total + tax_total),
            )
        )


def _tax(cents: int, country: Country) -> int:
    return (cents * country.tax + 5000) // 10000
