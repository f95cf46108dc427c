"""What refunds of an item give back together (circulation, "Money")."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.booking_day import open_day, taken_back
from masthead.circulation.refunding import (
    Item,
    TermMoney,
    net_of,
    paid_gross,
    parts,
    taken,
    tax_share,
)


def refunds(item: Item, terms: list[TermMoney], amounts: list[int]) -> list[tuple[int, int]]:
    """Refund amounts one after the other; return net and tax of each, and check the terms."""
    found = []
    for amount in amounts:
        net = net_of(item, amount, terms)
        booked = taken(net, terms)
        terms = [
            TermMoney(term.received, term.earned + each.earned, term.refunded + each.refunded)
            for term, each in zip(terms, booked, strict=True)
        ]
        assert sum(each.refunded for each in booked) == net
        assert 0 <= net <= amount
        assert all(term.unearned == 0 and min(term) >= 0 for term in terms)
        item = item._replace(refunded=item.refunded + amount)
        found.append((net, amount - net))
        nets, taxes = (sum(column) for column in zip(*found, strict=True))
        assert nets <= item.net
        assert taxes <= item.tax
    return found


def test_cents_given_back_one_by_one_are_never_more_tax_than_was_paid() -> None:
    """decisions, "Refunds in parts": nor is more booked as refunded than was given."""
    found = refunds(Item(50, 51, 50, 0), [TermMoney(50, 12, 0)], [1] * 101)
    assert [sum(column) for column in zip(*found, strict=True)] == [50, 51]
    found = refunds(Item(2, 99, 2, 0), [TermMoney(2, 0, 0)], [50, 1, 50])
    assert [sum(column) for column in zip(*found, strict=True)] == [2, 99]


def test_three_parts_are_the_whole_to_the_cent() -> None:
    """decisions, "Refunds in parts"."""
    item = Item(3500, 245, 3500, 0)
    found = refunds(item, [TermMoney(3500, 875, 0)], [1249, 1248, 1248])
    assert found == [(1167, 82), (1167, 81), (1166, 82)]
    assert [sum(column) for column in zip(*found, strict=True)] == [3500, 245]


def test_lines_share_a_refund_in_proportion_and_none_gives_more_than_it_has() -> None:
    """rules, "A refund of several lines"; by hand: what is unearned first, then the earned."""
    terms = [TermMoney(3000, 1000, 0), TermMoney(1000, 0, 0), TermMoney(0, 0, 0)]
    assert [each.refunded for each in taken(300, terms)] == [200, 100, 0]
    assert [each.earned for each in taken(300, terms)] == [1800, 900, 0]
    assert [tuple(each) for each in taken(3500, terms)] == [(2500, -500), (1000, 0), (0, 0)]
    assert parts(5, [3, 3, 0]) == [2, 3, 0]


def test_what_stands_ahead_is_taken_back_there_and_a_month_that_has_ended_is_left() -> None:
    """decisions, "Months that have ended": the latest day first; and nothing is booked before."""
    ahead = [("2026-12-01", 290), ("2027-01-01", 291)]
    assert taken_back(300, ahead, "2026-11-26") == [("2027-01-01", 291), ("2026-12-01", 9)]
    assert taken_back(600, ahead, "2026-12-01") == [("2027-01-01", 291), ("2026-12-01", 309)]
    assert open_day("2026-11-01", "2026-11-30") == "2026-11-01"
    assert open_day("2026-11-30", "2026-12-01") == "2026-12-01"
    assert open_day("2027-01-01", "2026-12-01") == "2027-01-01"


@given(
    prices=st.lists(st.integers(1, 10_000), min_size=1, max_size=3),
    tax=st.integers(0, 3_000),
    earned=st.integers(0, 100),
    cuts=st.lists(st.integers(0, 100), max_size=4),
)
def test_parts_add_up_to_all_that_was_paid(
    prices: list[int], tax: int, earned: int, cuts: list[int]
) -> None:
    """decisions, "Refunds in parts": any parts, after any earned revenue."""
    net = sum(prices)
    item = Item(net, tax, net, 0)
    assert paid_gross(item) == net + tax
    bounds = [0, *sorted((net + tax) * cut // 100 for cut in cuts), net + tax]
    amounts = [after - before for before, after in pairwise(bounds)]
    found = refunds(item, [TermMoney(price, price * earned // 100, 0) for price in prices], amounts)
    assert [sum(column) for column in zip(*found, strict=True)] == [net, tax]


@given(prices=st.lists(st.integers(1, 1_000), min_size=1, max_size=6), tax=st.integers(0, 500))
def test_terms_cancelled_one_by_one_give_back_the_tax_to_the_cent(
    prices: list[int], tax: int
) -> None:
    """decisions, "Refunds in parts": a bundle's subscriptions end one after the other."""
    item, back = Item(sum(prices), tax, sum(prices), 0), 0
    for price in prices:
        share = tax_share(item, price, back)
        item, back = item._replace(refunded=item.refunded + price + share), back + price
        assert 0 <= item.refunded - back <= tax
    assert item.refunded == item.net + tax
