"""``masthead generate``: made-up import files."""

from __future__ import annotations

import hashlib
import re
import tracemalloc
from collections import Counter
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract.records import TABLES
from masthead.errors import BadInput
from masthead.sample_data.generate import REFERENCE_DATE, generate
from masthead.sample_data.generate_values import SUBSCRIBERS_MAX, renewal_code
from masthead.sample_data.generate_words import COUNTRIES, EMAIL_DOMAINS
from masthead.store.books.ownership import BOOKS
from tests.loading.made_up import Record, Tables, assert_fits, by_key, read_tables
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUBSCRIBERS = 2000


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("made") / "up"
    generate(folder, subscribers=SUBSCRIBERS, seed=1)
    return read_tables(folder)


def made(folder: Path, subscribers: int, seed: int) -> dict[str, bytes]:
    generate(folder, subscribers=subscribers, seed=seed)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_bytes_of_a_seed_are_the_same_on_every_machine(tmp_path: Path) -> None:
    files = made(tmp_path / "a", 50, 1)
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(name.encode() + b"\n" + content)
    assert digest.hexdigest() == "7e0f5864a95ac47d41e0893348b2b7cf37eb7ff0cdf67d778285df8c701e7320"


def test_the_same_seed_gives_the_same_bytes_and_another_seed_gives_others(tmp_path: Path) -> None:
    first = made(tmp_path / "a", 50, 7)
    assert made(tmp_path / "b", 50, 7) == first
    assert made(tmp_path / "c", 50, 8)["subscribers.csv"] != first["subscribers.csv"]


def test_the_rows_of_a_subscriber_do_not_depend_on_how_many_follow(tmp_path: Path) -> None:
    few, many = made(tmp_path / "few", 300, 3), made(tmp_path / "many", 1200, 3)
    # A list counts its entries, so its row does depend on the number of subscribers.
    del few["list_downloads.csv"]
    for name, content in few.items():
        assert many[name].startswith(content)


def test_every_table_has_its_file_with_columns_in_the_order_of_the_contract(
    tables: Tables,
) -> None:
    """rules, "Sample data has a catalogue and no books"; what people write is not made up."""
    by_people = {"notes", "complaints", "page_settings", "reader_bundles", "reader_changes"}
    by_people |= {"reader_consents", "reader_requests"}
    made_up = [table for table in TABLES if table.name not in {*BOOKS, *by_people}]
    assert set(tables) == {table.name for table in made_up}
    for table in made_up:
        columns = list(tables[table.name][0])
        assert columns == [c.name for c in table.columns if c.name in columns]
        assert columns[: len(table.key)] == list(table.key)


def test_every_value_is_of_its_kind_and_every_reference_exists(tables: Tables) -> None:
    assert_fits(tables)


def test_subscribers_are_numbered_from_one(tables: Tables) -> None:
    numbers = [int(subscriber["subscriber_id"]) for subscriber in tables["subscribers"]]
    assert numbers == list(range(1, SUBSCRIBERS + 1))


def test_without_subscribers_the_publisher_has_only_its_catalogue(tmp_path: Path) -> None:
    generate(tmp_path, subscribers=0, seed=1)
    found = assert_fits(read_tables(tmp_path))
    assert found["publications"]
    assert not found["subscribers"]


@given(st.integers(1, SUBSCRIBERS_MAX), st.integers(1, SUBSCRIBERS_MAX))
def test_renewal_codes_have_five_characters_and_no_two_numbers_share_one(
    one: int, other: int
) -> None:
    assert re.fullmatch("[0-9A-Z]{5}", renewal_code(one))
    assert (renewal_code(one) == renewal_code(other)) == (one == other)


def test_renewal_codes_of_neighbours_are_unique_up_to_ten_million() -> None:
    numbers = chain(range(1, 200_001), range(5_000_000, 5_100_000), range(9_900_000, 10_000_001))
    codes = [renewal_code(number) for number in numbers]
    assert len(set(codes)) == len(codes)


def test_the_longest_email_address_fits() -> None:
    first = max(len(name.ascii) for country in set(COUNTRIES) for name in country.first_names)
    last = max(len(name.ascii) for country in set(COUNTRIES) for name in country.last_names)
    domain = max(map(len, EMAIL_DOMAINS))
    assert first + 1 + last + len(str(SUBSCRIBERS_MAX)) + 1 + domain <= 50


