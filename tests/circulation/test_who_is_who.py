"""Orders: who is there and who is new, gifts, whole addresses, and what a renewal extends.

And readers who are merged: what both have becomes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import erasure, issues, order_files, orders, subscribers, subscriptions
from masthead.books.issues import PRINTED, Written
from masthead.circulation.addresses import lacking
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import BadInput, MastheadError
from masthead.store.books import similar_readers
from masthead.store.books.operation import operation
from masthead.store.books.reports import counting, lists_of, served
from tests.circulation.desk import ACTOR, Desk

if TYPE_CHECKING:
    from masthead.store.database import Value

TODAY = "2027-01-02"
YEAR, ONE = 1, 2
BATH = {"city": "Bath", "country_name": "United States"}


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """A publication with four issues, none of them closed, and without readers."""
    shared.empty()
    shared.to(TODAY)
    shared.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    shared.put_many(
        "issues",
        [
            {"issue_id": n, "publication_id": 1, "name": f"No. {n}", "date": f"2027-0{n + 1}-01"}
            for n in range(1, 5)
        ],
    )
    for bundle, count in ((YEAR, 12), (ONE, 1)):
        shared.put("bundles", bundle_id=bundle, price=3600, tax=252)
        shared.put(
            "bundle_lines",
            bundle_id=bundle,
            line_number=1,
            publication_id=1,
            issues=count,
            type="Print",
            price=3600,
        )
    return shared


def at(street: str, **more: str) -> dict[str, str]:
    return {"address": street, **BATH, **more}


AGENCY = Person(email="ag@x.example", address=at("1 A", company="Agency"))
OTTO = Person(first_name="Otto", last_name="Ost", address=at("5 A"))


def place(desk: Desk, payer: Person, *items: Item, **named: Any) -> orders.Placed:
    """Place a paid order."""
    order = Order(payer, items or (Item(YEAR),), is_paid=True, **named)
    return orders.place(desk.books, order)


def refused(desk: Desk, payer: Person, *items: Item) -> str:
    """Place an order that must be refused; return the sentence."""
    before = desk.everything()
    with pytest.raises(MastheadError) as refusal:
        place(desk, payer, *items)
    assert desk.everything() == before
    return str(refusal.value)


def merge(desk: Desk, kept: int, gone: int, *, keep_both: bool = False) -> subscribers.Merged:
    """Merge two readers."""
    return subscribers.merge(desk.books, kept, gone, keep_both=keep_both)


def gifts(desk: Desk) -> list[tuple[int, int]]:
    """Return what the last order and purchase say: whether they are gifts."""
    pairs = zip(desk.table("orders"), desk.table("purchases"), strict=True)
    return [(order["is_gift"], purchase["is_gift"]) for order, purchase in pairs]


def alike(placed: orders.Placed) -> list[tuple[str, int | None, list[int]]]:
    return [
        (each.name, each.item, [one.subscriber_id for one in each.resembling])
        for each in placed.newcomers
    ]


def test_two_libraries_of_one_agency_are_two_readers(desk: Desk) -> None:
    """rules, "The same name" (C1): the agency stays one payer, and gives no gift."""
    for library, street in (("Town Library", "2 A"), ("City Library", "3 A")):
        reader = Person(address={"address": street, "company": library})
        placed = place(desk, AGENCY, Item(YEAR, recipient=reader))
        assert (placed.subscriber_id, placed.newcomers) == (1, ())
    found = [(row["subscriber_id"], row["issues"]) for row in desk.table("subscriptions")]
    assert found == [(2, 12), (3, 12)]
    assert gifts(desk) == [(0, 0), (0, 0)]
    made = issues.close(desk.books, 1)
    assert made.entries == 2
    other = AGENCY._replace(address=at("9 A", company="Other"))
    assert place(desk, other).subscriber_id == 4


def test_an_email_address_names_a_reader_only_with_the_same_name(desk: Desk) -> None:
    ada = Person(email="a@x.example", first_name="Ada", last_name="Ames")
    assert place(desk, ada).subscriber_id == 1
    for same in (ada._replace(first_name="ADA"), ada._replace(first_name="", last_name="")):
        assert place(desk, same).subscriber_id == 1
    ben = place(desk, ada._replace(first_name="Ben"))
    assert (ben.subscriber_id, alike(ben)) == (2, [("Ben Ames", None, [1])])


def test_who_looks_like_a_reader_is_shown_with_what_they_have(desk: Desk) -> None:
    """decisions, "Who looks like a reader" (C3): the same name and postal code, or else city."""
    assert not place(desk, OTTO).newcomers
    again = place(desk, OTTO._replace(address=at("7 A")))
    assert alike(again) == [("Otto Ost", None, [1])]
    assert again.newcomers[0].resembling[0].why == "same name and city"
    with operation(desk.store, 1, None) as books:
        said = similar_readers.described(books, [1])[1]
    assert said == (
        "subscriber 1, Otto Ost, 5 A, Bath: subscription 1, Tide, Print, 12 issues left, until "
        "2028-01-31"
    )
    for address, is_alike in (
        (at("5 A", city="Cork"), False),
        (at("5 A", zip_code="1"), True),
        ({"address": "5 A", "city": "Cork", "zip_code": "1"}, True),
        ({"address": "5 A", "city": "Bath", "zip_code": "2"}, True),
    ):
        placed = place(desk, OTTO._replace(address=address))
        assert bool(placed.newcomers) == is_alike, address
    library = Person(address=at("1 B", company="Library", zip_code="97 301"))
    assert not place(desk, library).newcomers
    same = library._replace(address=at("2 B", company="LIBRARY", zip_code="97 301"))
    assert alike(place(desk, same))[0][0] == "LIBRARY"
    ann, bob = (same._replace(first_name=name, last_name="Ax") for name in ("Ann", "Bob"))
    assert place(desk, ann).newcomers
    assert 9 not in alike(place(desk, bob))[0][2]


def test_the_same_words_within_an_order_are_one_person(desk: Desk) -> None:
    fox = Person(last_name="Fox", address=at("8 A"))
    items = Item(YEAR, recipient=fox), Item(ONE, recipient=fox), Item(ONE, recipient=OTTO)
    placed = place(desk, OTTO, *items)
    assert len(desk.table("subscribers")) == 2
    assert placed.subscriptions == (1, 2)


def test_a_renewal_code_names_its_reader_and_stays_so_when_merged(desk: Desk) -> None:
    place(desk, OTTO)
    place(desk, Person(last_name="Other", address=at("6 A")))
    first, second = (row["renewal_code"] for row in desk.table("subscribers"))
    assert place(desk, Person(renewal_code=second.lower())).subscriber_id == 2
    assert place(desk, Person(1, renewal_code=first)).subscriber_id == 1
    assert "does not have the renewal code" in refused(desk, Person(1, renewal_code=second))
    assert refused(desk, Person(renewal_code="?")) == "no subscriber has the renewal code '?'"
    merge(desk, 1, 2)
    for merged in (Person(2), Person(renewal_code=second)):
        assert place(desk, merged).subscriber_id == 1


def test_an_order_for_a_merged_reader_is_refused_if_the_kept_one_is_erased(desk: Desk) -> None:
    """circulation, "Merging": the id means the reader who is kept."""
    place(desk, OTTO)
    place(desk, Person(last_name="Other", address=at("6 A")))
    merge(desk, 1, 2, keep_both=True)
    erasure.erase(desk.books, 1, "earn")
    said = f"the reader was merged into another reader, who was deleted on {TODAY}"
    assert refused(desk, Person(2)) == said
    assert refused(desk, OTTO, Item(YEAR, recipient=Person(2))) == said
    with pytest.raises(order_files.RefusedOrders, match=said):
        order_files.place_many(desk.books, [Order(Person(2), (Item(YEAR),))], described_max=0)


def test_an_order_for_another_person_is_a_gift_by_default(desk: Desk) -> None:
    """decisions, "Who gives a gift"."""
    place(desk, OTTO, Item(YEAR, recipient=Person(last_name="Fox", address=at("8 A"))))
    reader = Person(2)
    place(desk, Person(1), Item(YEAR, recipient=reader, is_gift=False))
    place(desk, Person(1), Item(YEAR, is_gift=True))
    place(desk, AGENCY, Item(YEAR, recipient=reader, is_gift=True))
    place(desk, Person(email="ag@x.example"), Item(YEAR, recipient=reader))
    assert gifts(desk) == [(1, 1), (0, 0), (1, 1), (1, 1), (0, 0)]


def test_a_part_of_an_address_is_refused_and_replaces_none(desk: Desk) -> None:
    """circulation, "Addresses" (C11)."""
    city = Person(email="c@x.example", last_name="City", address=at("10 A"))
    place(desk, city)
    said = "the street of the address is missing: an address has a street and a city at least"
    assert refused(desk, city._replace(address={"city": "Bath"})) == said
    assert "the city of" in refused(desk, city._replace(address={"address": "9 A"}))
    assert "street and the city of" in refused(desk, Person(1, address={"company": "New"}))
    gift = Item(YEAR, recipient=Person(last_name="Fox", address={"state": "ME"}))
    assert "are missing" in refused(desk, city, gift)
    assert desk.subscription(1)["mailing_address_id"] == 1


@pytest.mark.parametrize(
    ("address", "lacks"),
    [
        ({"address": "1 A", "city": "Bath", "country_name": "US"}, ()),
        ({"address": "1 A", "zip_code": "1", "country_name": "US"}, ("city",)),
        ({"city": "Bath", "zip_code": "1", "country_name": "US"}, ("address",)),
        ({"address": "1 A", "zip_code": "1"}, ()),
        ({"city": "Bath", "zip_code": "1"}, ()),
        ({"address": "1 A"}, ()),
        ({"city": "Bath"}, ("address",)),
        ({"zip_code": "1"}, ("address", "city")),
        ({"city": " ", "zip_code": "1"}, ("address", "city")),
        ({"address": "1 Orchard Road", "country_abbreviation": "SG"}, ()),
        ({"city": "Monaco", "zip_code": "98000", "country_name": "Monaco"}, ()),
        ({"zip_code": "98000", "country_name": "Monaco"}, ("address", "city")),
        ({}, ("address", "city")),
    ],
)
def test_a_whole_address_has_a_street_and_a_city(
    address: dict[str, str], lacks: tuple[str, ...]
) -> None:
    """rules, "Whole addresses"."""
    assert lacking(address) == lacks


def test_a_reader_with_a_city_has_one_at_every_address() -> None:
    """rules, "Whole addresses": a street alone replaces no whole address."""
    present = [{"address": "2 B", "city": "Bath"}]
    assert lacking({"address": "1 A"}, present) == ("city",)
    assert lacking({"city": "Bath", "zip_code": "1"}, present) == ("address",)
    assert lacking({"address": "1 A", "country_name": "Monaco"}, present) == ()


def test_a_new_subscription_takes_no_temporary_address(desk: Desk) -> None:
    """circulation, "Addresses" (F5): also where the temporary address was ended before it began."""
    place(desk, OTTO)
    subscriptions.move_for_a_while(desk.books, 1, at("Palm Court"), "2027-02-10", "2027-03-10")
    place(desk, Person(1), Item(YEAR, is_new=True))
    subscriptions.go_back(desk.books, 1)
    place(desk, Person(1), Item(YEAR, is_new=True))
    subscriptions.move(desk.books, 3, at("9 B"))
    place(desk, Person(1), Item(YEAR, is_new=True))
    found = [row["mailing_address_id"] for row in desk.table("subscriptions")]
    assert found == [1, 1, 3, 3]
    assert [row["billing_address_id"] for row in desk.table("orders")] == [1, 1, 1, 3]


def test_a_renewal_extends_what_is_running_or_what_it_names(desk: Desk) -> None:
    """decisions, "What a renewal extends" (D1): not the newest by number."""
    place(desk, OTTO)
    place(desk, OTTO, Item(ONE))
    merge(desk, 1, 2, keep_both=True)
    issues.close(desk.books, 1)
    place(desk, Person(1), Item(ONE, is_new=True))
    issues.close(desk.books, 2)
    assert place(desk, Person(1), Item(ONE)).subscriptions == (1,)
    named = Item(ONE, subscription_id=3)
    assert place(desk, Person(), named).subscriptions == (3,)
    donor = Person(last_name="Donor", address=at("8 A"))
    assert place(desk, donor, named).subscriptions == (3,)
    assert desk.table("orders")[-1]["is_gift"] == 1


def test_what_cannot_be_extended_is_refused(desk: Desk) -> None:
    place(desk, OTTO)
    place(desk, Person(last_name="Fox", address=at("8 A")))
    named = Item(YEAR, subscription_id=1)
    for item, said in (
        (
            named._replace(recipient=Person(2)),
            "is a subscription of Otto Ost, and not of Fox",
        ),
        (named._replace(is_new=True), "or begins a new one"),
        (named._replace(subscription_id=9), "has no subscription 9"),
    ):
        assert said in refused(desk, Person(1), item)
    with operation(desk.store, 1, ACTOR) as books:
        books.connection.change("UPDATE subscriptions SET type = 'Both' WHERE subscription_id = 1")
    assert "the order gives nothing of Tide (print and digital)" in refused(desk, Person(1), named)
    with operation(desk.store, 1, ACTOR) as books:
        books.connection.change("UPDATE subscriptions SET cancelled_on = '2027-01-01'")
    assert "was cancelled on 2027-01-01" in refused(desk, Person(1), named)


def test_merging_makes_one_of_what_both_have(desk: Desk) -> None:
    """decisions, "What merging joins" (C3, D1): terms in order, one end, one copy."""
    place(desk, OTTO)
    place(desk, OTTO, Item(ONE))
    issues.close(desk.books, 1)
    subscriptions.suspend(desk.books, 1, "2027-04-01", "2027-04-20")
    subscriptions.suspend(desk.books, 2, "2027-03-20", "2027-04-30")
    subscriptions.move_for_a_while(desk.books, 2, at("Palm Court"), "2027-03-01", "2027-03-10")
    merged = merge(desk, 1, 2)
    assert [each.pair[:2] for each in merged.merged] == [(1, 2)]
    one, other = desk.table("subscriptions")
    assert (one["issues"], one["unearned_revenue"], one["date_expired"]) == (
        11,
        "33.00",
        "2028-02-29",
    )
    assert (other["issues"], other["unearned_revenue"], other["cancelled_on"]) == (0, "0.00", TODAY)
    assert (other["merged_into"], other["renew_campaign_active"]) == (1, 0)
    assert [row["subscription_id"] for row in desk.table("terms")] == [1, 1]
    spans = [
        (r["subscription_id"], r["from_date"], r["to_date"]) for r in desk.table("suspensions")
    ]
    assert sorted(spans) == [
        (1, "2027-03-20", "2027-03-31"),
        (1, "2027-04-01", "2027-04-20"),
        (1, "2027-04-21", "2027-04-30"),
    ]
    assert [row["subscription_id"] for row in desk.table("temporary_addresses")] == [1]
    assert place(desk, Person(), Item(ONE, subscription_id=2)).subscriptions == (1,)
    with pytest.raises(BadInput, match=r"subscription of .* was merged into another"):
        issues.reopen(desk.books, 1)
    assert issues.close(desk.books, 2).entries == 1
    with pytest.raises(BadInput, match="was merged into another subscription"):
        subscriptions.suspend(desk.books, 2)


def test_what_was_delivered_to_either_is_not_delivered_again(desk: Desk) -> None:
    """circulation, "Merging": lists stay as they were, and their files have all rows."""
    place(desk, OTTO)
    subscriptions.suspend(desk.books, 1, "2027-02-01", "2027-02-10")
    place(desk, OTTO)
    issues.close(desk.books, 1)
    before = desk.table("mailing_list_entries")
    subscriptions.resume(desk.books, 1, "2027-02-01")
    merge(desk, 1, 2)
    assert not issues.make_gap_list(desk.books, 1).entries
    assert desk.table("mailing_list_entries") == before
    assert [row["subscription_id"] for row in desk.table("subscription_issues")] == [1]
    with issues.mail_file_rows(desk.books, Written(1, 1), digital=False) as rows:
        assert [row[PRINTED.index("address")] for row in rows] == ["5 A"]
    with counting(desk.store, 1) as reading:
        issue, _ = lists_of(reading, 1, "2027-12-31")
        assert [each.country for each in served(reading, issue)] == ["United States"]


def test_both_go_on_where_that_is_said_or_one_is_unlimited(desk: Desk) -> None:
    place(desk, OTTO)
    place(desk, OTTO)
    desk.put("bundles", bundle_id=3, price=100)
    line: dict[str, Value] = {"line_number": 1, "publication_id": 1, "issues": -1, "price": 100}
    desk.put("bundle_lines", bundle_id=3, type="Print", **line)
    place(desk, OTTO, Item(3))
    first = merge(desk, 1, 2, keep_both=True)
    assert [each[:2] for each in first.apart] == [(1, 2)]
    second = merge(desk, 1, 3)
    assert [(each.other_id, each.is_unlimited) for each in second.apart] == [(3, True)]
    assert not first.merged
    assert not second.merged
    assert [row["merged_into"] for row in desk.table("subscriptions")] == [None] * 3
    assert [row["merged_into"] for row in desk.table("subscribers")] == [None, 1, 1]
