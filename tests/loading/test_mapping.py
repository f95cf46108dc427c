"""Mapping files: what they say about files of another form, and how mistakes in them are told."""

# Long because each form of a mapping is tried, and each of its mistakes.

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest

from masthead.errors import BadInput, BadUsage
from masthead.loading.load import Options, load
from masthead.loading.mapping_toml import parse_mapping
from masthead.store.merging import Counts
from tests.docs.pages import ROOT
from tests.loading.mapped import FLAT, FLAT_MAPPING, load_mapped, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher


def mistakes(mapping: str | bytes) -> list[str]:
    raw = mapping.encode() if isinstance(mapping, str) else mapping
    with pytest.raises(BadInput) as refused:
        parse_mapping(raw, "publisher.toml")
    return str(refused.value).splitlines()


def of_subscribers(columns: str, head: str = "") -> str:
    return f'[[files]]\nname = "s"\n{head}\n[files.tables.subscribers]\n{columns}\n'


def subscribers(publisher: Publisher, content: str, columns: str, head: str = "") -> list[Any]:
    """Load a file of subscribers by a mapping; return the records."""
    load_mapped(publisher, {"s.csv": content}, of_subscribers(columns, head))
    return publisher.table("subscribers")


# One flat row.


def test_one_flat_row_feeds_several_tables(publisher: Publisher) -> None:
    """rules, "Flat rows"."""
    loaded = load_mapped(publisher, {"Abonnenten 2025-01.csv": FLAT}, FLAT_MAPPING)
    assert loaded.counts == {
        "publications": Counts(2, 0, 0),
        "subscribers": Counts(2, 0, 0),
        "addresses": Counts(1, 0, 0),
        "subscriptions": Counts(3, 0, 0),
    }
    ada, ben = publisher.table("subscribers")
    assert (ada["email"], ada["first_name"], ada["source"]) == ("ada@example.org", "Ada", "billing")
    (address,) = publisher.table("addresses")
    assert (address["subscriber_id"], address["address"]) == (ada["subscriber_id"], "Hafenweg 1")
    names = {row["publication_id"]: row["name"] for row in publisher.table("publications")}
    found = [
        (
            row["subscriber_id"],
            names[row["publication_id"]],
            row["mailing_address_id"],
            row["type"],
            row["unearned_revenue"],
            row["date_created"],
        )
        for row in publisher.table("subscriptions")
    ]
    assert found == [
        (ada["subscriber_id"], "Tide", address["address_id"], "Print", "49.90", "2024-12-31"),
        (
            ada["subscriber_id"],
            "Harbour",
            address["address_id"],
            "Digital",
            "1049.90",
            "2025-01-01",
        ),
        (ben["subscriber_id"], "Tide", None, "Both", None, "2025-01-02"),
    ]


def test_loading_the_same_flat_file_again_changes_nothing(publisher: Publisher) -> None:
    load_mapped(publisher, {"Abonnenten.csv": FLAT}, FLAT_MAPPING)
    before = publisher.everything()
    loaded = load_mapped(publisher, {"Abonnenten.csv": FLAT}, FLAT_MAPPING)
    assert {(c.inserted, c.changed) for c in loaded.counts.values()} == {(0, 0)}
    assert publisher.everything() == before


DISAGREE = ": rows of one record have to agree, or need a key that tells their records apart"


def test_repeats_of_a_record_that_differ_are_named_with_both_values_and_lines(
    publisher: Publisher,
) -> None:
    """rules, "Flat rows"."""
    content = FLAT.replace(
        "K-1;ada@example.org;Ada;Hafenweg 1;Harbour", "K-1;eve@x.org;;Weg;Harbour"
    )
    assert refusal(publisher, {"Abonnenten.csv": content}, FLAT_MAPPING) == [
        (
            "Abonnenten.csv:3: E-Mail (subscribers.email): "
            f"'eve@x.org' here, and 'ada@example.org' in line 2{DISAGREE}"
        ),
        (
            "Abonnenten.csv:3: Vorname (subscribers.first_name): nothing here, and 'Ada' in line 2"
            f"{DISAGREE}"
        ),
        (
            "Abonnenten.csv:3: Strasse (addresses.address): "
            f"'Weg' here, and 'Hafenweg 1' in line 2{DISAGREE}"
        ),
    ]


def test_repeated_rows_are_one_record_at_any_distance(publisher: Publisher) -> None:
    rows = [f"{n};{n % 3};{n % 3}@x.org\n" for n in range(5_000)]
    mapping = of_subscribers(
        'subscriber_id = "B"\nemail = "C"',
        'separator = ";"\nignore = ["A"]',
    )
    loaded = load_mapped(publisher, {"s.csv": "A;B;C\n" + "".join(rows)}, mapping)
    assert loaded.counts == {"subscribers": Counts(3, 0, 0)}
    problem = refusal(publisher, {"s.csv": "A;B;C\n" + "".join(rows) + "9;2;other\n"}, mapping)
    assert problem == [
        f"s.csv:5002: C (subscribers.email): 'other' here, and '2@x.org' in line 4{DISAGREE}"
    ]


