"""Books that are carried from one account to another, kept from files, and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.store import audit
from masthead.store.account_removal import OF_AN_ACCOUNT, remove_account
from masthead.store.books.ownership import BOOKS as OF_OPEN_BOOKS
from masthead.store.books.ownership import OWNED
from masthead.store.erasing import erase
from tests.circulation.small_billing import BILLING
from tests.circulation.small_books import BOOKS
from tests.circulation.small_pages import PAGES
from tests.circulation.small_qualification import QUALIFICATION
from tests.loading.publisher import SMALL, Publisher
from tests.store.conftest import copied, new_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

# What the reports do not need: with it, each table has a row, and each new column a value.
MORE: dict[str, str] = {
    "publications.csv": (
        "publication_id,name,issues_per_year,late_start,grace_counts,credit_issues,"
        "unlimited_term_months\n1,Tide,12,current,1,3,24\n2,Weekly,52,,,,\n"
    ),
    "classes.csv": "class_id,name\n1,hotel\n2,airline\n",
    "bundles.csv": "bundle_id,name,active,price,tax\n1,A year,,3600,252\n2,Old,0,1200,0\n",
    "bundle_lines.csv": (
        "bundle_id,line_number,publication_id,issues,type,copies,price,months,digital_share\n"
        "1,1,1,12,Both,2,3600,,2500\n2,1,2,-1,Print,,1200,18,\n"
    ),
    "products.csv": "product_id,name,active,price,tax\n1,A mug,1,900,63\n",
    "orders.csv": (
        "order_id,subscriber_id,order_date,paid_on,external_reference,content_digest,payment_type,"
        "shipping,shipping_tax\n"
        f"1,4,2025-10-25 10:00:00,,shop-1,{'a' * 64},,,\n"
        "2,2,2025-11-12 10:00:00,,,,,,\n"
        "3,5,2025-10-15 10:00:00,2025-10-15,shop-3,,Card,90,6\n"
        "4,3,2025-10-02 10:00:00,2025-10-02,,,,,\n"
        "5,6,2025-10-10 10:00:00,2025-10-10,,,,,\n"
    ),
    "purchases.csv": "purchase_id,subscriber_id,total\n8,5,36.00\n",
    "order_items.csv": (
        "order_item_id,order_id,bundle_id,purchase_id,refunded\n"
        "1,1,1,,\n2,2,1,,\n3,3,1,8,\n4,4,1,,2568\n5,5,2,,\n"
    ),
    "suspensions.csv": (
        "suspension_id,subscription_id,from_date,to_date\n"
        "1,1,2025-12-01,2025-12-31\n2,2,2025-12-01,\n"
    ),
    "temporary_addresses.csv": (
        "temporary_address_id,subscription_id,address_id,from_date,to_date\n"
        "1,1,2,2025-12-01,2025-12-31\n"
    ),
    "replacements.csv": (
        "replacement_id,subscription_id,issue_id,copies,asked_on,written_at\n"
        "1,1,10,1,2025-11-03,2025-11-04 08:00:00\n2,2,10,2,2025-11-03,\n"
    ),
    "cancellation_reasons.csv": "reason_id,name\n1,moved abroad\n2,too dear\n",
    "cancellations.csv": (
        "subscription_id,reason,made_on,after_issue_id,at_end,is_refund,campaign,ended_on,"
        "ended_issue_id,revenue_id,final_issue_id\n"
        "1,too dear,2025-11-02,20,0,1,1,,,,\n4,,2025-10-30,,0,1,0,2025-10-30,10,7,11\n"
    ),
    "cancelled_terms.csv": (
        "term_id,issues_left,earned,refunded,tax,refund_date\n5,11,0,2400,168,2025-10-03 08:00:00\n"
    ),
    "notes.csv": (
        "note_id,subscriber_id,noted_at,author,text\n"
        "1,1,2025-11-01 09:00:00,ben,Short\n"
        '2,1,2025-11-02 09:00:00,ben,"Reads the ""Tide"",\n\n  and <b>calls</b> at noon"\n'
    ),
    "complaints.csv": (
        "complaint_id,subscriber_id,subscription_id,issue_id,kind,answer,made_at,author,text\n"
        "1,1,1,10,lost,extended,2025-11-03 09:00:00,ben,Stolen\n"
    ),
    **BILLING,
    **PAGES,
    **QUALIFICATION,
    "custom_fields.csv": SMALL["custom_fields.csv"],
    "custom_field_options.csv": SMALL["custom_field_options.csv"],
    "custom_field_answers.csv": (
        "subscriber_id,field_id,option_ids,text_value,answered_on\n"
        "1,1,10|11,,2025-11-03\n2,2,,So,\n"
    ),
}
FULL = {**BOOKS, **MORE}
FREE = {
    "publications.csv": "publication_id,name\n3,Gale\n",
    "subscribers.csv": "subscriber_id,email\n1,ada@example.org\n7,new@example.org\n",
    "addresses.csv": "address_id,subscriber_id,city\n1,1,Salem\n",
    "custom_fields.csv": "field_id,name,display_as,type\n1,trade,Trade,checkbox\n",
    "classes.csv": "class_id,name\n1,hotels\n",
    "bundles.csv": "bundle_id,name\n1,One year\n",
    "products.csv": "product_id,name\n1,A cup\n",
    "cancellation_reasons.csv": "reason_id,name\n1,moved\n",
    "renewal_efforts.csv": "publication_id,effort,issues_left,bundle_id,key_code\n1,1,4,1,R1\n",
    "reader_bundles.csv": "bundle_id,renew,buy,gift\n1,0,1,0\n",
}


@pytest.fixture(scope="module")
def with_books(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database whose account 1 has open books with rows in each table; tests have copies."""
    with new_url(store) as url:
        found = Publisher(url, tmp_path_factory.mktemp("books"))
        found.load(FULL)
        found.store.close()
        yield url


