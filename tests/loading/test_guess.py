"""``masthead import --guess``: a first mapping from the files themselves."""

from __future__ import annotations

import csv
import gzip
import io
from typing import TYPE_CHECKING

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.loading.guess import guess_mapping
from masthead.loading.guess_words import COLUMNS, plain
from masthead.loading.load import Options, load
from masthead.loading.mapping_files import find_inputs, prepared
from masthead.loading.mapping_toml import parse_mapping
from masthead.store.merging import Counts
from tests.loading.publisher import SMALL, Publisher
from tests.loading.records import publishers
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPREADSHEET = (
    "Kundennummer;E-Mail;Vorname;Nachname;Straße;PLZ;Ort;Titel;Aboart;Beginn;Bemerkung\r\n"
    "4711;ada@example.org;Ada;Müller;Hafenweg 1;20095;Hamburg;Tide;P;31.12.2024;x\r\n"
    "4712;ben@example.org;Ben;Bär;;;;Harbour;Kombi;2.1.2025;\r\n"
)


def guessed(folder: Path, name: str, content: str | bytes) -> list[str]:
    """Return the lines of the guess for a file, which is a valid mapping."""
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    mapping = guess_mapping([file])
    parse_mapping(mapping.encode(), "guessed.toml")
    return mapping.splitlines()


def test_a_spreadsheet_is_guessed_so_that_it_loads(publisher: Publisher) -> None:
    """rules, "Guessed mappings": the guess is a start, whose comments say what to look at."""
    content = SPREADSHEET.encode("cp1252")
    folder = publisher.write({"Abos 2025-11-22.csv": content})
    mapping = guess_mapping([folder])
    for line in (
        'name = "Abos *.csv"',
        'separator = ";"  # detected',
        'encoding = "cp1252"  # detected',
        'dates = "D.M.YYYY"',
        "    \"Bemerkung\",  # looks like purchases.notes; such as 'x'",
        'subscriber_id = { key = ["Kundennummer"] }  # an id is made from this key',
        'address = "Straße"',
        (
            'type = { column = "Aboart", values = { "P" = "Print", "Kombi" = "Both" } }  '
            "# GUESS: look at the values"
        ),
    ):
        assert line in mapping.splitlines(), mapping
    (folder / "m.toml").write_text(mapping)
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


def test_the_table_is_found_below_titles_and_above_notes(tmp_path: Path) -> None:
    report = (
        "Harbor Press,,,,\nMember list,,,,\n,,,,\nMember no,Email,First,Last,Zip\n"
        '1,a@e.org,Ann,Orr,04530\n2,b@e.org,Bo,Kim,04530\n\n"Generated 7/1/2026 9:12 AM"\n'
    )
    lines = guessed(tmp_path, "report.csv", report)
    assert "header = 4  # GUESS: the line of the names: above it is 'Harbor Press'" in lines
    assert "skip_last = 1  # GUESS: 'Generated 7/1/2026 9:12 AM' is no record" in lines
    assert 'subscriber_id = { key = ["Member no"] }  # an id is made from this key' in lines
    two = (
        "Member no,Billing,,Shipping,\n,Street,City,Street,City\n"
        "1,1 Elm,Bath,2 Elm,Reno\n2,3 Elm,Bath,4 Elm,Reno\nTotal,2,,,\n"
    )
    lines = guessed(tmp_path, "two.csv", two)
    assert "header = [1, 2]  # GUESS: two rows have the names" in lines
    assert "skip_last = 1  # GUESS: 'Total' is no record" in lines
    assert 'address = "Shipping Street"' in lines
    plain_one = guessed(tmp_path, "plain.csv", "ID,Name\n1,Ada Orr\n2,Bo Kim\n")
    assert not any(line.startswith(("header", "skip_last")) for line in plain_one)