def test_an_email_address_in_other_letters_is_the_same(publisher: Publisher) -> None:
    """rules, "Flat rows": a login finds both. The first one counts."""
    mapping = of_subscribers('subscriber_id = { key = ["A"] }\nemail = "A"\nfirst_name = "B"')
    content = "A,B\nann@x.org,Ann\nANN@x.org,Ann\n"
    assert load_mapped(publisher, {"s.csv": content}, mapping).counts == {
        "subscribers": Counts(1, 0, 0)
    }
    assert [row["email"] for row in publisher.table("subscribers")] == ["ann@x.org"]


def test_records_of_one_key_are_joined_if_their_columns_agree(publisher: Publisher) -> None:
    """rules, "Flat rows": the payer of a gift can be its recipient, or that of another one."""
    mapping = """
        [[files]]
        name = "s"
        [[files.tables.subscribers]]
        subscriber_id = "payer"
        email = "mail"
        first_name = "payer name"
        [[files.tables.subscribers]]
        subscriber_id = "reader"
        first_name = "name"
        source = "from"
    """
    header = "payer,mail,payer name,reader,name,from\n"
    content = header + "1,a@x.org,Ann,1,Ann,fair\n2,b@x.org,Bo,1,Ann,fair\n3,,Cy,2,Bo,\n"
    loaded = load_mapped(publisher, {"s.csv": content}, mapping)
    assert loaded.counts == {"subscribers": Counts(3, 0, 0)}
    rows = [(r["email"], r["first_name"], r["source"]) for r in publisher.table("subscribers")]
    assert rows == [("a@x.org", "Ann", "fair"), ("b@x.org", "Bo", None), (None, "Cy", None)]
    again = load_mapped(publisher, {"s.csv": content}, mapping)
    assert again.counts == {"subscribers": Counts(0, 0, 3)}
    assert refusal(publisher, {"s.csv": header + "1,a@x.org,Ann,1,Bob,fair\n"}, mapping) == [
        f"s.csv:2: name (subscribers.first_name): 'Bob' here, and 'Ann' in line 2{DISAGREE}"
    ]


def test_a_message_shows_the_beginning_of_a_long_name(publisher: Publisher) -> None:
    mapping = of_subscribers('subscriber_id = "A"\nemail = "B"', 'ignore = ["C"]')
    long = "B" * 70_000
    assert len("".join(refusal(publisher, {"s.csv": f"A,{long},C\n1,x,y\n"}, mapping))) < 1_000


def test_two_titles_can_be_one_publication(publisher: Publisher) -> None:
    """The page about mappings, "Ids made from keys"."""
    values = '{ column = "B", values = { Tide = 1, "The Tide" = 1 } }'
    mapping = f"""
        [[files]]
        name = "s"
        [files.tables.publications]
        publication_id = {values}
        name = {{ column = "B", values = {{ "The Tide" = "Tide", "*" = "*" }} }}
        [files.tables.subscribers]
        subscriber_id = "A"
        [files.tables.subscriptions]
        subscription_id = "A"
        subscriber_id = "A"
        publication_id = {values}
    """
    loaded = load_mapped(publisher, {"s.csv": "A,B\n1,Tide\n2,The Tide\n"}, mapping)
    assert [counts.inserted for counts in loaded.counts.values()] == [1, 2, 2]


def test_no_message_shows_a_password_that_differs(publisher: Publisher) -> None:
    content = "A,B\n1,secret\n1,hidden\n"
    mapping = of_subscribers('subscriber_id = "A"\npassword = "B"')
    (problem,) = refusal(publisher, {"s.csv": content}, mapping)
    assert problem == f"s.csv:3: subscribers.password_md5: differs from that in line 2{DISAGREE}"


def test_two_files_give_the_same_record_if_they_agree(publisher: Publisher) -> None:
    mapping = of_subscribers('subscriber_id = "A"\nemail = "B"').replace('"s"', '"s*"')
    files = {"s1.csv": "A,B\n1,a\n2,b\n", "s2.csv": "A,B\n2,b\n3,c\n"}
    assert load_mapped(publisher, files, mapping).counts == {"subscribers": Counts(3, 0, 0)}
    files["s2.csv"] = "A,B\n2,x\n"
    assert refusal(publisher, files, mapping) == [
        f"s2.csv:2: B (subscribers.email): 'x' here, and 'b' in line 3 of another file{DISAGREE}"
    ]


def test_a_row_with_values_and_without_a_record_is_a_problem_and_a_blank_row_is_not(
    publisher: Publisher,
) -> None:
    """rules, "Flat rows": nothing is lost without a word."""
    content = FLAT + ";;;;;;;;\n;;Carl;;;;;;\n"
    (problem,) = refusal(publisher, {"Abonnenten.csv": content}, FLAT_MAPPING)
    assert problem.startswith("Abonnenten.csv:6: row: gives no record")