@pytest.fixture
def publisher(store: Store, with_books: str, tmp_path: Path) -> Iterator[Publisher]:
    """An account whose books are open and have rows in each table."""
    with copied(store, with_books, tmp_path) as found:
        yield found


def other(publisher: Publisher, account_id: int = 2) -> Publisher:
    """Add another account to the same database."""
    return Publisher(publisher.url, publisher.folder, account_id, store=publisher.store)


def one_row_of(name: str) -> dict[str, str]:
    """Return the file of a table with its first row."""
    return {f"{name}.csv": "".join(FULL[f"{name}.csv"].splitlines(keepends=True)[:2])}


def test_the_books_are_exported_and_imported_byte_for_byte(publisher: Publisher) -> None:
    """circulation, "What is stored in addition"."""
    exported = publisher.exported()
    for name, text in FULL.items():
        stored = publisher.table(name[:-4])
        for column in text.partition("\n")[0].split(","):
            assert any(row[column] is not None for row in stored), f"{name}: {column}"
    empty = [name for name, raw in exported.items() if raw.count(b"\n") < 2]
    assert empty == ["erasures.csv"]
    copy = other(publisher)
    copy.load(exported)
    assert copy.everything() == publisher.everything()
    assert copy.exported() == exported


def test_a_whole_export_is_loaded_only_into_an_account_without_subscribers(
    publisher: Publisher,
) -> None:
    """An account with readers of its own does not get another one's terms and money."""
    exported = publisher.exported()
    copy = other(publisher)
    copy.load({"subscribers.csv": "subscriber_id\n9\n"})
    before = copy.everything()
    with pytest.raises(BadInput, match="has subscribers already"):
        copy.load(exported)
    assert copy.everything() == before


def test_what_only_books_have_is_not_loaded_without_them(publisher: Publisher) -> None:
    copy = other(publisher)
    for name in OF_OPEN_BOOKS:
        left_out = [f"{each}.csv" for each in OF_OPEN_BOOKS if each not in {"books", name}]
        files = {each: text for each, text in FULL.items() if each not in {"books.csv", *left_out}}
        if name != "books":
            with pytest.raises(BadInput, match=f"^{name}: they belong to open books"):
                copy.load(files)


def test_the_export_of_an_account_without_books_is_loaded_as_ever(publisher: Publisher) -> None:
    """Its files of the books are there, without rows."""
    first, second = other(publisher, 2), other(publisher, 3)
    first.load(SMALL)
    exported = first.exported()
    second.load(exported)
    second.load(exported)
    assert second.exported() == exported