def test_a_hidden_sheet_is_not_taken_and_the_others_are_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active
    book.active.title, book.active.sheet_state = "Lists", "hidden"
    book.active.append(["Title", "Code"])
    book.create_sheet("Notes").append(["to do"])
    sheet = book.create_sheet("Members")
    for row in (["Members"], [], ["Member no", "Email", "Last"], [7, "a@e.org", "Orr"]):
        sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    lines = guessed(tmp_path, "book.xlsx", (tmp_path / "book.xlsx").read_bytes())
    assert "sheet = \"Members\"  # GUESS: not read: 'Lists' (hidden), 'Notes'" in lines
    assert "header = 3  # GUESS: the line of the names: above it is 'Members'" in lines


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (["31.12.2025", "1.1.2025"], 'dates = "D.M.YYYY"'),
        (["31.12.2025", "01.01.2025"], 'dates = "DD.MM.YYYY"'),
        (["12/31/2025"], 'dates = "MM/DD/YYYY"'),
        (["20251231"], 'dates = "YYYYMMDD"'),
        (["Dec 31, 2025", "Jan 5, 2026 9:12 PM"], 'dates = "MMM D, YYYY"'),
        (
            ["2026-09", "2026-10"],
            'date_created = { column = "Beginn", dates = "YYYY-MM", day = "first" }',
        ),
        (
            ["12/31/2026", "5. März 2027"],
            'date_created = { column = "Beginn", dates = ["MM/DD/YYYY", "D. MMM YYYY"] }',
        ),
        (
            ["01/02/2026"],
            'dates = "DD/MM/YYYY"',
        ),
    ],
)
def test_the_order_of_dates_is_told_from_the_values(
    tmp_path: Path, cells: list[str], line: str
) -> None:
    content = "Kunde,Titel,Beginn\n" + "".join(f'1,a,"{cell}"\n' for cell in cells)
    lines = guessed(tmp_path, "x.csv", content)
    (found,) = [each for each in lines if each.partition("  # ")[0] == line]
    told = {
        "2026-09": "GUESS: a month is its first day",
        "12/31/2026": "GUESS: its dates have several forms",
        "01/02/2026": (
            "GUESS: the rows do not tell day from month: 01/02/2026 is read as 1 February 2026"
        ),
    }
    assert found.partition("  # ")[2] == told.get(cells[0], "")


def test_days_and_months_are_american_beside_dollars_and_zip_codes(tmp_path: Path) -> None:
    lines = guessed(tmp_path, "x.csv", "Member no,Title,Zip,End date\n1,Tide,04530,01/02/2026\n")
    told = "GUESS: the rows do not tell day from month: 01/02/2026 is read as 2 January 2026"
    assert f'dates = "MM/DD/YYYY"  # {told}' in lines


def test_amounts_have_the_decimal_sign_and_currency_of_the_values(tmp_path: Path) -> None:
    content = 'Kundennr;Rechnungsnr;Betrag;Zahlungsart\n1;R1;"1.049,90 €";Bar\n'
    mapping = guessed(tmp_path, "x.csv", content)
    assert 'decimal = ","' in mapping
    assert 'currency = "€"' in mapping
    assert 'total = "Betrag"' in mapping
    assert 'purchase_id = { key = ["Rechnungsnr"] }' in mapping
    both = guessed(tmp_path, "x.csv", "Kundennr,Abonummer,Rechnungsnr,Betrag\n1,A1,R1,5\n2,A2,,\n")
    (number,) = [line for line in both if line.startswith("purchase_id")]
    assert '{ key = ["Rechnungsnr"], when = ["Rechnungsnr", "Betrag"] }  # no purchase' in number
    cents = guessed(tmp_path, "x.csv", "Kundennr,Rechnungsnr,total_cents\n1,R1,500\n")
    assert 'total = { column = "total_cents", scale = 0.01 }  # GUESS: whole cents' in cents
    unclear = guessed(tmp_path, "x.csv", 'Kundennr,Rechnungsnr,Betrag\n1,R1,"1,049"\n')
    assert "decimal = \".\"  # GUESS: is '1,049' above a thousand?" in unclear


def test_what_is_not_loaded_has_a_sample_unless_it_is_a_secret(tmp_path: Path) -> None:
    content = "Kundennummer,Vornahme,Code,Kennwort,Memo,Alt\n1,Ada,x,geheim,$2y$10$abcdefghijklm,\n"
    lines = guessed(tmp_path, "x.csv", content)
    assert 'first_name = "Vornahme"  # GUESS: by a similar name' in lines
    for line in (
        "\"Code\",  # such as 'x'",
        '"Kennwort",  # its values are not shown',
        '"Memo",  # its values are not shown',
        '"Alt",  # is empty',
    ):
        assert f"    {line}" in lines
    digest = "098f6bcd4621d373cade4e832627b4f6"
    lines = guessed(tmp_path, "x.csv", f"Kundennummer,user_pass,hash\n1,{digest},{digest}\n")
    assert 'password_hash = "user_pass"  # GUESS: digests of passwords' in lines
    assert '    "hash",  # its values are not shown' in lines
    assert digest not in "".join(lines)


NUMBERS = (
    "Contact ID, Account ID, Member no, Membership number, Reader no, User ID, External ID, "
    "Code client, Kundennr., Lidnummer, Customer #, Mitgliedsnummer, N° client, Client code, "
    "Subscriber Number, customer_id, AbonnentenNr, Patron ID, Supporter ID, Nº de cliente"
)