def test_a_missing_key_removes_no_subscriber(publisher: Publisher, tmp_path: Path) -> None:
    """rules, "Flat rows": with --complete or without; the row says that there is a record."""
    mapping = """
        [[files]]
        name = "abos*"
        [files.tables.publications]
        publication_id = { key = ["Titel"] }
        name = "Titel"
        [files.tables.subscribers]
        subscriber_id = { key = ["Kunde"] }
        email = "E-Mail"
        [files.tables.subscriptions]
        subscription_id = { key = ["Abo"] }
        subscriber_id = { key = ["Kunde"] }
        publication_id = { key = ["Titel"] }
        date_expired = "Bis"
        """
    constant = mapping.replace('id = { key = ["Titel"] }', "id = { constant = 1 }")
    first = "Abo,Kunde,E-Mail,Titel,Bis\nA1,K1,a@x.example,Tide,\n"
    for form, lost, problem in (
        (mapping, ",K2,b@x.example,Tide,2026-12-31", "subscriptions, since Abo is empty, but Bis"),
        (mapping, ",K2,b@x.example,Tide,", "subscriptions, since Abo is empty, but it joins a"),
        (mapping, ",,b@x.example,Tide,", "subscribers, since Kunde is empty, but E-Mail has a"),
        (constant, ",,b@x.example,Tide,", "subscribers, since Kunde is empty, but E-Mail has a"),
        (constant, ",K2,b@x.example,Tide,2026-12-31", "subscriptions, since Abo is empty, but B"),
    ):
        whole = {"abos.csv": f"{first}A2,K2,b@x.example,Tide,\n"}
        load_mapped(publisher, whole, form, complete=True)
        before = publisher.everything()
        night = {"abos.csv": f"{first}{lost}\n"}
        for complete in (False, True):
            (found,) = refusal(publisher, night, form, complete=complete)
            assert found.startswith(f"abos.csv:3: row: gives no record of {problem}"), found
        with pytest.raises(BadInput, match=r"abos\.csv:3: row: .*\n.* keys of these rows cannot"):
            load_mapped(publisher, night, form, complete=True, reject=tmp_path / "r")
        new = {"abos.csv": night["abos.csv"].replace("K2", "K9")}
        for files in (night, new):
            loaded = load_mapped(publisher, files, form, reject=tmp_path / "r")
            assert loaded.rejected == {"abos.csv": 1}
            assert publisher.everything() == before
    alone = {"abos.csv": f"{first},K2,b@x.example,,\n"}
    (found,) = refusal(publisher, alone, mapping, complete=True)
    assert found.startswith(
        "abos.csv:3: row: gives no record of subscriptions, since Abo is empty, "
        "but the file is about subscriptions: fill in the key"
    )
    said = mapping.replace('["Abo"]', '["Abo"], when = ["Abo", "Bis"]')
    loaded = load_mapped(publisher, alone, said, complete=True)
    assert loaded.counts["subscriptions"].removed == 1


