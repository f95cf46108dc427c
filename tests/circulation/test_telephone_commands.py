"""``masthead subscription``, ``subscriber`` and ``renewals`` as they are typed, on both stores."""

from __future__ import annotations

import csv
import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import subscribers
from masthead.books.subscribers import Sought
from masthead.store.books import subscriber_search
from tests.circulation.desk import Desk
from tests.servers import masthead
from tests.store.plans import statements

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

_numbers = itertools.count()
PEOPLE = (
    (1, "Ada", "Ames", "ada@example.org", "12 Elm Street", "97301", "Salem"),
    (2, "A.", "Ames", "ada2@example.org", "12 ELM street", "97301", "Salem"),
    (3, "Ben", "Ames", "ben@example.org", "12 Elm Street", "97301", "Salem"),
    (4, "Ännchen", "van der Berg", "Anna@Example.org", "3 Oak Lane", "19901-12", "Dover"),
    (5, "Zoe", "Adams", "anna@example.org", None, None, None),
)


@pytest.fixture(scope="module")
def shop(store: Store) -> Iterator[tuple[Desk, str]]:
    """An account with five readers, one of whom has a subscription; and its database."""
    url = store.new_database(f"telephone-{next(_numbers)}")
    desk = Desk(url)
    yield desk, url
    desk.leave()
    store.drop_database(url)


@pytest.fixture
def database(shop: tuple[Desk, str]) -> str:
    """The database, filled again; its issues are closed in 2026 and to come from 2190 on."""
    desk, url = shop
    desk.empty()
    desk.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    for n, (day, closed) in enumerate(
        [("2026-01-01", "2026-01-01 00:00:00"), ("2190-02-01", None), ("2190-03-01", None)], 1
    ):
        desk.put(
            "issues", issue_id=n, publication_id=1, name=f"No. {n}", date=day, closed_at=closed
        )
    for n, first, last, email, street, code, city in PEOPLE:
        desk.put(
            "subscribers",
            subscriber_id=n,
            first_name=first,
            last_name=last,
            email=email,
            renewal_code=f"Code{n}",
        )
        if street:
            desk.put(
                "addresses", address_id=n, subscriber_id=n, address=street, zip_code=code, city=city
            )
    desk.put(
        "orders", order_id=7, subscriber_id=3, external_reference="Shop-9", paid_on="2026-01-10"
    )
    desk.put(
        "order_items",
        order_item_id=8,
        order_id=7,
        bundle_id=1,
        sub_total="10",
        tax_total="0.7",
        grand_total="10.7",
    )
    desk.put(
        "subscriptions",
        subscription_id=11,
        subscriber_id=1,
        publication_id=1,
        mailing_address_id=1,
        billing_address_id=3,
        copies=1,
        type="Print",
        begins_on="2026-01-02",
        renew_campaign_active=1,
    )
    desk.put(
        "terms",
        term_id=21,
        subscription_id=11,
        order_item_id=8,
        issues=4,
        issues_left=4,
        price=1000,
        paid_on="2026-01-10",
        kind="paid",
    )
    desk.put(
        "revenue", revenue_id=1, term_id=21, kind="received", cents=1000, booked_on="2026-01-10"
    )
    desk.refresh()
    return url


def run(database: str, *arguments: Any) -> list[str]:
    """Run a command for the account; return the lines that it prints."""
    return masthead(*arguments, "--account=1", database=database).stdout.splitlines()


def refused(database: str, *arguments: Any, exit_status: int = 1) -> str:
    """Run a command that must be refused; return what it says."""
    return masthead(*arguments, "--account=1", database=database, exit_status=exit_status).stderr


def found(database: str, *arguments: str) -> list[int]:
    """Return the ids that ``subscriber find`` prints."""
    lines = run(database, "subscriber", "find", *arguments)
    return [int(line.partition("\t")[0]) for line in lines]


def entries(database: str) -> list[tuple[str, str]]:
    """Return the commands and summaries of the audit log."""
    printed = masthead("audit", "--format=json", database=database).stdout
    records = [json.loads(line) for line in printed.splitlines()]
    return [(record["command"], record["summary"]) for record in records]