def test_the_key_is_a_number_whose_values_tell_the_readers_apart(tmp_path: Path) -> None:
    """Not the email address, which husband and wife share and which a reader changes."""
    rows = "home@e.org,Jane,000345\nhome@e.org,John,000346\n"
    for name in NUMBERS.split(", "):
        lines = guessed(tmp_path, "x.csv", f"Email,First,{name}\n{rows}")
        assert f'subscriber_id = {{ key = ["{name}"] }}' in "\n".join(lines), name
    unknown = guessed(tmp_path, "x.csv", f"Email,First,Kartei\n{rows}")
    key = (
        'subscriber_id = { key = ["Kartei"] }  # GUESS: its values are all there and all different'
    )
    assert key in unknown
    without = guessed(tmp_path, "x.csv", "Email,First\nhome@e.org,Jane\nhome@e.org,John\n")
    key = 'subscriber_id = { key = ["Email"] }  # GUESS: no number was found. A value occurs twice'
    assert key in without
    counted = guessed(tmp_path, "x.csv", "Nr,First\n1,Jane\n2,John\n")
    assert any(
        line.endswith("It counts the rows, and the next file may count otherwise")
        for line in counted
    )
    lacking = guessed(tmp_path, "x.csv", "Kunde,First\n7,Jane\n,John\n")
    assert any(line.endswith("# GUESS: 1 row has none") for line in lacking)


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("ID,Mail", 'key = ["ID"] }  # GUESS: is it the subscriber\'s number?'),
        ("Mail,No.", 'key = ["No."] }  # GUESS: is it the subscriber\'s number?'),
        ("ID,Mail,Kundennummer", 'key = ["Kundennummer"] }  # an id is made from this key'),
        ("ID,Mail,Contract ID", 'key = ["Mail"] }  # GUESS: no number was found.'),
        ("Contact ID,Mail,Account ID", "key = [\"Contact ID\"] }  # GUESS: or is it 'Account ID'?"),
    ],
)
def test_a_number_of_nothing_else_may_be_the_subscribers(
    tmp_path: Path, header: str, key: str
) -> None:
    lines = guessed(tmp_path, "x.csv", f"{header}\n1,a@e.org,3\n")
    assert f"subscriber_id = {{ {key}" in lines


def test_words_of_two_meanings_are_told_by_their_values(tmp_path: Path) -> None:
    lines = guessed(
        tmp_path, "x.csv", "Kunde,Title,Abo,City,Country\n7,Mrs,A1,Wien,AT\n8,Mr,A2,Kiel,DE\n"
    )
    assert "    \"Title\",  # looks like forms of address; such as 'Mrs', 'Mr'" in lines
    assert 'country_abbreviation = "Country"' in lines
    assert any(line.startswith('subscription_id = { key = ["Abo"] }') for line in lines)
    lines = guessed(tmp_path, "x.csv", "Kunde,Nr\nOrr,7\nKim,8\n")
    assert 'last_name = "Kunde"  # GUESS: is it the last name?' in lines


def test_a_renewal_that_is_to_come_is_the_end(tmp_path: Path) -> None:
    for date, target in ("2199-01-31", "date_expired"), ("2019-01-31", "date_last_renewed"):
        lines = guessed(tmp_path, "x.csv", f"Member no,Magazine,Renewal Date\n1,Tide,{date}\n")
        assert f'{target} = "Renewal Date"  # GUESS: look at its values' in lines


def test_the_email_address_of_the_payer_is_not_taken_for_the_readers_in_silence(
    tmp_path: Path,
) -> None:
    rows = "\n1,a@e.org,Tom Tall\n2,b@e.org,Una Urn\n"
    lines = guessed(tmp_path, "x.csv", f"Member no,Payer mail,Recipient name{rows}")
    told = "GUESS: is it the address of the same person as the name?"
    assert f'email = "Payer mail"  # {told}' in lines


def test_an_inner_object_that_is_missing_in_a_record_is_no_address(tmp_path: Path) -> None:
    lines = guessed(
        tmp_path,
        "x.ndjson",
        '{"customer": {"id": 1, "address": null}}\n'
        '{"customer": {"id": 2, "address": {"line1": "1 Elm", "city": "Bath"}}}\n',
    )
    assert '    "customer.address",  # is empty' in lines
    assert 'city = "customer.address.city"  # GUESS: by a part of its name' in lines


def test_seconds_since_1970_are_dates(tmp_path: Path) -> None:
    lines = guessed(tmp_path, "x.csv", "Member no,Magazine,Expires\n1,Tide,1798761600\n")
    source = '{ column = "Expires", dates = "unix" }'
    assert f"date_expired = {source}  # GUESS: seconds since 1970" in lines