def test_a_key_of_two_columns_with_one_of_them_empty_removes_nothing(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Flat rows": a part of a key is not the key of another record."""
    load_mapped(publisher, {"Abonnenten.csv": FLAT}, FLAT_MAPPING, complete=True)
    before = publisher.everything()
    for lost, column in (
        (";ben@example.org;Ben;;Tide;B;;02.01.2025;", "subscribers, since Kundennummer is empty"),
        ("K-2;ben@example.org;Ben;;;B;;02.01.2025;", "subscriptions, since Titel is empty"),
    ):
        night = {
            "Abonnenten.csv": FLAT.replace("K-2;ben@example.org;Ben;;Tide;B;;02.01.2025;", lost)
        }
        with pytest.raises(BadInput, match=f"{column}.*(\n.*)*keys of these rows cannot be read"):
            load_mapped(publisher, night, FLAT_MAPPING, complete=True, reject=tmp_path / "r")
        assert publisher.everything() == before


def test_when_decides_alone_that_a_row_has_no_record(publisher: Publisher) -> None:
    """rules, "Flat rows": such as a country that is always there."""
    mapping = """
        [[files]]
        name = "s"
        [files.tables.subscribers]
        subscriber_id = "Nr"
        [files.tables.addresses]
        address_id = { key = ["Nr"], when = ["Ort"] }
        subscriber_id = "Nr"
        city = "Ort"
        country_name = "Land"
        """
    loaded = load_mapped(publisher, {"s.csv": "Nr,Ort,Land\n1,Kiel,DE\n2,,DE\n"}, mapping)
    assert loaded.counts["addresses"] == Counts(1, 0, 0)


def test_of_a_rejected_row_the_records_without_a_problem_are_loaded(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Flat rows": it may be the only one that has them, or another's record too."""
    content = FLAT.replace("31.12.2024", "31.31.2024")
    files = {"Abonnenten 1.csv": content}
    loaded = load_mapped(publisher, files, FLAT_MAPPING, reject=tmp_path / "r")
    assert {name: counts.inserted for name, counts in loaded.counts.items()} == {
        "publications": 2,
        "subscribers": 2,
        "addresses": 1,
        "subscriptions": 2,
    }
    assert loaded.rejected == {"Abonnenten 1.csv": 1}
    written = (tmp_path / "r" / "Abonnenten 1.csv").read_text().splitlines()
    assert written[0] == FLAT.splitlines()[0] + ";reason"
    assert written[1].endswith(
        ";Seit (subscriptions.date_created): '31.31.2024' is not a date written DD.MM.YYYY: "
        "there is no such day or time"
    )


def test_a_corrected_file_of_rejected_rows_is_loaded_by_the_same_mapping(
    publisher: Publisher, tmp_path: Path
) -> None:
    content = FLAT.replace("31.12.2024", "31.31.2024")
    load_mapped(publisher, {"Abonnenten.csv": content}, FLAT_MAPPING, reject=tmp_path / "r")
    rejected = (tmp_path / "r" / "Abonnenten.csv").read_text()
    corrected = rejected.replace("31.31.2024", "31.12.2024")
    loaded = load_mapped(publisher, {"Abonnenten.csv": corrected}, FLAT_MAPPING)
    assert loaded.counts["subscriptions"] == Counts(1, 0, 0)
    assert len(publisher.table("subscriptions")) == 3


def test_rejected_rows_have_the_reasons_of_all_tables_in_the_order_of_the_file(
    publisher: Publisher, tmp_path: Path
) -> None:
    content = FLAT.replace(";D;", ";Q;").replace("ben@example.org", "b" * 51)
    load_mapped(publisher, {"Abonnenten.csv": content}, FLAT_MAPPING, reject=tmp_path / "r")
    _, *rows = (tmp_path / "r" / "Abonnenten.csv").read_text().splitlines()
    assert [row.split(";")[0] for row in rows] == ["K-1", "K-2"]
    assert "Art (subscriptions.type): 'Q' is not one of the values" in rows[0]
    assert "E-Mail (subscribers.email): " in rows[1]
    assert "there is no subscriber" in rows[1]


# Values.


@pytest.mark.parametrize(
    ("dates", "written", "stored"),
    [
        ("YYYY-MM-DD", "2025-12-31", "2025-12-31 00:00:00"),
        ("DD/MM/YYYY", "31/12/2025", "2025-12-31 00:00:00"),
        ("MM/DD/YYYY", "12/31/2025", "2025-12-31 00:00:00"),
        ("DD.MM.YYYY", " 31.12.2025 14:05 ", "2025-12-31 14:05:00"),
        ("D.M.YY", "1.2.68", "2068-02-01 00:00:00"),
        ("D.M.YY", "01.02.69 1:02:03", "1969-02-01 01:02:03"),
        ("YYYYMMDD", "20251231", "2025-12-31 00:00:00"),
        ("D. M. YYYY", "1. 2. 2025", "2025-02-01 00:00:00"),
        ("DD/MM/YYYY", "31/12/2025T14:05:06.123", "2025-12-31 14:05:06"),
        ("DD/MM/YYYY", "2025-12-31", "2025-12-31 00:00:00"),
    ],
)
def test_dates_are_read_as_the_mapping_says(
    publisher: Publisher, dates: str, written: str, stored: str
) -> None:
    """rules, "Values of mapped files"."""
    (found,) = subscribers(
        publisher,
        f'A,B\n1,"{written}"\n',
        'subscriber_id = "A"\ndelete_date = "B"',
        f'dates = "{dates}"',
    )
    assert found["delete_date"] == stored


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("2025-31-12", ": there is no such day or time"),
        ("31/12/25", ""),
        ("31.12.2025", ""),
        ("0/1/2025", ""),
        ("31/02/2025", ": there is no such day or time"),
        ("31/12/2025 25:00", ": there is no such day or time"),
    ],
)
def test_an_invalid_date_is_a_problem(publisher: Publisher, written: str, why: str) -> None:
    mapping = of_subscribers('subscriber_id = "A"\ndelete_date = "B"', 'dates = "DD/MM/YYYY"')
    assert refusal(publisher, {"s.csv": f"A,B\n1,{written}\n"}, mapping) == [
        f"s.csv:2: B (subscribers.delete_date): {written!r} is not a date written DD/MM/YYYY{why}"
    ]


def test_a_column_may_write_its_dates_in_another_order(publisher: Publisher) -> None:
    (found,) = subscribers(
        publisher,
        "A,B\n1,20251231\n",
        'subscriber_id = "A"\ndelete_date = { column = "B", dates = "YYYYMMDD" }',
        'dates = "DD/MM/YYYY"',
    )
    assert found["delete_date"] == "2025-12-31 00:00:00"


def test_a_day_column_leaves_the_time_out(small: Publisher) -> None:
    mapping = (
        '[[files]]\nname = "x"\ndates = "DD.MM.YYYY"\n'
        '[files.tables.subscriptions]\nsubscription_id = "A"\ndate_created = "B"\n'
    )
    load_mapped(small, {"x.csv": "A,B\n1,31.12.2025 14:00\n"}, mapping)
    assert small.table("subscriptions")[0]["date_created"] == "2025-12-31"