def test_a_reader_is_found_by_what_is_known(database: str) -> None:
    asked: list[tuple[tuple[str, ...], list[int]]] = [
        (("ada", "ames"), [1]),
        (("AMES",), [2, 1, 3]),
        (("ames,", "a"), [2, 1]),
        (("ad",), [5, 1]),
        (("van", "der"), [4]),
        (("ännchen", "van", "der", "berg"), [4]),
        (("van", "der", "berg", "ä"), [4]),
        (("--email=ANNA@example.org",), [5, 4]),
        (("--code=code3",), [3]),
        (("--order=7",), [1, 3]),
        (("--order=shop-9",), [1, 3]),
        (("--order=shop-9", "ben"), [3]),
        (("--order=99999999999999999999",), []),
        (("--street=12 elm", "--zip=97301"), [2, 1, 3]),
        (("--zip=973", "ben"), [3]),
        (("--zip=19901",), [4]),
        (("--street=3 OAK",), [4]),
        (("ames", "--city=salem"), [2, 1, 3]),
        (("ames", "--city=dover"), []),
        (("--order=7", "--city=Salem", "--street=12"), [1, 3]),
        (("ames*",), [2, 1, 3]),
    ]
    assert [found(database, *words) for words, _ in asked] == [ids for _, ids in asked]
    limited = masthead("subscriber", "find", "ames", "--limit=2", "--account=1", database=database)
    assert limited.stdout.splitlines() == [
        "2\tA. Ames\tada2@example.org\tCode2\t12 ELM street, 97301 Salem",
        "1\tAda Ames\tada@example.org\tCode1\t12 Elm Street, 97301 Salem",
    ]
    assert limited.stderr == "more than these 2 were found: give more of what you know\n"
    assert entries(database)[-1] == (
        "subscriber find … --limit 2 --account 1",
        "subscribers were looked for",
    )


def test_a_name_is_found_with_either_apostrophe(shop: tuple[Desk, str], database: str) -> None:
    desk, _ = shop
    for n, last in ((6, "O'Neil"), (7, "O\N{RIGHT SINGLE QUOTATION MARK}Neil")):
        desk.put(
            "subscribers",
            subscriber_id=n,
            first_name="Siân",
            last_name=last,
        )
    for words in (
        ("o'neil",),
        ("O\N{RIGHT SINGLE QUOTATION MARK}n",),
        ("siân", "o'neil"),
        ("o'neil,", "s"),
    ):
        assert sorted(found(database, *words)) == [6, 7], words


# Who is found, by what is typed: the ids of PLACES.
PLACES = {
    11: ("José", "García López"),
    12: ("Ann", "van Dyck"),
    13: ("Jörg", "Müller-Lüdenscheidt"),
    14: ("Karen", "Mueller"),
    15: ("Tom", "Muller"),
    16: ("Søren", "Ærøskøbing"),
    17: ("Zoë", "D\N{RIGHT SINGLE QUOTATION MARK}Arcy"),
    18: ("Łukasz", "Wałęsa"),
    19: ("李", "小龍"),
}


@pytest.mark.parametrize(
    ("typed", "ids"),
    [
        ("garcia", [11]),
        ("lopez", [11]),
        ("jose garcia", [11]),
        ("García lópez, josé", [11]),
        ("lopez, jo", [11]),
        ("dyck", [12]),
        ("ann dyck", [12]),
        ("van dy", [12]),
        ("muller", [13, 15]),
        ("mueller", [13, 14]),
        ("MÜLLER", [13, 14, 15]),
        ("müller", [13, 14, 15]),
        ("jorg mu", [13]),
        ("joerg", [13]),
        ("ludensch", [13]),
        ("soren", [16]),
        ("aeroskobing", [16]),
        ("arcy", [17]),
        ("d'arcy zoe", [17]),
        ("walesa", [18]),
        ("lukasz", [18]),
        ("小", [19]),
        ("李 小龍", [19]),
        ("yck", []),
    ],
)
def test_a_name_is_found_by_each_word_of_it_and_without_accents(
    shop: tuple[Desk, str], database: str, typed: str, ids: list[int]
) -> None:
    """rules, "Find: names"."""
    desk, _ = shop
    for n, (first, last) in PLACES.items():
        desk.put("subscribers", subscriber_id=n, first_name=first, last_name=last)
    assert sorted(found(database, *typed.split(" "))) == ids


def test_a_name_that_was_changed_is_found_by_the_new_one_alone(
    shop: tuple[Desk, str], database: str
) -> None:
    desk, _ = shop
    desk.put("subscribers", subscriber_id=21, first_name="Jörg", last_name="van Dyck")
    subscribers.edit(desk.books, 21, {"first_name": "José", "last_name": "de la Peña"})
    assert [found(database, *words) for words in (("jorg",), ("dyck",))] == [[], []]
    assert [found(database, *words) for words in (("jose",), ("pena",))] == [[21], [21]]


def test_a_city_alone_or_nothing_is_wrong_usage(database: str) -> None:
    for words in ((), ("--city=Salem",)):
        assert "--zip" in refused(database, "subscriber", "find", *words, exit_status=2)
    assert (
        "--account"
        in masthead("subscriber", "find", "ada", database=database, exit_status=2).stderr
    )


