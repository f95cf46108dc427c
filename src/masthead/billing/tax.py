"""Tax of what is ordered: which rate a line has, and how net and tax follow (billing, "Tax").

Amounts are whole cents, percentages hundredths of a percent (19 percent is 1900), and days
``YYYY-MM-DD``. Tax is rounded half up on each part, so that net + tax = total on every part and in
every sum.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.billing.countries import EU
from masthead.billing.places import Place
from masthead.billing.printed import Category, Goods
from masthead.circulation.amounts import spread
from masthead.errors import BadInput

WHOLE = 10_000
"""A hundred percent."""

PHYSICAL: tuple[Goods, ...] = ("print", "product", "shipping")
"""The goods that go to a place."""

_PERCENT = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,2}))?\s*%?")


class TaxRate(NamedTuple):
    """A rate of a country, or of one of its states, for a class of goods, from a day on."""

    country: str
    state: str | None
    goods: Goods
    percent: int
    begins_on: str


class TaxPart(NamedTuple):
    """The net amount and the tax of goods with one rate.

    ``line`` is the number of the bundle's line from 0; None if the part is not of one line.
    """

    goods: Goods
    net: int
    tax: int
    percent: int
    category: Category
    line: int | None = None


class LineShare(NamedTuple):
    """A line of a bundle: its type, its part of the price, and how much of that is digital.

    ``digital_share`` is in hundredths of a percent, and only for a line of type Both: None is none.
    """

    type: str
    weight: int
    digital_share: int | None = None


def percent_of(text: str) -> int:
    """Return the hundredths of a percent of a text such as ``19``, ``7.25`` or ``7 %``.

    Raises BadInput for others, and for more than 100 percent.
    """
    found = _PERCENT.fullmatch(text.strip())
    percent = int(found[1]) * 100 + int((found[2] or "").ljust(2, "0")) if found else -1
    if not 0 <= percent <= WHOLE:
        raise BadInput(f"{text!r} is not a percentage from 0 to 100, such as 7 or 5.5")
    return percent


def percent_text(percent: int) -> str:
    """Return hundredths of a percent as a person reads them: ``7.25 %`` or ``19 %``."""
    whole, rest = divmod(percent, 100)
    decimals = f".{rest:02}".rstrip("0") if rest else ""
    return f"{whole}{decimals} %"


def tax_on(net: int, percent: int) -> int:
    """Return the tax on a net amount of 0 or more, rounded half up."""
    return _half_up(net * percent, WHOLE)


def tax_within(total: int, percent: int) -> int:
    """Return the tax that an amount with tax contains, rounded half up."""
    return _half_up(total * percent, WHOLE + percent)


def _half_up(number: int, by: int) -> int:
    return (2 * number + by) // (2 * by)


class Rates:
    """The rates of an account."""

    def __init__(self, rates: Iterable[TaxRate]) -> None:
        self._rates: dict[tuple[str, str | None, str], list[tuple[str, int]]] = {}
        for rate in rates:
            key = rate.country, rate.state, rate.goods
            self._rates.setdefault(key, []).append((rate.begins_on, rate.percent))

    def percent(self, place: Place, goods: Goods, day: str) -> int | None:
        """Return the rate of goods at a place on a day; None if none is set.

        The rate of a state goes before that of its country. Shipping without a rate has that of
        printed copies.
        """
        for kind in (goods, "print") if goods == "shipping" else (goods,):
            for state in (place.state, None) if place.state else (None,):
                begun = [
                    each
                    for each in self._rates.get((place.country, state, kind), ())
                    if each[0] <= day
                ]
                if begun:
                    return max(begun)[1]
        return None


class Taxing(NamedTuple):
    """How the parts of an order are taxed: the account's rates and settings, the day, the payer.

    With ``with_tax``, the price with tax is the same in each country, and what is net follows.
    ``vat_country`` is the country of the payer's VAT number, '' if there is none.
    """

    rates: Rates
    day: str
    with_tax: bool
    seller_country: str
    vat_country: str = ""

    def part(
        self,
        goods: Goods,
        place: Place | None,
        net: int,
        tax: int,
        *,
        is_net_fixed: bool = False,
        line: int | None = None,
    ) -> TaxPart:
        """Return the part of goods that cost ``net`` and ``tax`` where no rate is set.

        ``place`` is None if the reader's country is not known. With ``is_net_fixed``, the net
        amount stands in any case.
        """
        with_tax = self.with_tax and not is_net_fixed
        total = net + tax
        if self._is_reverse_charge(goods, place):
            at_home = self.rates.percent(Place(self.seller_country), goods, self.day)
            if with_tax and at_home is not None:
                net = total - tax_within(total, at_home)
            return TaxPart(goods, net, 0, 0, "AE", line)
        percent = None if place is None else self.rates.percent(place, goods, self.day)
        if percent is None:
            return fixed_part(goods, net, tax, line)
        if with_tax:
            tax = tax_within(total, percent)
            net = total - tax
        else:
            tax = tax_on(net, percent)
        return TaxPart(goods, net, tax, percent, "S" if percent else "Z", line)

    def _is_reverse_charge(self, goods: Goods, place: Place | None) -> bool:
        """Return whether the payer is a business of another EU country and owes the tax itself.

        Printed copies and products have to leave the seller's country, within the EU.
        """
        if self.vat_country not in EU - {self.seller_country} or self.seller_country not in EU:
            return False
        if goods not in PHYSICAL:
            return True
        return place is not None and place.country in EU - {self.seller_country}


def fixed_part(goods: Goods, net: int, tax: int, line: int | None = None) -> TaxPart:
    """Return the part of goods whose tax is a fixed amount; its rate follows from it.

    It is the rate with the fewest decimals that gives this tax: 7 % for 3.50 of 49.95.
    """
    percent = _half_up(tax * WHOLE, net) if net else 0
    for step in (100, 10):
        rounded = _half_up(percent, step) * step
        if tax_on(net, rounded) == tax:
            percent = rounded
            break
    return TaxPart(goods, net, tax, percent, "S" if tax else "Z", line)


def goods_of(types: Iterable[str]) -> Goods:
    """Return the class of goods of a bundle as one part: print if any line has printed copies."""
    return "digital" if set(types) == {"Digital"} else "print"


def bundle_parts(
    taxing: Taxing,
    place: Place | None,
    net: int,
    tax: int,
    lines: Sequence[LineShare],
    *,
    is_net_fixed: bool = False,
) -> tuple[TaxPart, ...]:
    """Return the parts of a bundle that costs ``net`` and ``tax`` where no rate is set.

    Both amounts are spread over the lines, and over print and digital within a line of type Both.
    """
    weights = [line.weight for line in lines]
    amounts = zip(spread(net, weights), spread(tax, weights), strict=True)
    return tuple(
        taxing.part(goods, place, *of_part, is_net_fixed=is_net_fixed, line=number)
        for number, (line, (line_net, line_tax)) in enumerate(zip(lines, amounts, strict=True))
        for goods, *of_part in _split(line, line_net, line_tax)
    )


def _split(line: LineShare, net: int, tax: int) -> list[tuple[Goods, int, int]]:
    share = (line.digital_share or 0) if line.type == "Both" else 0
    if line.type == "Digital" or share == WHOLE:
        return [("digital", net, tax)]
    if not share:
        return [("print", net, tax)]
    weights = [WHOLE - share, share]
    kinds: tuple[Goods, Goods] = ("print", "digital")
    return list(zip(kinds, spread(net, weights), spread(tax, weights), strict=True))


class ShippingPrice(NamedTuple):
    """What one ordered copy of a bundle's line of a type costs to send, from a day on.

    ``country`` is None for all countries that have no price of their own.
    """

    country: str | None
    type: str
    cents: int
    begins_on: str


class ShippingPrices:
    """The shipping prices of an account."""

    def __init__(self, prices: Iterable[ShippingPrice]) -> None:
        self._prices = list(prices)

    def cents(self, place: Place | None, type_: str, day: str) -> int:
        """Return the price of a copy of a type to a place on a day; 0 if none is set."""
        for country in (place.country, None) if place is not None else (None,):
            begun = [
                (each.begins_on, each.cents)
                for each in self._prices
                if (each.country, each.type) == (country, type_) and each.begins_on <= day
            ]
            if begun:
                return max(begun)[1]
        return 0


def shipping_parts(
    taxing: Taxing, costs: Iterable[tuple[Place | None, int]]
) -> tuple[TaxPart, ...]:
    """Return the parts of an order's shipping, one for each place to which anything is sent.

    ``costs`` are prices in cents by place. Where no rate is set, shipping has no tax.
    """
    sums: dict[Place | None, int] = {}
    for place, cents in costs:
        sums[place] = sums.get(place, 0) + cents
    return tuple(taxing.part("shipping", place, cents, 0) for place, cents in sums.items() if cents)