@pytest.mark.parametrize(
    ("head", "written", "stored"),
    [
        ('decimal = ","', "49,90", "49.90"),
        ('decimal = ","', "1.234.567,5", "1234567.5"),
        ('decimal = ","', "1\u00a0234,5", "1234.5"),
        ('decimal = ","', "1'234,5", "1234.5"),
        ('decimal = "."', "1,234.50", "1234.50"),
        ('decimal = "."', "-1234.50", "-1234.50"),
        ('decimal = ","\ncurrency = "€"', "49,90 €", "49.90"),
        ('currency = "EUR"', "-EUR 49.90", "-49.90"),
        ("", " 49.90 ", "49.90"),
    ],
)
def test_amounts_are_read_as_the_mapping_says(
    small: Publisher, head: str, written: str, stored: str
) -> None:
    """rules, "Values of mapped files"."""
    mapping = (
        f'[[files]]\nname = "x"\n{head}\n'
        '[files.tables.purchases]\npurchase_id = "A"\nsubscriber_id = {constant = 1}\ntotal = "B"\n'
    )
    load_mapped(small, {"x.csv": f'A,B\n9,"{written}"\n'}, mapping)
    assert small.table("purchases")[-1]["total"] == stored


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ('decimal = ","', "49.90"),
        ('decimal = ","', "1.23,5"),
        ('decimal = ","', "1.234 567"),
        ('decimal = ","', "49,90 €"),
        ('decimal = ","\ncurrency = "€"', "49,90 $"),
        ("", "1,234.50"),
    ],
)
def test_an_invalid_amount_is_a_problem(small: Publisher, head: str, written: str) -> None:
    """rules, "Values of mapped files": what could be read in two ways is not read."""
    mapping = (
        f'[[files]]\nname = "x"\n{head}\n'
        '[files.tables.purchases]\npurchase_id = "A"\nsubscriber_id = {constant = 1}\ntotal = "B"\n'
    )
    (problem,) = refusal(small, {"x.csv": f'A,B\n9,"{written}"\n'}, mapping)
    assert problem.startswith(f"x.csv:2: B (purchases.total): {written!r} is not a ")


def test_words_for_yes_and_no_ignore_letter_case_beside_true_and_false(small: Publisher) -> None:
    mapping = (
        '[[files]]\nname = "x"\nyes = ["ja", "X"]\nno = ["nein"]\n'
        '[files.tables.subscriptions]\nsubscription_id = "A"\nrenew_campaign_active = "B"\n'
    )
    for word, stored in [("Ja", 1), ("NEIN", 0), (" x", 1), ("", 0), ("true", 1), ("0", 0)]:
        load_mapped(small, {"x.csv": f"A,B\n1,{word}\n"}, mapping)
        assert small.table("subscriptions")[0]["renew_campaign_active"] == stored
    assert refusal(small, {"x.csv": "A,B\n1,jein\n"}, mapping) == [
        (
            "x.csv:2: B (subscriptions.renew_campaign_active): 'jein' is neither yes (ja, x) nor "
            "no (nein)"
        )
    ]


def test_values_replace_the_words_of_a_column_and_default_the_others(small: Publisher) -> None:
    mapping = (
        '[[files]]\nname = "x"\nempty = ["NULL"]\n[files.tables.subscriptions]\n'
        'subscription_id = "A"\ntype = { column = "B", values = { P = "Print", "" = "Both" } }\n'
        'copies = { column = "C", default = 1 }\n'
        'audit_classification = { column = "D", values = { Q = "paid", "*" = "free" }, '
        'default = "free" }\n'
    )

    def loaded(cells: str) -> tuple[Any, ...]:
        load_mapped(small, {"x.csv": f"A,B,C,D\n1,{cells}\n"}, mapping)
        row = small.table("subscriptions")[0]
        return row["type"], row["copies"], row["audit_classification"]

    assert loaded("P,3,Q") == ("Print", 3, "paid")
    assert loaded(",,") == ("Both", 1, "free")
    assert loaded(" P ,NULL,z") == ("Print", 1, "free")
    assert refusal(small, {"x.csv": "A,B,C,D\n1,p,1,Q\n"}, mapping) == [
        "x.csv:2: B (subscriptions.type): 'p' is not one of the values in the mapping: P, \"\""
    ]


def test_text_has_no_spaces_at_its_ends_and_an_empty_word_is_no_text(
    publisher: Publisher,
) -> None:
    found = subscribers(
        publisher,
        "A,B\n 1 , Ada \n2,NULL\n3,\n",
        'subscriber_id = "A"\nfirst_name = "B"',
        'empty = ["NULL"]',
    )
    assert [(row["subscriber_id"], row["first_name"]) for row in found] == [
        (1, "Ada"),
        (2, None),
        (3, None),
    ]


def test_an_unmapped_column_of_a_table_stays_as_it_is(small: Publisher) -> None:
    load_mapped(
        small, {"s.csv": "A,B\n1,Eva\n"}, of_subscribers('subscriber_id = "A"\nfirst_name = "B"')
    )
    ada = small.table("subscribers")[0]
    assert (ada["first_name"], ada["email"]) == ("Eva", "ada@example.org")


def test_a_password_is_mapped_to_its_digest(publisher: Publisher) -> None:
    (found,) = subscribers(
        publisher, "A,B\n1,correct horse\n", 'subscriber_id = "A"\npassword = "B"'
    )
    assert found["password_md5"] == "3cb4e732631f47e6eb961f34554b7cde"


# Records of JSON.