def test_subscriber_k_has_the_password_password_k_or_none(tables: Tables) -> None:
    digests = [(s["subscriber_id"], s["password_md5"]) for s in tables["subscribers"]]
    for subscriber_id, digest in digests:
        expected = hashlib.md5(f"password-{subscriber_id}".encode()).hexdigest()
        assert digest in {"", expected}
    assert {bool(digest) for _, digest in digests} == {True, False}


def test_some_emails_are_missing_and_some_shared_by_two(tables: Tables) -> None:
    readers = Counter(subscriber["email"] for subscriber in tables["subscribers"])
    assert 0 < readers.pop("") < SUBSCRIBERS / 5
    assert 2 in readers.values()
    assert all(email.split("@")[1].lower() in EMAIL_DOMAINS for email in readers)


POSTAL_CODES = {
    "US": r"\d{5}(-\d{4})?",
    "CA": r"[A-Z]\d[A-Z] \d[A-Z]\d",
    "GB": r"[A-Z]{1,2}\d{1,2}[A-Z]? \d[A-Z]{2}",
    "DE": r"\d{5}",
    "FR": r"\d{5}",
    "NL": r"\d{4} [A-Z]{2}",
    "AU": r"\d{4}",
}


def test_postal_codes_look_like_those_of_their_country(tables: Tables) -> None:
    seen = set()
    for address in tables["addresses"]:
        country = address["country_abbreviation"]
        assert re.fullmatch(POSTAL_CODES[country], address["zip_code"])
        seen.add((country, len(address["zip_code"])))
    assert {("US", 5), ("US", 10)} < seen
    assert {country for country, _ in seen} == set(POSTAL_CODES)


def test_coordinates_and_postal_code_fit_the_city(tables: Tables) -> None:
    places = {
        (country.abbreviation, place.city, place.state): place
        for country in set(COUNTRIES)
        for place in country.places
    }
    for address in tables["addresses"]:
        place = places[address["country_abbreviation"], address["city"], address["state"]]
        assert address["zip_code"][:2] in {code[:2] for code in place.postal_codes}
        if address["latitude"]:
            assert abs(float(address["latitude"]) - place.latitude) < 0.05
            assert abs(float(address["longitude"]) - place.longitude) < 0.05


def test_totals_add_up_in_exact_cents_in_their_shortest_form(tables: Tables) -> None:
    sums: Counter[tuple[str, str]] = Counter()
    amounts = ("sub_total", "tax_total", "grand_total")
    for row in [*tables["order_items"], *tables["orders"]]:
        assert all(re.fullmatch(r"(0|[1-9]\d*)(\.\d?[1-9])?", row[name]) for name in amounts)
        assert Decimal(row["sub_total"]) + Decimal(row["tax_total"]) == Decimal(row["grand_total"])
    for item in tables["order_items"]:
        for name in amounts:
            sums[item["order_id"], name] += round(Decimal(item[name]) * 100)
    for order in tables["orders"]:
        for name in amounts:
            assert sums[order["order_id"], name] == round(Decimal(order[name]) * 100)


def test_purchases_and_unearned_revenue_have_two_decimals(tables: Tables) -> None:
    for purchase in tables["purchases"]:
        assert re.fullmatch(r"\d+\.\d\d", purchase["total"])
        assert re.fullmatch(r"(\d+\.\d\d)?", purchase["product_total"])
    for subscription in tables["subscriptions"]:
        assert re.fullmatch(r"(\d+\.\d\d)?", subscription["unearned_revenue"])


def test_lists_count_their_entries_and_a_gap_list_names_its_parent(tables: Tables) -> None:
    entries = Counter(entry["mailing_list_id"] for entry in tables["mailing_list_entries"])
    lists = by_key("list_downloads", tables["list_downloads"])
    for found in lists.values():
        assert int(found["count"]) == entries[found["mailing_list_id"]]
        assert (found["is_gap"] == "1") == bool(found["parent_mailing_list_id"])
        if found["is_gap"] == "1":
            assert lists[found["parent_mailing_list_id"],]["is_gap"] == "0"
        assert bool(found["grace_from_date"]) == (found["grace_issues"] != "0")


