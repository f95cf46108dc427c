"""Which rate a line has, and how net and tax follow from it (billing, "Tax")."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.places import Place, country_of
from masthead.billing.tax import (
    LineShare,
    Rates,
    ShippingPrice,
    ShippingPrices,
    Taxing,
    TaxPart,
    TaxRate,
    bundle_parts,
    fixed_part,
    goods_of,
    percent_of,
    percent_text,
    shipping_parts,
    tax_on,
    tax_within,
)
from masthead.errors import BadInput

if TYPE_CHECKING:
    from masthead.billing.printed import Goods

DAY = "2026-11-28"
DE, AT, CH, TEXAS = Place("DE"), Place("AT"), Place("CH"), Place("US", "TX")
RATES = Rates(
    [
        TaxRate("DE", None, "print", 700, "2020-01-01"),
        TaxRate("DE", None, "digital", 1900, "2020-01-01"),
        TaxRate("DE", None, "product", 1900, "2020-01-01"),
        TaxRate("AT", None, "print", 1000, "2020-01-01"),
        TaxRate("US", None, "print", 0, "2020-01-01"),
        TaxRate("US", "TX", "print", 825, "2020-01-01"),
    ]
)


def taxing(*, with_tax: bool = True, seller: str = "DE", vat_country: str = "") -> Taxing:
    return Taxing(RATES, DAY, with_tax, seller, vat_country)


CENTS = st.integers(0, 10**9)
PERCENT = st.integers(0, 10_000)
LINES = st.lists(
    st.builds(
        LineShare,
        st.sampled_from(["Print", "Digital", "Both"]),
        st.integers(0, 10**6),
        st.none() | st.integers(0, 10_000),
    ),
    min_size=1,
    max_size=5,
)


@given(CENTS, PERCENT)
def test_tax_is_rounded_half_up(cents: int, percent: int) -> None:
    exact = Fraction(cents * percent, 10_000)
    assert Fraction(-1, 2) < tax_on(cents, percent) - exact <= Fraction(1, 2)
    contained = Fraction(cents * percent, 10_000 + percent)
    assert Fraction(-1, 2) < tax_within(cents, percent) - contained <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("net", "percent", "tax"), [(50, 100, 1), (49, 100, 0), (150, 100, 2), (1000, 1900, 190)]
)
def test_half_a_cent_of_tax_is_a_cent(net: int, percent: int, tax: int) -> None:
    assert tax_on(net, percent) == tax


@given(
    CENTS,
    CENTS,
    LINES,
    st.booleans(),
    st.sampled_from([DE, AT, CH, TEXAS, None]),
    st.sampled_from(["", "AT", "DE"]),
)
def test_the_parts_of_a_bundle_add_up_to_its_price(
    net: int, tax: int, lines: list[LineShare], with_tax: bool, place: Place, vat_country: str
) -> None:
    """The price with tax stands, or the net amount does, except without tax at all."""
    rule = taxing(with_tax=with_tax, vat_country=vat_country)
    parts = bundle_parts(rule, place, net, tax, lines)
    assert all(part.net >= 0 and part.tax >= 0 for part in parts)
    assert {part.line for part in parts} == set(range(len(lines)))
    if any(part.category == "AE" for part in parts):
        assert sum(part.net + part.tax for part in parts) <= net + tax
    elif with_tax:
        assert sum(part.net + part.tax for part in parts) == net + tax
    else:
        assert sum(part.net for part in parts) == net


@given(CENTS, LINES, st.sampled_from([DE, AT, TEXAS]))
def test_each_part_has_the_tax_of_its_own_rate(
    net: int, lines: list[LineShare], place: Place
) -> None:
    for part in bundle_parts(taxing(with_tax=False), place, net, 0, lines):
        rate = RATES.percent(place, part.goods, DAY)
        assert part.percent == (rate or 0)
        assert part.tax == tax_on(part.net, rate or 0)


@given(CENTS, LINES)
def test_a_line_without_a_share_is_print_alone(net: int, lines: list[LineShare]) -> None:
    parts = bundle_parts(taxing(), DE, net, 0, lines)
    for number, line in enumerate(lines):
        own = [part.goods for part in parts if part.line == number]
        if line.type != "Both":
            assert own == [line.type.lower()]
        elif not line.digital_share:
            assert own == ["print"]
        else:
            assert own == (["digital"] if line.digital_share == 10_000 else ["print", "digital"])


def test_a_line_of_both_is_split_by_its_share() -> None:
    parts = bundle_parts(taxing(), DE, 10_000, 0, [LineShare("Both", 1, 2_500)])
    assert parts == (
        TaxPart("print", 7_009, 491, 700, "S", 0),
        TaxPart("digital", 2_101, 399, 1900, "S", 0),
    )


def test_with_prices_with_tax_the_reader_pays_the_same_everywhere() -> None:
    line = [LineShare("Print", 1)]
    (at_home,) = bundle_parts(taxing(), DE, 10_000, 700, line)
    (abroad,) = bundle_parts(taxing(), AT, 10_000, 700, line)
    assert (at_home.net, at_home.tax) == (10_000, 700)
    assert (abroad.net, abroad.tax, abroad.percent) == (9_727, 973, 1000)


def test_with_prices_without_tax_the_publisher_gets_the_same_everywhere() -> None:
    rule = taxing(with_tax=False)
    (abroad,) = bundle_parts(rule, AT, 10_000, 700, [LineShare("Print", 1)])
    assert (abroad.net, abroad.tax) == (10_000, 1_000)


def test_a_net_amount_that_was_agreed_stands() -> None:
    (part,) = bundle_parts(taxing(), DE, 5_000, 700, [LineShare("Print", 1)], is_net_fixed=True)
    assert part == TaxPart("print", 5_000, 350, 700, "S", 0)


def test_where_no_rate_is_set_the_fixed_tax_stands() -> None:
    line = [LineShare("Print", 1)]
    for place in (CH, None):
        (part,) = bundle_parts(taxing(), place, 10_000, 700, line)
        assert part == TaxPart("print", 10_000, 700, 700, "S", 0)
    (untaxed,) = bundle_parts(taxing(), CH, 10_000, 0, line)
    assert untaxed == TaxPart("print", 10_000, 0, 0, "Z", 0)


def test_a_line_without_a_rate_has_its_share_of_the_fixed_tax() -> None:
    lines = [LineShare("Print", 3), LineShare("Digital", 1)]
    parts = bundle_parts(taxing(), AT, 8_000, 800, lines)
    assert parts == (
        TaxPart("print", 6_000, 600, 1000, "S", 0),
        TaxPart("digital", 2_000, 200, 1000, "S", 1),
    )


def test_a_rate_of_0_is_a_rate() -> None:
    (part,) = bundle_parts(taxing(), Place("US", "OR"), 10_000, 700, [LineShare("Print", 1)])
    assert part == TaxPart("print", 10_700, 0, 0, "Z", 0)


@given(st.integers(1, 10**6), st.integers(0, 100_000))
def test_the_rate_of_a_fixed_tax_gives_that_tax_again(net: int, tax: int) -> None:
    part = fixed_part("print", net, tax)
    is_near = abs(Fraction(part.percent) - Fraction(tax * 10_000, net)) <= Fraction(1, 2)
    assert is_near or tax_on(net, part.percent) == tax


@pytest.mark.parametrize(("net", "tax", "percent"), [(4995, 350, 700), (10000, 1050, 1050)])
def test_the_rate_of_a_fixed_tax_has_few_decimals(net: int, tax: int, percent: int) -> None:
    assert fixed_part("print", net, tax).percent == percent


@pytest.mark.parametrize(
    ("place", "goods", "day", "percent"),
    [
        (Place("DE"), "print", "2020-06-30", 700),
        (Place("DE"), "print", "2020-07-01", 500),
        (Place("DE"), "print", "2021-01-01", 700),
        (Place("DE"), "print", "2019-12-31", None),
        (Place("DE"), "digital", "2021-01-01", None),
        (Place("DE", "BY"), "print", "2021-01-01", 700),
        (Place("US", "TX"), "print", "2021-01-01", 825),
        (Place("US", "TX"), "print", "2020-01-01", 100),
        (Place("US", "OR"), "print", "2021-01-01", 100),
        (Place("US"), "print", "2021-01-01", 100),
        (Place("DE"), "shipping", "2020-07-01", 500),
        (Place("US"), "shipping", "2021-01-01", 300),
    ],
)
def test_a_rate_is_that_of_the_place_and_the_day(
    place: Place, goods: Goods, day: str, percent: int | None
) -> None:
    rates = Rates(
        [
            TaxRate("DE", None, "print", 700, "2021-01-01"),
            TaxRate("DE", None, "print", 700, "2020-01-01"),
            TaxRate("DE", None, "print", 500, "2020-07-01"),
            TaxRate("US", None, "print", 100, "2020-01-01"),
            TaxRate("US", "TX", "print", 825, "2020-02-01"),
            TaxRate("US", None, "shipping", 300, "2020-01-01"),
        ]
    )
    assert rates.percent(place, goods, day) == percent


@pytest.mark.parametrize(
    ("seller", "vat_country", "goods", "place", "category"),
    [
        ("DE", "AT", "print", AT, "AE"),
        ("DE", "AT", "digital", DE, "AE"),
        ("DE", "AT", "print", DE, "S"),
        ("DE", "AT", "print", CH, "Z"),
        ("DE", "DE", "print", AT, "S"),
        ("DE", "", "print", AT, "S"),
        ("CH", "AT", "print", AT, "S"),
        ("DE", "AT", "shipping", AT, "AE"),
    ],
)
def test_a_business_of_another_eu_country_owes_the_tax_itself(
    seller: str, vat_country: str, goods: Goods, place: Place, category: str
) -> None:
    part = taxing(seller=seller, vat_country=vat_country).part(goods, place, 10_700, 0)
    assert part.category == category
    assert (part.tax == 0) == (category != "S")


def test_with_reverse_charge_the_tax_at_home_is_taken_out_of_a_price_with_tax() -> None:
    line = [LineShare("Print", 1)]
    (part,) = bundle_parts(taxing(vat_country="AT"), AT, 10_000, 700, line)
    assert (part.net, part.tax) == (10_000, 0)
    (typed_with_tax,) = bundle_parts(taxing(vat_country="AT"), AT, 10_700, 0, line)
    assert (typed_with_tax.net, typed_with_tax.tax) == (10_000, 0)
    (without,) = bundle_parts(taxing(vat_country="AT", with_tax=False), AT, 10_700, 0, line)
    assert (without.net, without.tax) == (10_700, 0)


def test_a_bundle_as_one_part_is_digital_only_if_all_of_it_is() -> None:
    assert goods_of(["Digital", "Digital"]) == "digital"
    assert goods_of(["Digital", "Both"]) == "print"


SHIPPING = ShippingPrices(
    [
        ShippingPrice(None, "Print", 2_000, "2020-01-01"),
        ShippingPrice("DE", "Print", 500, "2020-01-01"),
        ShippingPrice("DE", "Print", 600, "2027-01-01"),
        ShippingPrice("AT", "Print", 0, "2020-01-01"),
    ]
)


@pytest.mark.parametrize(
    ("place", "type_", "cents"),
    [
        (DE, "Print", 500),
        (AT, "Print", 0),
        (CH, "Print", 2_000),
        (None, "Print", 2_000),
        (DE, "Both", 0),
    ],
)
def test_shipping_has_a_price_by_country_and_type(
    place: Place | None, type_: str, cents: int
) -> None:
    assert SHIPPING.cents(place, type_, DAY) == cents
    assert SHIPPING.cents(DE, "Print", "2019-12-31") == 0


@given(st.lists(st.tuples(st.sampled_from([DE, AT, CH, None]), st.integers(0, 10_000))))
def test_shipping_is_one_line_for_each_place(costs: list[tuple[Place | None, int]]) -> None:
    parts = shipping_parts(taxing(), costs)
    assert sum(part.net + part.tax for part in parts) == sum(cents for _, cents in costs)
    assert len(parts) == len({place for place, cents in costs if cents})


@pytest.mark.parametrize(
    ("text", "percent", "shown"),
    [
        ("19", 1900, "19 %"),
        ("7.25", 725, "7.25 %"),
        ("5.5 %", 550, "5.5 %"),
        ("0", 0, "0 %"),
        ("100%", 10_000, "100 %"),
    ],
)
def test_a_percentage_is_read_and_shown(text: str, percent: int, shown: str) -> None:
    assert percent_of(text) == percent
    assert percent_text(percent) == shown
    assert percent_of(shown) == percent


@pytest.mark.parametrize("text", ["", "-1", "100.01", "7,25", "0.001", "1e2", "seven", "\u0667"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a percentage from 0 to 100"):
        percent_of(text)


@pytest.mark.parametrize(
    ("texts", "country"),
    [
        (("de", "Austria"), "DE"),
        ((None, "Austria"), "AT"),
        (("", "Österreich"), "AT"),
        (("USA", None), "US"),
        (("A", "Austria"), "AT"),
        (("Nowhere",), None),
        (("", None), ""),
    ],
)
def test_a_country_is_known_by_its_code_or_its_name(
    texts: tuple[str | None, ...], country: str | None
) -> None:
    assert country_of(*texts) == country