def test_a_key_that_a_json_record_lacks_stays_as_it_is(small: Publisher) -> None:
    records = [{"nr": 1, "mail": "new@example.org"}, {"nr": 2, "name": "Bob", "mail": None}]
    mapping = of_subscribers('subscriber_id = "nr"\nemail = "mail"\nfirst_name = "name"')
    content = "".join(json.dumps(record) + "\n" for record in records)
    load_mapped(small, {"s.ndjson": content}, mapping)
    found = [(row["email"], row["first_name"]) for row in small.table("subscribers")]
    assert found == [("new@example.org", "Ada"), (None, "Bob")]


def test_numbers_of_json_have_a_point_and_its_texts_what_the_mapping_says(small: Publisher) -> None:
    """rules, "Values of mapped files": 1.234 is a number of JSON, and never 1234."""
    mapping = (
        '[[files]]\nname = "x"\ndecimal = ","\n[files.tables.purchases]\n'
        'purchase_id = "A"\nsubscriber_id = { constant = 1 }\ntotal = "B"\n'
    )
    content = '{"A": 8, "B": 1.234}\n{"A": 9, "B": "49,90"}\n'
    load_mapped(small, {"x.ndjson": content}, mapping)
    assert [row["total"] for row in small.table("purchases")[-2:]] == ["1.234", "49.90"]


def test_a_json_key_that_is_not_mapped_is_a_mistake(publisher: Publisher) -> None:
    (line,) = refusal(
        publisher,
        {"s.ndjson": '{"A": 1}\n{"A": 2, "b": 3}\n'},
        of_subscribers('subscriber_id = "A"'),
    )
    assert line == (
        "s.ndjson: the column 'b' is used by no table; if it is not needed, add it to "
        "files[0].ignore in publisher.toml"
    )


# Which files.


def test_mapped_and_plain_files_are_loaded_together(publisher: Publisher) -> None:
    mapping = of_subscribers('subscriber_id = "A"').replace('"s"', '"Kunden*.csv"')
    files: dict[str, str | bytes] = {
        "Kunden 1.csv.gz": gzip.compress(b"A\n1\n"),
        "addresses.csv": "address_id,subscriber_id\n1,1\n",
    }
    loaded = load_mapped(publisher, files, mapping)
    assert loaded.counts == {"subscribers": Counts(1, 0, 0), "addresses": Counts(1, 0, 0)}


def test_a_mapped_name_needs_no_known_ending(publisher: Publisher) -> None:
    mapping = of_subscribers('subscriber_id = "A"', 'format = "tsv"').replace('"s"', '"*.txt"')
    loaded = load_mapped(publisher, {"kunden.txt": "A\n1\n"}, mapping)
    assert loaded.counts == {"subscribers": Counts(1, 0, 0)}


def test_the_first_entry_that_matches_is_taken(publisher: Publisher) -> None:
    mapping = of_subscribers('subscriber_id = "A"') + of_subscribers('subscriber_id = "B"')
    assert load_mapped(publisher, {"s.csv": "A\n1\n"}, mapping).counts["subscribers"].inserted == 1


def test_files_that_match_nothing_are_named_with_the_nearest_pattern(publisher: Publisher) -> None:
    lines = refusal(publisher, {"Abonenten.csv": "", "t.csv": ""}, FLAT_MAPPING)
    assert [line[line.index("matches") :] for line in lines] == [
        (
            "matches no name in publisher.toml, and is not that of a table; "
            "the nearest is 'Abonnenten*'"
        ),
    ] * 2


def test_all_columns_that_do_not_fit_are_named_before_anything_is_read(
    publisher: Publisher,
) -> None:
    """rules, "Mapping files": each column is used or ignored, so that no typo loses one."""
    content = FLAT.replace("E-Mail", "EMail").replace("Bemerkung", "Notiz").replace("P;", "?;")
    lines = refusal(publisher, {"Abonnenten.csv": content, "subscribers.csv": "x\n"}, FLAT_MAPPING)
    assert lines[:3] == [
        (
            "Abonnenten.csv: the column 'EMail' is used by no table; if it is not needed, add it "
            "to files[0].ignore in publisher.toml"
        ),
        (
            "Abonnenten.csv: the column 'Notiz' is used by no table; if it is not needed, add it "
            "to files[0].ignore in publisher.toml"
        ),
        (
            "publisher.toml: files[0].tables.subscribers.email: Abonnenten.csv has no column "
            "'E-Mail'; the nearest is 'EMail'"
        ),
    ]
    assert lines[3].startswith("subscribers.csv:1: ")


def test_a_column_that_is_used_must_not_occur_twice(publisher: Publisher) -> None:
    mapping = of_subscribers('subscriber_id = "A"', 'ignore = [""]')
    assert refusal(publisher, {"s.csv": "A,,\n1,,\n"}, mapping.replace('"A"', '"B"'))
    assert refusal(publisher, {"s.csv": "A,A,\n1,1,\n"}, mapping) == [
        "s.csv: the column 'A' occurs twice"
    ]
    assert load_mapped(publisher, {"s.csv": "A,,\n1,,\n"}, mapping).counts["subscribers"].inserted