def test_operations_own_what_files_may_not_bring(publisher: Publisher) -> None:
    """circulation, "Two modes of an account": even a row that says nothing new."""
    before = publisher.everything()
    for name in OWNED:
        with pytest.raises(BadInput, match=f"^{name}: account 1 keeps its books here"):
            publisher.load(one_row_of(name))
        key = tuple(before[name][0][column] for column in TABLES_BY_NAME[name].key)
        with pytest.raises(BadInput, match=r"keeps its books here \(mode here\).*not removed"):
            publisher.remove(name, key)
    assert publisher.everything() == before


def test_the_rest_is_loaded_as_ever(publisher: Publisher) -> None:
    for name, text in FREE.items():
        before = publisher.table(name[:-4])
        publisher.load({name: text})
        assert publisher.table(name[:-4]) != before, name
    publisher.load_complete({"custom_field_answers.csv": "subscriber_id,field_id\n"})
    assert publisher.table("custom_field_answers") == []


REFUSED_ISSUES = {
    "issue_id,name\n10,Other": "name: issue 10 is closed, and stays as it is",
    "issue_id,date\n10,2025-10-02": "date: issue 10 is closed, and stays as it is",
    "issue_id,closed_at\n12,2025-11-01 00:00:00": "closed_at: only closing sets it",
    "issue_id,closed_at\n10,": "closed_at: only closing sets it",
    "issue_id,mailing_list_id\n12,1": "mailing_list_id: only closing sets it",
    "issue_id,file_written_at\n11,2025-11-01 00:00:00": "file_written_at: only closing",
    "issue_id,date\n12,2025-11-01": "date: 2025-11-01 is not after 2025-11-01",
    "issue_id,publication_id,date\n13,1,2025-11-01": "date: 2025-11-01 is not after",
    "issue_id,publication_id,name\n13,1,New": "date: missing",
    "issue_id,date\n12,": "date: missing",
}


def test_closed_issues_stay_as_they_are(publisher: Publisher) -> None:
    """circulation, "Two modes of an account"."""
    for row, sentence in REFUSED_ISSUES.items():
        assert f"issues.csv:2: {sentence}" in publisher.problem({"issues.csv": f"{row}\n"})


def test_no_file_merges_a_reader(publisher: Publisher) -> None:
    found = publisher.problem({"subscribers.csv": "subscriber_id,merged_into\n1,2\n"})
    assert "subscribers.csv:2: merged_into: only merging sets it" in found


@pytest.mark.parametrize(
    "row",
    [
        "issue_id,publication_id\n20,1",
        "issue_id,publication_id,date\n13,2,2025-01-01",
        "issue_id,publication_id,date\n13,1,2025-11-02",
        "issue_id,name,number,closes_on\n12,Yule,144,2025-11-20",
        "issue_id,name,date\n10,October 2025,2025-10-01",
    ],
)
def test_issues_to_come_are_planned_by_files(publisher: Publisher, row: str) -> None:
    """circulation, "Two modes of an account": future issues may still be imported."""
    publisher.load({"issues.csv": f"{row}\n"})


def test_a_closed_issue_is_not_removed_and_one_to_come_is(publisher: Publisher) -> None:
    # No reader got issue 9 any more: it is kept only because it is closed.
    with publisher.store.writer() as database, database.transaction():
        database.change("DELETE FROM subscription_issues WHERE issue_id = 9")
    with pytest.raises(BadInput, match="issue 9 is closed"):
        publisher.remove("issues", (9,))
    publisher.remove("issues", (12,))
    assert 12 not in [issue["issue_id"] for issue in publisher.table("issues")]


def test_complete_files_do_not_take_away_what_operations_own(publisher: Publisher) -> None:
    before = publisher.everything()
    owned = "terms, revenue, cancelled_terms, renewals_sent"
    with pytest.raises(BadInput, match=rf"^{owned}: .*not removed"):
        publisher.load_complete({"terms.csv": FULL["terms.csv"].splitlines()[0] + "\n"})
    assert publisher.everything() == before


