"""``masthead import --guess``: a first mapping from the files themselves."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.loading.guess import guess_mapping
from masthead.loading.guess_words import COLUMNS, plain
from masthead.loading.load import Options, load
from masthead.loading.mapping_toml import parse_mapping
from masthead.store.merging import Counts
from tests.loading.publisher import SMALL, Publisher
from tests.loading.records import publishers
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Callable

SPREADSHEET = (
    "Kundennummer;E-Mail;Vorname;Nachname;Straße;PLZ;Ort;Titel;Aboart;Beginn;Bemerkung\r\n"
    "4711;ada@example.org;Ada;Müller;Hafenweg 1;20095;Hamburg;Tide;P;31.12.2024;x\r\n"
    "4712;ben@example.org;Ben;Bär;;;;Harbour;Kombi;2.1.2025;\r\n"
)


def guessed(publisher: Publisher, name: str, content: str | bytes) -> str:
    mapping = guess_mapping([publisher.write({name: content}) / name])
    parse_mapping(mapping.encode(), "guessed.toml")
    return mapping


def test_a_spreadsheet_is_guessed_so_that_it_loads(publisher: Publisher) -> None:
    """rules, "Mapping files": the guess is a start, whose comments say what to look at."""
    content = SPREADSHEET.encode("cp1252")
    mapping = guessed(publisher, "Abos 2025-11-22.csv", content)
    for line in (
        'name = "Abos *.csv"',
        'separator = ";"  # detected',
        'encoding = "cp1252"  # detected',
        'dates = "D.M.YYYY"',
        '    "Bemerkung",  # looks like purchases.notes',
        'subscriber_id = { key = ["Kundennummer"] }  # an id is made from this key',
        'address = "Straße"',
        (
            'type = { column = "Aboart", values = { "P" = "Print", "Kombi" = "Both" } }  '
            "# GUESS: look at the values"
        ),
    ):
        assert line in mapping.splitlines(), mapping
    folder = publisher.write({"Abos 2025-11-23.csv": content, "m.toml": mapping})
    loaded = load(
        publisher.store,
        [folder],
        account_id=publisher.account_id,
        options=Options(mapping=folder / "m.toml"),
    )
    assert loaded.counts == {
        "publications": Counts(2, 0, 0),
        "subscribers": Counts(2, 0, 0),
        "addresses": Counts(1, 0, 0),
        "subscriptions": Counts(2, 0, 0),
    }
    assert [row["type"] for row in publisher.table("subscriptions")] == ["Print", "Both"]


@examples(2, 150)
@given(files=publishers(is_clean=True))
def test_the_guess_of_exported_files_loads_them_as_they_are(
    new_publisher: Callable[[], Publisher], files: dict[str, str]
) -> None:
    plain_one, mapped = new_publisher(), new_publisher()
    plain_one.load(files)
    folder = plain_one.write(plain_one.exported())
    mapping = folder / "guessed.toml"
    mapping.write_text(guess_mapping([folder]))
    load(mapped.store, [folder], account_id=mapped.account_id, options=Options(mapping=mapping))
    assert mapped.everything() == plain_one.everything()


def test_the_guess_of_plain_files_with_a_part_of_the_columns_loads_them(
    new_publisher: Callable[[], Publisher],
) -> None:
    plain_one, mapped = new_publisher(), new_publisher()
    plain_one.load(SMALL)
    folder = mapped.write(SMALL)
    mapping = folder / "guessed.toml"
    mapping.write_text(guess_mapping([folder]))
    load(mapped.store, [folder], account_id=mapped.account_id, options=Options(mapping=mapping))
    assert mapped.everything() == plain_one.everything()


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (["31.12.2025", "1.1.2025"], 'dates = "D.M.YYYY"'),
        (["31.12.2025", "01.01.2025"], 'dates = "DD.MM.YYYY"'),
        (["12/31/2025"], 'dates = "MM/DD/YYYY"'),
        (["20251231"], 'dates = "YYYYMMDD"'),
        (
            ["01/02/2025"],
            'dates = "DD/MM/YYYY"  # GUESS: the rows do not tell day from month',
        ),
    ],
)
def test_the_order_of_dates_is_told_from_the_values(
    publisher: Publisher, cells: list[str], line: str
) -> None:
    content = "Kunde,Titel,Beginn\n" + "".join(f"1,a,{cell}\n" for cell in cells)
    assert line in guessed(publisher, "x.csv", content).splitlines()


def test_amounts_have_the_decimal_sign_and_currency_of_the_values(publisher: Publisher) -> None:
    content = 'Kundennr;Rechnungsnr;Betrag;Zahlungsart\n1;R1;"1.049,90 €";Bar\n'
    mapping = guessed(publisher, "x.csv", content).splitlines()
    assert 'decimal = ","' in mapping
    assert 'currency = "€"' in mapping
    assert 'total = "Betrag"' in mapping
    assert 'purchase_id = { key = ["Rechnungsnr"] }' in mapping


def test_a_similar_name_is_a_guess_that_is_said(publisher: Publisher) -> None:
    mapping = guessed(publisher, "x.csv", "Kundennummer,Vornahme,Code\n1,Ada,x\n")
    assert 'first_name = "Vornahme"  # GUESS: by a similar name' in mapping.splitlines()
    assert '    "Code",' in mapping.splitlines()


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("ID,Mail", 'key = ["ID"] }  # GUESS: is it the subscriber\'s number?'),
        ("Mail,No.", 'key = ["No."] }  # GUESS: is it the subscriber\'s number?'),
        ("ID,Mail,Kundennummer", 'key = ["Kundennummer"] }  # an id is made from this key'),
        ("ID,Mail,Contract ID", 'key = ["Mail"] }  # no number was found'),
    ],
)
def test_a_number_of_nothing_else_may_be_the_subscribers(
    publisher: Publisher, header: str, key: str
) -> None:
    mapping = guessed(publisher, "x.csv", f"{header}\n1,2,3\n")
    assert f"subscriber_id = {{ {key}" in mapping.splitlines()


def test_a_file_without_columns_cannot_be_guessed(publisher: Publisher) -> None:
    with pytest.raises(BadInput, match=r"x\.csv: has no columns to guess from"):
        guessed(publisher, "x.csv", "")


HEADERS = st.lists(
    st.sampled_from(sorted(COLUMNS)) | st.sampled_from(["Kundennummer", "Titel", ""]) | st.text(),
    min_size=1,
    max_size=6,
)
CELLS = st.sampled_from(["", "1", "31.12.2025", "1,5 €", "ja", "P", '"', "\x7f", "\u2028", "é"])


@examples(60, 1_000)
@given(
    header=HEADERS,
    rows=st.lists(st.lists(CELLS, max_size=6), max_size=3),
    name=st.sampled_from(
        ["x.csv", "x [1].csv", 'q"uote\\.tsv', "subscribers.csv", "x.ndjson", "orders.csv.gz"]
    ),
)
@example(header=["\x7f", "a\nb", '"', "\\"], rows=[], name="x.csv")
def test_every_guess_is_a_valid_mapping(
    publisher: Publisher, header: list[str], rows: list[list[str]], name: str
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *rows])
    folder = publisher.write({name: out.getvalue()})
    mapping = ""
    try:
        mapping = guess_mapping([folder / name])
    except BadInput as refusal:
        assert name in str(refusal)  # noqa: PT017 - a file need not be one of data
    if mapping:
        (entry,) = parse_mapping(mapping.encode(), "guessed.toml")
        assert entry.matches([name.removesuffix(".gz")])


@given(st.binary(max_size=100))
def test_of_any_bytes_the_guess_is_a_mapping_or_says_why_not(
    publisher: Publisher, content: bytes
) -> None:
    folder = publisher.write({"x.csv": content})
    mapping = ""
    try:
        mapping = guess_mapping([folder])
    except BadInput as refusal:
        assert "x.csv" in str(refusal)  # noqa: PT017 - a file need not be one of data
    assert not mapping or parse_mapping(mapping.encode(), "guessed.toml")


def test_the_words_for_columns_are_written_as_they_are_compared() -> None:
    assert {word: plain(word) for word in COLUMNS} == {word: word for word in COLUMNS}
    assert plain("Straße & Hausnummer") == "strassehausnummer"
    assert plain("Prénom") == "prenom"