def test_data_need_an_account(publisher: Publisher) -> None:
    folder = publisher.write({"s.csv": "A\n1\n", "m.toml": of_subscribers('subscriber_id = "A"')})
    with pytest.raises(BadUsage, match=r"s\.csv: say whose data it is"):
        load(publisher.store, [folder], account_id=None, options=Options(mapping=folder / "m.toml"))


# Mistakes in the mapping.


def test_all_mistakes_are_told_at_once_each_with_its_place() -> None:
    """rules, "Mapping files"."""
    found = mistakes(
        """
        [[files]]
        name = "a"
        seperator = ";"
        dates = "DD/MM/YYYYY"
        yes = ["ja", 3]
        [files.tables.subscribers]
        emial = "E-Mail"
        first_name = 3
        source = { constant = "x", column = "y" }
        [[files]]
        name = "b"
        decimal = ";"
        [files.tables.subscriptions]
        subscription_id = { key = [] }
        subscriber_id = { key = ["A"], of = "addresses" }
        bundle = "B"
        last_purchase_id = { key = ["C"] }
        type = { column = "D", values = { P = "Prnt" }, default = "x" }
        copies = { key = ["A"] }
        [files.tables.subscription]
        """
    )
    assert [line.removeprefix("publisher.toml: ") for line in found] == [
        ("files[0].seperator: there is no key 'seperator'; the nearest is 'separator'"),
        "files[0].yes[1]: has to be text, and is a whole number",
        (
            "files[0].dates: 'DD/MM/YYYYY' is no order of a date: it has YYYY or YY, "
            "MM or M (MMM for a name), and DD or D once each, with . / - , or spaces between, "
            "such as DD.MM.YYYY; or it is unix"
        ),
        ("files[0].tables.subscribers.emial: there is no column 'emial'; the nearest is 'email'"),
        (
            "files[0].tables.subscribers.first_name: has to be the name of a column, "
            "or a table with one of its forms"
        ),
        (
            "files[0].tables.subscribers.source: has to have exactly one of "
            "column, constant, first, join, key"
        ),
        ("files[0].tables.subscribers.subscriber_id: missing: the key of subscribers"),
        "files[1].decimal: has to be one of '.', ','",
        "files[1].tables.subscriptions.subscription_id.key: names no column",
        (
            "files[1].tables.subscriptions.subscriber_id.of: has to be 'subscribers', "
            "whose id subscriber_id is"
        ),
        (
            "files[1].tables.subscriptions.bundle: there is no column 'bundle'; the "
            "nearest is 'last_purchase_bundle_id'"
        ),
        (
            "files[1].tables.subscriptions.last_purchase_id: say with `of` what "
            "last_purchase_id is the id of, such as 'bundles'"
        ),
        ("files[1].tables.subscriptions.type.default: 'x' is not one of Print, Digital, Both"),
        ("files[1].tables.subscriptions.type.values.P: 'Prnt' is not one of Print, Digital, Both"),
        ("files[1].tables.subscriptions.copies: copies is no id, so it cannot be made from a key"),
        (
            "files[1].tables.subscription: there is no table 'subscription'; the "
            "nearest is 'subscriptions'"
        ),
    ]


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ("", "files: missing"),
        ("[files]", "files: missing"),
        ("files = [1]", "files[0]: has to be a table"),
        ("[[files]]", "files[0].name: missing"),
        ('[[files]]\nname = ""\ntables = {}', "files[0].name: empty"),
        ('[[files]]\nname = "a"\ntables = {}', "files[0].tables: names no table"),
        ('[[file]]\nname = "a"', "file: there is no key 'file'; the nearest is 'files'"),
        ("a =", "not TOML: "),
        (b"\xff", "is not UTF-8: "),
        ("x = " + "[" * 5_000, "not TOML: nested too deeply"),
        (of_subscribers('subscriber_id = "A"', 'encoding = "x"'), "files[0].encoding: there is no"),
        (
            of_subscribers('subscriber_id = "A"', 'separator = "ab"'),
            "files[0].separator: has to be",
        ),
        (
            of_subscribers('subscriber_id = "A"', 'ignore = ["A"]'),
            "files[0].ignore[0]: 'A' is used",
        ),
        (
            of_subscribers('subscriber_id = "A"', 'yes=["x"]\nno=["X"]'),
            "files[0].no: 'x' is in yes",
        ),
        (of_subscribers('subscriber_id = "A"', 'currency = " "'), "files[0].currency: empty"),
        (of_subscribers('subscriber_id = "A"', 'dates = "DMYYYY"'), "files[0].dates: 'DMYYYY'"),
        (
            of_subscribers('subscriber_id = "A"\npassword = "B"\npassword_md5 = "C"'),
            "files[0].tables.subscribers.password: there is a password_md5 too",
        ),
        (
            of_subscribers(
                'subscriber_id = "A"\npassword = "p"', 'split = { B = "{p} {q}" }\nignore = ["q"]'
            ),
            "files[0].tables.subscribers.password: has to be a whole cell",
        ),
        (
            of_subscribers('subscriber_id = "A"', 'split = { B = "{p} {q}" }'),
            "files[0].split.B: the part 'p' is used by no table; use it or add it to ignore",
        ),
        (
            of_subscribers('subscriber_id = "A"', 'split = { B = "{p" }'),
            "files[0].split.B: the template '{p' has a single brace",
        ),
        (of_subscribers('subscriber_id = "A"', "header = 0"), "files[0].header: has to be the"),
        (of_subscribers('subscriber_id = "A"', "header = [3, 2]"), "files[0].header: has to be"),
        (of_subscribers('subscriber_id = "A"', "skip_last = -1"), "files[0].skip_last: has to be"),
        (of_subscribers('subscriber_id = "A"', 'each = "B"'), "files[0].each: has to have one *"),
        (
            of_subscribers('subscriber_id = "A"', 'dates = "MMM YYYY"'),
            "files[0].dates: 'MMM YYYY' has no day",
        ),
        (
            of_subscribers('subscriber_id = "A"', 'dates = ["D/M/YYYY", "M/D/YYYY"]'),
            "files[0].dates: 'D/M/YYYY' and 'M/D/YYYY' look the same",
        ),
        (
            of_subscribers('subscriber_id = "A"\ndelete_date = { column = "B", day = "last" }'),
            "files[0].tables.subscribers.delete_date.day: is for dates without a day",
        ),
        (
            of_subscribers('subscriber_id = "A"\nemail = { column = "B", scale = 2 }'),
            "files[0].tables.subscribers.email.scale: email is no number",
        ),
        (
            of_subscribers('subscriber_id = "A"\nemail = { first = ["B", { key = ["C"] }] }'),
            "files[0].tables.subscribers.email.first: has to be a list of columns, or",
        ),
        (
            of_subscribers('subscriber_id = { constant = "" }'),
            "files[0].tables.subscribers.subscriber_id.constant: empty",
        ),
        (
            of_subscribers('subscriber_id = { column = "A", dates = "x" }'),
            "files[0].tables.subscribers.subscriber_id.dates: 'x' is no order",
        ),
    ],
)
def test_each_mistake_has_a_sentence(mapping: str | bytes, said: str) -> None:
    assert mistakes(mapping)[0].startswith(f"publisher.toml: {said}")


