"""Tax rates, shipping prices, and the VAT numbers of payers (billing, "Tax").

A rate or a price counts for orders from its day on, until another one of the same kind begins.
Orders that were taken keep theirs. Percentages are hundredths of a percent, amounts whole cents.
"""

from collections.abc import Iterable
from typing import NamedTuple, get_args

from masthead.billing.countries import country_code
from masthead.billing.identifiers import vat_number
from masthead.billing.months import check_day
from masthead.billing.printed import Goods
from masthead.billing.tax import WHOLE, ShippingPrice, TaxRate, percent_text
from masthead.books.account import Books
from masthead.circulation.amounts import CENTS_MAX, in_currency
from masthead.contract.printable import is_name, single_spaced
from masthead.contract.subscription_types import TYPES, type_in_words
from masthead.errors import BadInput, NotFound
from masthead.store.billing import rates as stored
from masthead.store.billing.rates import StoredRate, StoredShippingPrice
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation
from masthead.store.books.reader_notes import check_open

__all__ = [
    "GOODS",
    "Done",
    "RateShown",
    "ShippingShown",
    "StoredRate",
    "StoredShippingPrice",
    "add_rate",
    "add_shipping_price",
    "rates",
    "remove_rate",
    "remove_shipping_price",
    "set_vat_id",
    "shipping_prices",
    "vat_id",
]

GOODS: tuple[Goods, ...] = get_args(Goods)
"""The classes of goods that have rates of their own."""

_STATE_MAX = 50


class Done(NamedTuple):
    """What the operation did to a rate or a price, by its id."""

    key: int
    sentence: str


class RateShown(NamedTuple):
    """A tax rate; ``until`` is the day on which the next one begins, None if none does."""

    stored: StoredRate
    until: str | None


class ShippingShown(NamedTuple):
    """A shipping price; ``until`` is the day on which the next one begins, None if none does."""

    stored: StoredShippingPrice
    until: str | None


def rates(books: Books) -> list[RateShown]:
    """Return the tax rates by country, state, goods and day."""
    with books.read() as reading:
        found = stored.stored_rates(reading)
    return [RateShown(each, _until(each, found)) for each in found]


def shipping_prices(books: Books) -> list[ShippingShown]:
    """Return the shipping prices by type, country and day."""
    with books.read() as reading:
        found = stored.stored_shipping_prices(reading)
    return [ShippingShown(each, _until(each, found)) for each in found]


def _until(
    one: StoredRate | StoredShippingPrice, every: Iterable[StoredRate | StoredShippingPrice]
) -> str | None:
    later = [
        each.begins_on
        for each in every
        if _kind(each) == _kind(one) and each.begins_on > one.begins_on
    ]
    return min(later, default=None)


def _kind(one: StoredRate | StoredShippingPrice) -> tuple[str | None, ...]:
    """Return what a rate or a price is for, apart from its day."""
    if isinstance(one, StoredRate):
        return one.country, one.state, one.goods
    return one.country, one.type


def add_rate(books: Books, rate: TaxRate, *, dry_run: bool = False) -> Done:
    """Add a tax rate, which replaces an earlier one of the same country, state and goods.

    Raises BadInput for a country, goods, percentage or day that there is not, and if a rate for the
    same begins on the same day.
    """
    rate = _checked(rate)
    with books.change(dry_run=dry_run) as change:
        for each in stored.stored_rates(change):
            if each.rate._replace(percent=rate.percent) == rate:
                raise BadInput(
                    f"{_for(rate)} there is a rate of {percent_text(each.percent)} from "
                    f"{rate.begins_on} on already: a rate that begins on another day replaces it"
                )
        key = stored.add_rate(change, rate)
        done = Done(
            key,
            f"tax rate {key} was added: {_for(rate)} {percent_text(rate.percent)} from "
            f"{rate.begins_on} on",
        )
        change.say(done.sentence)
    return done


def _checked(rate: TaxRate) -> TaxRate:
    if rate.goods not in GOODS:
        raise BadInput(f"{rate.goods!r} is no class of goods: they are {', '.join(GOODS)}")
    if not 0 <= rate.percent <= WHOLE:
        raise BadInput(f"{percent_text(rate.percent)} is not a percentage from 0 to 100")
    state = single_spaced(rate.state or "").upper()
    if state and not is_name(state, _STATE_MAX):
        raise BadInput(f"{rate.state!r} is no state: it has at most {_STATE_MAX} characters")
    return rate._replace(
        country=country_code(rate.country), state=state or None, begins_on=check_day(rate.begins_on)
    )