def test_a_list_has_the_name_that_the_books_give_it(tables: Tables) -> None:
    """reference, "ListDownload": the publication and the issue."""
    publications = by_key("publications", tables["publications"])
    of_issues = {
        f"{publications[issue['publication_id'],]['name']} {issue['name']}"
        for issue in tables["issues"]
    }
    names = {found["name"] for found in tables["list_downloads"]}
    assert names
    assert names <= of_issues


def test_issues_are_received_between_the_start_and_the_end_of_a_subscription(
    tables: Tables,
) -> None:
    dates = {issue["issue_id"]: issue["date"] for issue in tables["issues"]}
    subscriptions = by_key("subscriptions", tables["subscriptions"])
    publications = {issue["issue_id"]: issue["publication_id"] for issue in tables["issues"]}
    for received in tables["subscription_issues"]:
        subscription = subscriptions[received["subscription_id"],]
        received_on = dates[received["issue_id"]]
        last = min(subscription["date_expired"] or "9", REFERENCE_DATE.isoformat())
        assert subscription["date_created"] <= received_on <= last
        assert publications[received["issue_id"]] == subscription["publication_id"]


def test_no_subscription_that_has_expired_has_issues_left(tables: Tables) -> None:
    today = REFERENCE_DATE.isoformat()
    for subscription in tables["subscriptions"]:
        expired = subscription["date_expired"]
        assert (subscription["issues"] == "-1") == (not expired)
        if expired and expired < today:
            assert subscription["issues"] == "0"


def _is_gift(subscription: Record, tables: Tables) -> bool:
    address = tables["addresses"][int(subscription["mailing_address_id"]) - 1]
    return address["subscriber_id"] != subscription["subscriber_id"]


def _answers(kind: str) -> Callable[[Record, Tables], bool]:
    def is_one(answer: Record, tables: Tables) -> bool:
        return tables["custom_fields"][int(answer["field_id"]) - 1]["type"] == kind

    return is_one


def _answers_other(answer: Record, tables: Tables) -> bool:
    field = tables["custom_fields"][int(answer["field_id"]) - 1]
    return field["allow_other"] == "1" and answer["text_value"] != ""


def _has(column: str, pattern: str) -> Callable[[Record, Tables], bool]:
    return lambda record, _: re.search(pattern, record[column]) is not None


