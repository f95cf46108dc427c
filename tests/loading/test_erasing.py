"""Erasing a subscriber: what goes, what stays, what moves along, and that no trace is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.errors import NotFound
from masthead.store import audit, changes, commits, erasing, logins
from masthead.store.books.ownership import BOOKS
from masthead.store.staging import DERIVED
from tests.loading.person import DIGEST, NUMBER, PERSON, WORD, erase, personal_values
from tests.loading.publisher import Publisher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def of_others(publisher: Publisher) -> dict[str, list[dict[str, Any]]]:
    """Return all records but those of subscriber 1."""
    return {
        name: [record for record in records if record.get("subscriber_id") != 1]
        for name, records in publisher.everything().items()
    }


def test_each_column_of_a_person_is_personal_or_one_of_the_business() -> None:
    """decisions, "Personal data: erasing": each new column has to say which it is."""
    of_the_business = {
        "subscribers": {"subscriber_id", "delete_date", "merged_into", "given_here"},
        "addresses": {"address_id", "subscriber_id", "given_here"},
        "custom_field_answers": {"subscriber_id", "field_id"},
        "orders": {
            *("order_id", "subscriber_id", "mailing_address_id", "billing_address_id", "user_id"),
            *("channel_id", "order_date", "is_gift", "sub_total", "tax_total", "grand_total"),
            *("external_reference", "paid_on", "payment_type", "payment_reference"),
            *("disputed_on", "dispute_ended_on", "dispute_result", "shipping", "shipping_tax"),
        },
        "purchases": {
            *("purchase_id", "payment_type", "subscriber_id", "bundle_id", "shipping_address_id"),
            *("billing_address_id", "invoice_id", "total", "product_total", "is_gift"),
        },
        "notes": {"note_id", "subscriber_id", "noted_at", "author"},
        "complaints": {
            *("complaint_id", "subscriber_id", "subscription_id", "issue_id", "kind", "answer"),
            *("made_at", "author"),
        },
        "payer_details": {"subscriber_id", "by_email"},
        "invoices": {
            *("invoice_id", "kind", "series", "number", "number_text", "subscriber_id", "order_id"),
            *("of_invoice_id", "issued_on", "due_on", "net", "tax", "total", "open_cents"),
            "payment_reference",
        },
        "payments": {
            *("payment_id", "subscriber_id", "kind", "value_date", "booked_on", "cents", "fee"),
            *("payment_type", "reverses_id", "source", "left_cents"),
        },
        "bank_entries": {
            *("bank_entry_id", "bank_file_id", "fingerprint", "value_date", "cents", "fee"),
            *("status", "subscriber_id", "invoice_id", "payment_id"),
        },
        "mandates": {
            *("mandate_id", "subscriber_id", "reference", "scheme", "signed_on", "status"),
            *("status_since", "used_on"),
        },
        "claims": {
            *("claim_id", "debit_run_id", "invoice_id", "mandate_id", "subscriber_id", "cents"),
            *("end_to_end_id", "sequence", "status", "payment_id", "returned_on", "fee"),
        },
        "reminders": {
            *("reminder_id", "invoice_id", "subscriber_id", "level", "reminded_on", "fee"),
            *("fee_invoice_id", "read_until"),
        },
        "renewal_consents": {
            *("consent_id", "subscription_id", "subscriber_id", "bundle_id", "given_on"),
            "stopped_on",
        },
        "mails": {
            *("mail_id", "subscriber_id", "kind", "invoice_id", "reminder_id", "subscription_id"),
            *("status", "queued_at", "due_at", "tries", "sent_at", "message_id"),
        },
        "letters": {
            *("letter_id", "kind", "subscription_id", "subscriber_id", "written_on", "by_email"),
        },
        "reader_changes": {
            *("reader_change_id", "subscriber_id", "subscription_id", "kind", "made_at"),
            *("undone_at", "undone_by"),
        },
        "reader_consents": {
            *("reader_consent_id", "subscriber_id", "purpose", "given_at", "ended_at"),
        },
        "reader_requests": {
            *("reader_request_id", "subscriber_id", "subscription_id", "issue_id", "kind"),
            *("made_at", "answered_at", "answered_by"),
        },
        "qualifications": {
            *("qualification_id", "subscriber_id", "publication_id", "subscription_id"),
            *("qualified_on", "valid_until", "request_type", "audit_class_id", "new_class_id"),
            *("disqualified", "taken_by", "recorded_at", "external_reference"),
        },
        "held_addresses": {"held_address_id", "subscriber_id", "held_on", "bounces"},
        "subscriptions": {column.name for column in TABLES_BY_NAME["subscriptions"].columns},
    }
    for table in TABLES:
        names = {column.name for column in table.columns}
        if "subscriber_id" in names:
            assert names - set(table.personal) == of_the_business[table.name], table.name
        else:
            assert not table.personal


def test_all_that_is_personal_goes_and_the_business_stays(person: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    columns = {
        (table.name, name)
        for table in erasing.PERSONAL
        for name in table.personal
        if table.name not in BOOKS
    }
    # A subscriber has one of two digests; the next test has the other one.
    columns.remove(("subscribers", "password_hash"))
    assert {(table, name) for table, name, _ in personal_values(person)} == columns
    before, others = person.everything(), of_others(person)
    assert erase(person) == {
        "subscribers": 1,
        "addresses": 1,
        "custom_field_answers": 2,
        "orders": 1,
        "purchases": 1,
        "notes": 1,
        "complaints": 1,
        "reader_changes": 1,
        "reader_requests": 1,
    }
    assert personal_values(person) == []
    assert of_others(person) == others
    for table in TABLES:
        business = {column.name for column in table.columns} - {*table.personal, "delete_date"}
        assert [
            {name: record[name] for name in business} for record in person.table(table.name)
        ] == [{name: record[name] for name in business} for record in before[table.name]]
    (erasure,) = person.table("erasures")
    assert person.table("subscribers")[0]["delete_date"] == erasure["erased_at"]
    names = [*DERIVED["subscribers"], "email_lower"]
    with person.store.writer() as database:
        assert database.rows(
            f"SELECT {', '.join(names)} FROM subscribers "
            "WHERE account_id = :id AND subscriber_id = 1",
            id=person.account_id,
        ) == [(None,) * len(names)]


def test_the_digest_of_another_system_goes_too(person: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    digest = f"$P$B{30 * 'x'}"
    person.load({"subscribers.csv": f'subscriber_id,password_hash\n1,"{digest}"\n'})
    assert ("subscribers", "password_hash", digest) in personal_values(person)
    erase(person)
    assert personal_values(person) == []
    with person.store.writer() as database:
        loaded = "SELECT password_hash_loaded FROM subscribers WHERE account_id = :id"
        assert set(database.rows(loaded, id=person.account_id)) == {(None,)}


def test_an_export_holds_nothing_of_it(person: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    assert WORD.encode() in b"".join(person.exported().values())
    erase(person)
    exported = b"".join(person.exported().values())
    for trace in (WORD, WORD.lower(), NUMBER, DIGEST):
        assert trace.encode() not in exported


def test_it_is_one_change_of_each_record_that_showed_something(person: Publisher) -> None:
    """decisions, "Personal data: erasing": so mirrors get it through the change feed."""
    before = person.commit_count()
    erase(person)
    assert person.commit_count() == before + 1
    with person.store.reader() as database:
        database.set_tenant(person.account_id)
        position = commits.position_of(database, person.account_id)
        assert not position.is_stamp_awaited
        first = commits.position_of(database, person.account_id, position.newest_stamp).first_commit
        assert first
        found = {
            entity: [
                row[0] if isinstance(row[0], int) else row[0][0]
                for row in query(database, person.account_id, first)
            ]
            for entity, query in changes.CHANGED.items()
        }
    assert found == {
        "customfields": [1],
        "subscriptions": [],
        "subscribers": [1],
        "addresses": [1],
        "purchases": [1],
        "listdownloads": [],
        "orders": [1],
    }


def test_erasing_twice_is_harmless(person: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    erase(person)
    before, count = person.everything(), person.commit_count()
    assert erase(person) == {}
    assert person.everything() == before
    assert person.commit_count() == count


def test_what_was_kept_of_the_logins_with_the_email_goes_too(person: Publisher) -> None:
    """decisions, "Personal data: erasing": it is no hash that could be compared with guesses."""
    (subscriber,) = [each for each in person.table("subscribers") if each["subscriber_id"] == 1]
    others = "somebody.else@example.org"
    kept: dict[str, dict[str, set[str]]] = {}
    for email in (subscriber["email"], others):
        attempt = logins.attempt_of(person.store.secret, person.account_id, email, "wrong")
        link = logins.request_of(person.store.secret, person.account_id, "link", email)
        kept[email] = {
            "login_failures": {attempt.login, link.login},
            "login_successes": {attempt.login},
        }
        for each in (attempt, link):
            with person.store.counters() as counters:
                logins.count_failure(counters, logins.Limits(), each, person.store.clock())
        logins.note_success(person.store, logins.Limits(), attempt, logins.Standing())
    erase(person)
    for table in ("login_failures", "login_successes"):
        with person.store.counters() as counters:
            counters.set_tenant(person.account_id)
            rows = counters.column_as(
                str,
                f"SELECT login FROM {table} WHERE account_id = :account_id",
                account_id=person.account_id,
            )
        assert set(rows) == kept[others][table]


def test_who_does_not_exist_cannot_be_erased(person: Publisher) -> None:
    before = person.everything()
    with pytest.raises(NotFound, match="has no subscriber 99"):
        erase(person, 99)
    with pytest.raises(NotFound, match="there is no account 999999"):
        erasing.erase(person.store, 999_999, 1)
    assert person.everything() == before


def test_an_account_with_the_same_ids_keeps_its_people(
    person: Publisher, new_publisher: Callable[[], Publisher]
) -> None:
    """design, "The store"."""
    other = new_publisher()
    other.load(PERSON)
    before = other.everything()
    erase(person)
    assert other.everything() == before
    other.load(PERSON)
    assert other.everything() == before


def test_what_cannot_be_recorded_is_not_done(person: Publisher) -> None:
    """rules, "Who did what": neither exists without the other."""
    before, count = person.everything(), person.commit_count()
    nobody = audit.Actor(None, "erase")  # type: ignore[arg-type] # the database refuses it
    with pytest.raises(Exception, match=r"(?i)null"):
        erase(person, by=nobody)
    assert person.everything() == before
    assert person.commit_count() == count


# Moving to another database, and files of the erased.


def test_who_is_erased_stays_so_where_an_export_is_loaded(
    person: Publisher, new_publisher: Callable[[], Publisher]
) -> None:
    """rules, "Personal data: moving an account"."""
    erase(person)
    copy = new_publisher()
    copy.load(person.exported())
    assert copy.exported() == person.exported()
    assert copy.load(PERSON).kept_blank == 10
    assert personal_values(copy) == []


def test_a_file_of_erasures_erases(person: Publisher) -> None:
    """rules, "Personal data: moving an account"; all at once, with the rows beside it."""
    loaded = person.load({**PERSON, "erasures.csv": "subscriber_id\n1\n2\n"})
    assert loaded.counts["erasures"].inserted == 2
    assert personal_values(person, 1) == personal_values(person, 2) == []
    assert all(record["delete_date"] for record in person.table("subscribers"))
    before, count = person.everything(), person.commit_count()
    assert before["erasures"][0]["erased_at"]
    person.load({"erasures.csv": "subscriber_id,erased_at\n1,2020-01-01 00:00:00\n2,\n"})
    assert person.everything() == before
    assert person.commit_count() == count


def test_a_file_of_erasures_alone_erases_what_is_stored(person: Publisher) -> None:
    loaded = person.load({"erasures.csv": "subscriber_id,erased_at\n1,2026-02-03 04:05:06\n"})
    assert {name: counts.changed for name, counts in loaded.counts.items()} == {
        "erasures": 0,
        "subscribers": 1,
        "addresses": 1,
        "custom_field_answers": 2,
        "orders": 1,
        "purchases": 1,
        "notes": 1,
        "complaints": 1,
        "reader_changes": 1,
        "reader_requests": 1,
    }
    assert personal_values(person) == []
    assert person.table("subscribers")[0]["delete_date"] == "2026-02-03 04:05:06"
    assert person.table("subscribers")[1]["email"] == "ben@example.org"


def test_who_is_erased_before_any_load_brings_the_subscriber_stays_so(
    publisher: Publisher,
) -> None:
    """rules, "Personal data: moving an account": the list may be there before the rows are."""
    loaded = publisher.load({"erasures.csv": "subscriber_id,erased_at\n1,2026-02-03 04:05:06\n"})
    assert loaded.counts["erasures"].inserted == 1
    assert publisher.load(PERSON).kept_blank == 10
    assert personal_values(publisher) == []
    assert [record["delete_date"] for record in publisher.table("subscribers")] == [
        "2026-02-03 04:05:06",
        None,
    ]
    assert publisher.load(PERSON).kept_blank == 10


# Traces in the files of an embedded database.


@pytest.mark.parametrize("by_file", [False, True])
def test_the_files_of_the_database_hold_nothing_of_it(tmp_path: Path, *, by_file: bool) -> None:
    """rules, "Personal data: traces": nor what earlier loads have replaced, while one reads."""
    publisher = Publisher(f"sqlite:///{tmp_path}/x.db", tmp_path)
    many = "".join(f"{n},{n}@example.org\n" for n in range(10, 3_000))
    publisher.load(PERSON)
    publisher.load({"subscribers.csv": f"subscriber_id,email\n1,former@{WORD}.example\n{many}"})
    publisher.load({"subscribers.csv": f"subscriber_id,email\n1,latter@{WORD}.example\n"})
    reader = publisher.store.open_loop_reader(lambda end_turn: end_turn())
    assert reader
    reader.rows("SELECT * FROM subscribers LIMIT 1")
    if by_file:
        publisher.load({"erasures.csv": "subscriber_id\n1\n"})
    else:
        erase(publisher)
    for file in tmp_path.glob("x.db*"):
        content = file.read_bytes().lower()
        for trace in (WORD.lower(), NUMBER, DIGEST, "former@", "latter@"):
            assert trace.encode() not in content, (file, trace)
    assert reader.rows("SELECT count(*) FROM subscribers") == [(2_992,)]
    reader.close()
    publisher.store.close()