def _for(rate: TaxRate) -> str:
    place = f"{rate.state}, {rate.country}" if rate.state else rate.country
    return f"for {rate.goods} in {place},"


def remove_rate(books: Books, rate_id: int, *, dry_run: bool = False) -> Done:
    """Remove a tax rate that has not begun.

    Raises NotFound if there is no such rate, BadInput if it has begun: orders may have it.
    """
    with books.change(dry_run=dry_run) as change:
        found = [each for each in stored.stored_rates(change) if each.rate_id == rate_id]
        if not found:
            raise NotFound(f"account {books.account_id} has no tax rate {rate_id}")
        _check_to_come(change, f"tax rate {rate_id}", found[0].begins_on)
        stored.remove(change, "tax_rates", rate_id)
        done = Done(rate_id, f"tax rate {rate_id} was removed before it began")
        change.say(done.sentence)
    return done


def _check_to_come(change: Operation, name: str, begins_on: str) -> None:
    if begins_on <= change.today:
        raise BadInput(
            f"{name} began on {begins_on}, so orders may have it: one that begins later replaces it"
        )


def add_shipping_price(books: Books, price: ShippingPrice, *, dry_run: bool = False) -> Done:
    """Add the price of sending one ordered copy, which replaces an earlier one of the same kind.

    Raises BadInput for a country, type, amount or day that there is not, and if a price for the
    same begins on the same day.
    """
    if price.type not in TYPES:
        raise BadInput(f"{price.type!r} is no type: they are {', '.join(TYPES)}")
    if not 0 <= price.cents <= CENTS_MAX:
        raise BadInput("a shipping price is an amount of 0 or more")
    country = None if price.country is None else country_code(price.country)
    price = price._replace(country=country, begins_on=check_day(price.begins_on))
    where = f"to {country}" if country else "to all other countries"
    what = f"a copy of type {type_in_words(price.type)} {where}"
    with books.change(dry_run=dry_run) as change:
        for each in stored.stored_shipping_prices(change):
            if each.price._replace(cents=price.cents) == price:
                raise BadInput(
                    f"{what} costs {in_currency(each.cents, change.currency)} from "
                    f"{price.begins_on} on already: a price that begins on another day replaces it"
                )
        key = stored.add_shipping_price(change, price)
        done = Done(
            key,
            f"shipping price {key} was added: {what} costs "
            f"{in_currency(price.cents, change.currency)} from {price.begins_on} on",
        )
        change.say(done.sentence)
    return done


def remove_shipping_price(books: Books, price_id: int, *, dry_run: bool = False) -> Done:
    """Remove a shipping price that has not begun.

    Raises NotFound if there is no such price, BadInput if it has begun: orders may have it.
    """
    with books.change(dry_run=dry_run) as change:
        found = [
            each
            for each in stored.stored_shipping_prices(change)
            if each.shipping_price_id == price_id
        ]
        if not found:
            raise NotFound(f"account {books.account_id} has no shipping price {price_id}")
        _check_to_come(change, f"shipping price {price_id}", found[0].begins_on)
        stored.remove(change, "shipping_prices", price_id)
        done = Done(price_id, f"shipping price {price_id} was removed before it began")
        change.say(done.sentence)
    return done


def vat_id(books: Books, subscriber_id: int) -> str | None:
    """Return the VAT number of a payer; None if there is none."""
    with books.read() as reading:
        return stored.vat_id_of(reading, subscriber_id)


def set_vat_id(
    books: Books, subscriber_id: int, number: str | None, *, dry_run: bool = False
) -> Done:
    """Set the VAT number of a payer, checked by its check digits; None removes it.

    It counts for later orders. Raises NotFound if there is no such subscriber. Raises BadInput if
    the subscriber is deleted, or for a number that is not one of the European Union. Raises
    BadUsage if the package that checks it is not installed.
    """
    number = None if number is None else vat_number(number)
    with books.change(dry_run=dry_run) as change:
        check_open(change, subscriber_id)
        if stored.vat_id_of(change, subscriber_id) == number:
            name = reader_named(change, subscriber_id)
            what = "has this VAT number already" if number else "has no VAT number"
            return Done(subscriber_id, f"nothing changed: {name} {what}")
        stored.set_vat_id(change, subscriber_id, number)
        verb = "removed" if number is None else "set"
        done = Done(subscriber_id, f"the VAT number of subscriber {subscriber_id} was {verb}")
        change.say(done.sentence)
    return done