def test_nothing_of_the_books_is_left_of_a_removed_account(publisher: Publisher) -> None:
    """rules, "An account is removed"; another account keeps its own."""
    copy = other(publisher)
    copy.load(publisher.exported())
    kept = copy.everything()
    stored = publisher.everything()
    counts = {table.name: len(stored[table.name]) for table in TABLES}
    assert remove_account(publisher.store, 1, by=audit.Actor("ada", "accounts remove")) == counts
    with publisher.store.writer() as database:
        for name in OF_AN_ACCOUNT:
            rows = database.rows(f"SELECT 1 FROM {name} WHERE account_id = 1")
            assert rows == [], name
    assert copy.everything() == kept


def test_an_erased_reader_leaves_no_digest_of_an_order(publisher: Publisher) -> None:
    """It is made of names and addresses too; the shop's number is needed to know the order."""
    erase(publisher.store, 1, 4, leave_traces=True)
    order = publisher.table("orders")[0]
    assert (order["subscriber_id"], order["content_digest"]) == (4, None)
    assert order["external_reference"] == "shop-1"


def test_a_file_erases_no_reader_with_issues_or_money_left(publisher: Publisher) -> None:
    """decisions, "Readers who are erased or deleted": reader 3 has nothing left."""
    before = publisher.everything()
    with pytest.raises(BadInput, match=r"subscriber 5 has issues or money left.*when you erase"):
        publisher.load({"erasures.csv": "subscriber_id\n3\n5\n"})
    assert publisher.everything() == before
    publisher.load({"erasures.csv": "subscriber_id\n3\n"})


def test_no_two_invoices_have_the_same_number(publisher: Publisher) -> None:
    """billing, "Invoice": per account and series; nor do two payments have the same source."""
    copy = other(publisher)
    twice = FULL["invoices.csv"].replace("invoice 2025,2,", "invoice 2025,1,")
    assert "invoices.csv:4: number: an earlier row has invoice 2025, 1 too" in copy.problems(
        {**FULL, "invoices.csv": twice}
    )
    twice = FULL["payments.csv"].replace(",b,", ",a,")
    assert "payments.csv:3: source: an earlier row has a too" in copy.problems(
        {**FULL, "payments.csv": twice}
    )


def test_the_mandate_of_an_erased_payer_ends(publisher: Publisher) -> None:
    """decisions, "Bank accounts of mandates": nothing can be collected by it any more."""
    kept, before = publisher.table("mandates")
    erase(publisher.store, 1, 5, leave_traces=True)
    (erasure,) = publisher.table("erasures")
    assert publisher.table("mandates") == [
        kept,
        {
            **before,
            **dict.fromkeys(("account_holder", "iban", "iban_end", "bic", "reason")),
            "status": "ended",
            "status_since": erasure["erased_at"][:10],
        },
    ]
    erase(publisher.store, 1, 4, leave_traces=True)
    assert publisher.table("mandates")[0] == kept


def test_an_account_has_one_row_of_billing(publisher: Publisher) -> None:
    line = other(publisher).problem({**FULL, "billing.csv": "billing_id,begun_on\n2,2025-10-01\n"})
    assert "billing.csv:2: billing_id: an account has one row of billing: 1" in line


def test_an_erased_payer_leaves_numbers_and_amounts(publisher: Publisher) -> None:
    """billing, "What is stored": names go, amounts and numbers stay."""
    before = publisher.everything()
    blanked = erase(publisher.store, 1, 5, leave_traces=True)
    names = ("payer_details", "invoices", "payments", "bank_entries", "mandates", "claims")
    assert {name: blanked[name] for name in names} == {
        "payer_details": 1,
        "invoices": 2,
        "payments": 2,
        "bank_entries": 1,
        "mandates": 1,
        "claims": 1,
    }
    for name, personal in {
        "payer_details": {"vat_id"},
        "invoices": {"reason", "printed"},
        "payments": {"reason", "reference"},
        "bank_entries": {
            *("name", "iban", "reference", "end_to_end_id", "return_reason", "reason"),
        },
        "claims": {"return_reason"},
    }.items():
        assert publisher.table(name) == [
            {**row, **dict.fromkeys(personal)} if row["subscriber_id"] == 5 else row
            for row in before[name]
        ]
    for name in ("invoice_lines", "allocations", "journal_lines"):
        assert publisher.table(name) == before[name]
    copy = other(publisher)
    copy.load(publisher.exported())
    assert copy.exported() == publisher.exported()