TODAY = REFERENCE_DATE.isoformat()
KINDS: dict[str, tuple[str, Callable[[Record, Tables], bool]]] = {
    "a deleted subscriber": ("subscribers", _has("delete_date", "^2")),
    "a source": ("subscribers", _has("source", ".")),
    "a name with an apostrophe": ("subscribers", _has("last_name", "'")),
    "a name with an accent": ("subscribers", _has("first_name", "[éáüöëñ]")),
    "a company with a comma": ("addresses", _has("company", ",")),
    "a company with quotes": ("addresses", _has("company", '"')),
    "an address that is not verified": ("addresses", _has("verified", "0")),
    "an address without coordinates": ("addresses", _has("latitude", "^$")),
    "an expired subscription": (
        "subscriptions",
        lambda record, _: "" < record["date_expired"] < TODAY,
    ),
    "a current subscription": ("subscriptions", lambda record, _: record["date_expired"] > TODAY),
    "an unlimited subscription": ("subscriptions", _has("issues", "^-1$")),
    "a gift": ("subscriptions", _is_gift),
    "several copies": ("subscriptions", _has("copies", "^([2-9]|[1-9][0-9])$")),
    "a print subscription": ("subscriptions", _has("type", "Print")),
    "a digital subscription": ("subscriptions", _has("type", "Digital")),
    "a subscription to both": ("subscriptions", _has("type", "Both")),
    "paid issues left": ("subscriptions", _has("paid_issues_left", "[1-9]")),
    "unearned revenue": ("subscriptions", _has("unearned_revenue", "[1-9]")),
    "a renewal": ("subscriptions", _has("date_last_renewed", "^2")),
    "a subscription without purchase": ("subscriptions", _has("last_purchase_id", "^$")),
    "no more renewal notices": ("subscriptions", _has("renew_campaign_active", "0")),
    "audit codes": ("subscriptions", _has("audit_classification", ".")),
    "a monthly issue": ("issues", _has("name", "^March 2026$")),
    "a weekly issue": ("issues", _has("name", "^6 March 2026$")),
    "a quarterly issue": ("issues", _has("name", "^Spring 2026$")),
    "an option that was retired": ("custom_field_options", _has("active", "0")),
    "an option that disqualifies": ("custom_field_options", _has("disqualifier", "1")),
    "an option without value": ("custom_field_options", _has("value", "^$")),
    "an answer of several options": ("custom_field_answers", _has("option_ids", r"\|")),
    "an answer that chose a retired option": ("custom_field_answers", _has("option_ids", "207")),
    "an answer that is other": ("custom_field_answers", _answers_other),
    "an answer with emoji": ("custom_field_answers", _has("text_value", "\U0001f49a")),
    **{
        f"an answer to a {kind}": ("custom_field_answers", _answers(kind))
        for kind in ("checkbox", "select", "radio", "text", "textarea")
    },
    "an order that is a gift": ("orders", _has("is_gift", "1")),
    "an imported order": ("orders", _has("import_name", ".")),
    "an order without tax": ("orders", _has("tax_total", "^0$")),
    "a bundle": ("order_items", _has("bundle_id", ".")),
    "a product": ("order_items", _has("product_id", ".")),
    "a refund": ("order_items", _has("refund_date", "^2")),
    "an item that is not fulfilled": ("order_items", _has("fulfilled_date", "^$")),
    "an item that is fulfilled": ("order_items", _has("fulfilled_date", "^2")),
    "a purchase that is a gift": ("purchases", _has("is_gift", "1")),
    "a purchase that is not mailed": ("purchases", _has("shipping_address_id", "^$")),
    "a note of two lines": ("purchases", _has("notes", "\n")),
    "a note with emoji": ("purchases", _has("notes", "\U0001f382")),
    "a note with quotes": ("purchases", _has("notes", '"')),
    "a gap list": ("list_downloads", _has("is_gap", "1")),
    "a gap list with entries": (
        "list_downloads",
        lambda record, _: record["is_gap"] == "1" and record["count"] != "0",
    ),
    "grace issues": ("list_downloads", _has("grace_issues", "[1-9]")),
    "a list still to come": ("list_downloads", _has("status", "Pending")),
    "a list that failed": ("list_downloads", _has("status", "Error")),
    "an entry in grace": ("mailing_list_entries", _has("is_grace", "1")),
    "an entry that is not paid": ("mailing_list_entries", _has("is_paid", "0")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_there_is(kind: str, tables: Tables) -> None:
    table, is_one = KINDS[kind]
    assert any(is_one(record, tables) for record in tables[table])


def test_progress_is_told_as_the_number_of_subscribers_finished(tmp_path: Path) -> None:
    told: list[int] = []
    generate(tmp_path, subscribers=1234, seed=1, advance=told.append)
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == 1234


@ONLY_LONG
def test_memory_does_not_grow_with_the_number_of_subscribers(tmp_path: Path) -> None:
    peaks = []
    for subscribers in (1000, 5000):
        tracemalloc.start()
        generate(tmp_path / str(subscribers), subscribers=subscribers, seed=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 500_000


def test_a_folder_that_holds_files_is_left_as_it_is(tmp_path: Path) -> None:
    real = tmp_path / "subscribers.csv"
    real.write_text("subscriber_id\n1\n")
    with pytest.raises(BadInput, match="is not empty"):
        generate(tmp_path, subscribers=1, seed=1)
    assert real.read_text() == "subscriber_id\n1\n"
    assert list(tmp_path.iterdir()) == [real]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"No files can be made in .*file: "):
        generate(tmp_path / "file", subscribers=1, seed=1)


def test_more_subscribers_than_renewal_codes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="33554432 renewal codes"):
        generate(tmp_path / "too-many", subscribers=SUBSCRIBERS_MAX + 1, seed=1)
    assert not (tmp_path / "too-many").exists()