def test_an_amount_in_dollars_is_no_secret(tmp_path: Path) -> None:
    lines = guessed(tmp_path, "x.csv", 'Member no,First,Rate\n1,Ann,"$1,060.00"\n')
    assert "    \"Rate\",  # such as '$1,060.00'" in lines


def test_names_and_addresses_are_split_and_joined(tmp_path: Path) -> None:
    content = (
        "Member no,Name,Company,Street,Street number,Address 2,City\n"
        '1,"Müller, Sofie",,Hauptstr.,5a,Hinterhaus,Dresden\n2,Ann Orr,Orr Ltd,Elm,1,,Bath\n'
    )
    lines = guessed(tmp_path, "x.csv", content)
    told = "GUESS: a whole name; organisations have no first name"
    assert f'"Name" = ["{{last}}, {{first}}", "{{first}} {{last:word}}"]  # {told}' in lines
    assert 'address = { join = "{Street} {Street number}, {Address 2}" }' in lines
    # Beside a company an address names the reader too.
    assert [line.partition("  #")[0] for line in lines].count('last_name = "last"') == 2


def test_bills_and_copies_can_have_two_addresses(tmp_path: Path) -> None:
    header = "customer_id,billing_city,billing_zip,shipping_city,shipping_zip,product"
    lines = guessed(tmp_path, "x.csv", f"{header}\n1,Bath,04530,Reno,89501,Tide\n")
    assert lines.count("[[files.tables.addresses]]") == 2
    keys = [
        f'{{ key = ["customer_id", {{ constant = "{of}" }}], when = ["{of}_city", "{of}_zip"] }}'
        for of in ("shipping", "billing")
    ]
    assert f"mailing_address_id = {{ first = [{', '.join(keys)}] }}" in lines
    assert f"billing_address_id = {keys[1]}" in lines


def test_titles_can_have_columns_of_their_own(tmp_path: Path) -> None:
    header = "member no,tide_copies,tide_until,gale_copies,gale_until"
    lines = guessed(tmp_path, "x.csv", f"{header}\n1,1,31.12.2026,,\n2,,,2,31.03.2027\n")
    assert lines.count("[[files.tables.subscriptions]]") == 2
    for line in (
        'dates = "DD.MM.YYYY"',
        'name = { constant = "Gale" }',
        'publication_id = { key = [{ constant = "Gale" }] }',
        'date_expired = "gale_until"',
    ):
        assert line in lines


def test_a_reader_with_two_addresses_is_told(tmp_path: Path) -> None:
    rows = "1,Tide,Bath\n1,Gale,Reno\n"
    lines = guessed(tmp_path, "x.csv", f"Member no,Title,City\n{rows}")
    told = "GUESS: a reader has two addresses; choose columns that tell them apart"
    assert f'address_id = {{ key = ["Member no"], when = ["City"] }}  # {told}' in lines


def test_dates_without_a_title_are_of_one_publication(tmp_path: Path) -> None:
    lines = guessed(tmp_path, "tide.csv", "Member no,Expires\n1,2026-12-31\n")
    assert 'name = { constant = "tide" }' in lines
    assert 'date_expired = "Expires"' in lines
    for line in (
        'type = { constant = "Digital" }  # GUESS: no column says whether it is in print',
        "copies = { constant = 1 }  # GUESS: no column has the number of copies",
    ):
        assert line in lines


def test_a_file_without_columns_cannot_be_guessed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x\.csv: has no columns to guess from"):
        guessed(tmp_path, "x.csv", "")


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
    tmp_path_factory: pytest.TempPathFactory, header: list[str], rows: list[list[str]], name: str
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *rows])
    folder = tmp_path_factory.mktemp("guess")
    (folder / name).write_bytes(
        gzip.compress(out.getvalue().encode()) if name.endswith(".gz") else out.getvalue().encode()
    )
    mapping = ""
    try:
        mapping = guess_mapping([folder / name])
    except BadInput as refusal:
        assert name in str(refusal)  # noqa: PT017 - a file need not be one of data
    if mapping:
        (entry,) = parse_mapping(mapping.encode(), "guessed.toml")
        assert entry.matches([name.removesuffix(".gz")])
        # Each column of the file is used or ignored, and each one of the mapping is there.
        (folder / "guessed.toml").write_text(mapping)
        prepared(find_inputs([folder / name], folder / "guessed.toml"), lambda _: None)


@given(st.binary(max_size=100))
def test_of_any_bytes_the_guess_is_a_mapping_or_says_why_not(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("guess")
    (folder / "x.csv").write_bytes(content)
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