def test_duplicates_are_shown_and_merged(database: str) -> None:
    assert run(database, "subscriber", "duplicates") == [
        "same email:",
        "  4\tÄnnchen van der Berg\tAnna@Example.org\tCode4\t3 Oak Lane, 19901-12 Dover",
        "  5\tZoe Adams\tanna@example.org\tCode5\t",
        "same name and address:",
        "  1\tAda Ames\tada@example.org\tCode1\t12 Elm Street, 97301 Salem",
        "  2\tA. Ames\tada2@example.org\tCode2\t12 ELM street, 97301 Salem",
    ]
    assert run(database, "subscriber", "duplicates", "--of=3") == ["no duplicates were found"]
    assert len(run(database, "subscriber", "duplicates", "--of=2")) == 3
    assert run(database, "subscriber", "merge", 1, "--into=2", "--dry-run")[-2:] == [
        "subscriber 1 is merged into subscriber 2, with 1 subscription, 1 address",
        "nothing was changed: this was a dry run",
    ]
    assert run(database, "subscriber", "merge", 1, "--into=2") == [
        "subscriber 1 is merged into subscriber 2, with 1 subscription, 1 address"
    ]
    assert entries(database)[-1][0] == "subscriber merge 1 --into 2 --account 1"
    assert run(database, "subscriber", "duplicates", "--of=2") == ["no duplicates were found"]
    shown = run(database, "subscriber", "show", 2)
    assert "subscription 11: Tide, Print, copies 1, 4 issues left, until 2190-05-31" in shown
    assert found(database, "ames") == [2, 3, 1]
    again = refused(database, "subscriber", "merge", 1, "--into=2")
    assert " was deleted on " in again