def test_each_form_that_the_page_lists_is_a_form() -> None:
    """docs/mapping.md, "Tables"."""
    page = (ROOT / "docs" / "mapping.md").read_text()
    section = page.split("### Tables")[1].split("\n### ")[0]
    forms = re.findall(r"^\| `(.+?)` \| ", section, re.MULTILINE)
    assert len(forms) == 10
    fields = {"values": "type", "default": "copies", "dates": "date_expired", "scale": "copies"}
    for form in forms:
        line, table, key = form, "subscribers", "subscriber_id"
        if form.startswith("{"):
            field = next(field for word, field in fields.items() if f"{word} = " in form)
            line, table, key = f"{field} = {form}", "subscriptions", "subscription_id"
        elif form.startswith("address"):
            table, key = "addresses", "address_id"
        lines = [line] if line.startswith(f"{key} ") else [f'{key} = "A"', line]
        mapping = f'[[files]]\nname = "s"\n[files.tables.{table}]\n' + "\n".join(lines)
        assert len(parse_mapping(mapping.encode(), "m.toml")) == 1


def test_an_empty_key_of_what_a_file_is_about_has_no_default() -> None:
    """rules, "Flat rows"."""
    for source in ('default = "7"', 'values = { "" = 7, "*" = "*" }'):
        (found,) = mistakes(of_subscribers(f'subscriber_id = {{ column = "A", {source} }}'))
        assert "tables.subscribers.subscriber_id: an empty key has no default" in found


def test_a_mapping_that_cannot_be_read_is_said(publisher: Publisher, tmp_path: Path) -> None:
    folder = publisher.write({"s.csv": "A\n1\n"})
    with pytest.raises(BadInput, match=r"nowhere\.toml: cannot be read: No such file"):
        load(
            publisher.store,
            [folder],
            account_id=publisher.account_id,
            options=Options(mapping=tmp_path / "nowhere.toml"),
        )
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(BadInput, match="longer than 1 MiB"):
        load(
            publisher.store,
            [folder],
            account_id=publisher.account_id,
            options=Options(mapping=large),
        )


def test_a_workbook_is_mapped_with_its_own_dates_and_numbers(
    small: Publisher, tmp_path: Path
) -> None:
    """rules, "Values of mapped files": a cell's number has no decimal sign to be mistaken."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("Umsätze")
    sheet.append(["Rechnung", "Kunde", "Betrag"])
    sheet.append(["R1", 1, 1.234])
    sheet.append(["R2", 2, "1,5"])
    book.save(tmp_path / "x.xlsx")
    mapping = (
        '[[files]]\nname = "x"\nsheet = "Umsätze"\ndecimal = ","\n'
        "[files.tables.purchases]\n"
        'purchase_id = { key = ["Rechnung"] }\nsubscriber_id = "Kunde"\ntotal = "Betrag"\n'
    )
    load_mapped(small, {"x.xlsx": (tmp_path / "x.xlsx").read_bytes()}, mapping)
    found = [(row["subscriber_id"], row["total"]) for row in small.table("purchases")[-2:]]
    assert found == [(1, "1.234"), (2, "1.5")]