def test_a_subscription_is_shown_changed_and_cancelled(database: str) -> None:
    shown = run(database, "subscription", "show", 11)
    assert "mailing address 1: 12 Elm Street, Salem, 97301" in shown
    assert (
        "term 21 (paid): 4 of 4 issues left, 10.00 USD paid on 2026-01-10, unearned 10.00 USD, "
        "order 7" in shown
    )
    assert run(database, "subscription", "set", 11, "--copies=2", "--free", "--campaign=off") == [
        "subscription 11: campaign 1 -> 0, copies 1 -> 2 (free)"
    ]
    assert run(database, "subscription", "set", 11, "--copies=2") == [
        "subscription 11 has these values already: nothing changed"
    ]
    said = "copies 2 -> 4, 4 issues of 1 copy were converted into 1 issue of 4 copies"
    convert = ("subscription", "set", 11, "--copies=4", "--convert", "--dry-run")
    assert run(database, *convert)[0] == f"subscription 11: {said}"
    assert run(database, "subscription", "suspend", 11, "--from=2190-02-01", "--to=2190-02-28") == [
        "subscription 11 is suspended from 2190-02-01 to 2190-02-28"
    ]
    assert "date_expired: 2190-06-30" in run(database, "subscription", "show", 11)
    assert run(database, "subscription", "resume", 11) == [
        "subscription 11: the suspension from 2190-02-01 was removed"
    ]
    assert run(database, "subscription", "extend", 11, "--issues=2") == [
        "subscription 11 got 2 free issues (term 22, complimentary)"
    ]
    moved = ("subscription", "address", 11, "--address=3 Pine", "--city=Reno")
    assert run(database, *moved, "--from=2190-01-01", "--to=2190-03-31") == [
        "subscription 11 goes to address 5 from 2190-01-01 to 2190-03-31"
    ]
    assert run(database, *moved) == ["subscription 11 goes to address 6 from now on"]
    shown = run(database, "subscription", "show", 11)
    assert "mailing address 6: Ada Ames, 3 Pine, Reno" in shown
    assert "address 5 from 2190-01-01 to 2190-03-31: Ada Ames, 3 Pine, Reno" in shown
    assert run(database, "subscription", "address", 11, "--back") == [
        "subscription 11: the temporary address from 2190-01-01 was removed"
    ]
    dry = run(database, "subscription", "cancel", 11, "--refund", "--dry-run")
    said = (
        "subscription 11 is cancelled: 6 issues left end, 10.70 USD is refunded, of which tax "
        "0.70 USD"
    )
    assert dry == [said, "nothing was changed: this was a dry run"]
    count = len(entries(database))
    assert run(database, "subscription", "cancel", 11, "--refund") == [said]
    assert len(entries(database)) == count + 1
    assert entries(database)[-1][1] == said
    assert "renew_campaign_active: 0" in run(database, "subscription", "show", 11)
    assert "was cancelled on" in refused(database, "subscription", "extend", 11)
    assert "has no subscription 12" in refused(database, "subscription", "show", 12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("set", "11"), "--copies"),
        (("set", "11", "--free"), "--copies"),
        (("set", "11", "--copies=2", "--free", "--convert"), "with --free or --convert"),
        (("set", "11", "--copies=2", "--convert", "--class=staff"), "--class needs --free"),
        (("suspend", "11", "--from=soon"), "'soon' is not a day such as 2026-11-24"),
        (("address", "11"), "--address-id"),
        (("address", "11", "--address=x", "--address-id=1"), "--address-id"),
        (("address", "11", "--address=x", "--from=2190-01-01"), "--from and --to"),
        (("address", "11", "--back", "--address=x"), "give --back alone"),
    ],
)
def test_wrong_usage_is_said(database: str, arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(database, "subscription", *arguments, exit_status=2)


def test_letters_are_previewed_then_written_and_noted_once(database: str, tmp_path: Path) -> None:
    """circulation, "Renewals"."""
    assert run(database, "renewals", "efforts", "list")[0].startswith("no efforts")
    for effort, left in ((1, 4), (2, -1)):
        run(
            database, "renewals", "efforts", "set", effort, "--publication=1", "--issues-left", left
        )
    assert run(database, "renewals", "efforts", "list", "--publication=1") == [
        "effort 1 of publication 1 is due at 4 issues left",
        "effort 2 of publication 1 is due 1 issue after the last one",
    ]
    preview = run(database, "renewals", "select", "--preview")
    assert preview[:2] == ["publication 1, effort 1: 1 letter", "1 letter in all"]
    file = tmp_path / "letters.csv"
    assert run(database, "renewals", "select", "--to", file) == preview[:2]
    with file.open(encoding="utf-8", newline="") as opened:
        (letter,) = csv.DictReader(opened)
    assert (letter["subscription_id"], letter["effort"], letter["is_gift"]) == ("11", "1", "1")
    assert (letter["reader_first_name"], letter["first_name"]) == ("Ada", "Ben")
    assert (letter["renewal_code"], letter["address"]) == ("Code3", "12 Elm Street")
    assert "exists already" in refused(database, "renewals", "select", "--to", file)
    assert run(database, "renewals", "select", "--preview")[0] == "0 letters in all"
    lines = run(database, "subscription", "show", 11)
    (on,) = (line for line in lines if re.fullmatch("letter of effort 1 on 20..-..-..", line))
    again = ("renewals", "select", "--sent", on[-10:], "--to", tmp_path / "again.csv")
    assert run(database, *again) == preview[:2]
    assert (tmp_path / "again.csv").read_bytes() == file.read_bytes()
    said = refused(database, "renewals", "select", "--sent=soon", "--to=x.csv", exit_status=2)
    assert "'soon' is not a day" in said
    run(database, "renewals", "efforts", "remove", 2, "--publication=1")
    assert len(run(database, "renewals", "efforts", "list")) == 1
    assert "--preview" in refused(database, "renewals", "select", exit_status=2)


def test_where_files_own_the_data_nothing_is_changed(shop: tuple[Desk, str], database: str) -> None:
    """circulation, "Two modes of an account"."""
    masthead("accounts", "add", 2, database=database)
    try:
        for arguments in (
            ("subscription", "cancel", 1),
            ("subscriber", "merge", 1, "--into=2"),
            ("renewals", "efforts", "set", 1, "--publication=1", "--issues-left=1"),
            ("renewals", "select", "--preview"),
        ):
            said = masthead(*arguments, "--account=2", database=database, exit_status=1).stderr
            assert "`masthead books open --account 2` opens the books" in said
        said = masthead("subscriber", "find", "x", "--account=2", database=database).stderr
        assert said.startswith("no reader was found")
    finally:
        masthead("accounts", "remove", 2, "--yes", database=database)


SOUGHT = (
    Sought("ada ames"),
    Sought("ames"),
    Sought(email="ada@example.org"),
    Sought(renewal_code="Code1"),
    Sought(order="7"),
    Sought(street="12 elm"),
    Sought(zip_code="97301"),
    Sought("ames", zip_code="97301", city="salem"),
)


@pytest.mark.parametrize("sought", SOUGHT)
def test_sqlite_finds_readers_by_indexes(
    shop: tuple[Desk, str], database: str, sought: Sought
) -> None:
    """decisions, "SQLite through apsw"."""
    desk, _ = shop
    if desk.store.dialect != "sqlite":
        pytest.skip("PostgreSQL plans by what a table holds")
    with desk.store.writer() as connection:
        with statements(connection) as asked:
            list(subscriber_search.find(connection, 1, sought, limit=5))
            list(subscriber_search.duplicates(connection, 1, of=1))
        assert asked
        for sql, values in asked:
            for _, _, _, line in connection.rows(f"EXPLAIN QUERY PLAN {sql}", **values):
                scans = re.match(r"SCAN (?!c$|f$|same$|\(|CONSTANT|x$)", line)
                assert not scans, (sql, line)
                assert not re.match(r"SEARCH .*\(account_id=\?\)$", line), (sql, line)
