"""A file of the bank is sent, shown, and read (billing, "Bank statements")."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import bank_imports
from masthead.books.payer_payments import Incoming
from masthead.errors import BadInput
from masthead.web.form_reading import FORM_BYTES_MAX
from masthead.web.uploads import KeptFiles, Upload, read_multipart
from tests.bank_files.camt_files import IBAN, Booked, Detail, document
from tests.billing import bureau as desks
from tests.billing import debits
from tests.billing.bureau import order
from tests.console.bookkeeping import refused, said
from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser

DAY = "2026-04-13"
PATH = "/bank/file"


@pytest.fixture
def bank(bureau: Desk) -> Desk:
    """The account with a bank account and an open invoice."""
    desks.fill(bureau, seller_iban=IBAN)
    order(bureau)
    return bureau


def statement(*texts: str) -> bytes:
    """Return a statement with an entry of 12.84 for each text."""
    entries = [
        Booked("12.84", [Detail(name="Somebody", texts=[text])], "BOOK", DAY, DAY) for text in texts
    ]
    return document(entries, version=8).replace("EUR", "USD").encode()


def sent(
    browser: Browser, files: Mapping[str, bytes], *, name: str = "april.xml"
) -> httpx2.Response:
    """Send files as the form of the page does."""
    fields = input_values(browser.get(PATH).text)
    return browser.client.post(
        PATH,
        data=fields,
        files={field: (name, data) for field, data in files.items()},
        headers={"Sec-Fetch-Site": "same-origin"},
    )


def confirmed(browser: Browser, shown: httpx2.Response) -> httpx2.Response:
    """Agree to what a page says that it will do."""
    return browser.post(PATH, {**input_values(shown.text), "sure": "1"})


def test_a_file_is_shown_before_it_is_read(bank: Desk, finance: Browser) -> None:
    shown = sent(finance, {"file": statement("2026-000001", "who knows")})
    page = text_of(shown.text)
    assert "2 entries of the bank: 1 booked and 1 unknown." in page
    assert "Somebody 13 April 2026 2026-000001 12.84 pays 2026-000001" in page
    assert "who knows 12.84 waits for you" in page
    assert bank.table("payments") == bank.table("bank_entries") == []
    done = confirmed(finance, shown)
    assert done.status_code == 303
    page = said(finance, done.headers["location"])
    assert "2 entries of the bank: 1 booked and 1 unknown." in page
    assert [row["cents"] for row in bank.table("payments")] == [1284]
    assert [row["name"] for row in bank.table("bank_files")] == ["april.xml"]
    again = confirmed(finance, shown)
    assert again.headers["location"] == "/bank"
    assert "This was saved already." in said(finance, "/bank")
    assert "There is nothing new in the file" in refused(
        sent(finance, {"file": statement("2026-000001", "who knows")})
    )


def test_what_has_changed_meanwhile_is_shown_again(bank: Desk, finance: Browser) -> None:
    shown = sent(finance, {"file": statement("2026-000001")})
    desks.pay(bank, 1, Incoming(1284))
    again = confirmed(finance, shown)
    assert again.status_code == 409
    assert "1 entry of the bank: 1 proposed." in text_of(again.text)
    assert bank.table("bank_entries") == []
    assert confirmed(finance, again).status_code == 303


@pytest.mark.parametrize("is_refused", [True, False])
def test_what_another_one_reads_at_the_same_time_is_not_said_to_be_booked(
    bank: Desk, finance: Browser, monkeypatch: pytest.MonkeyPatch, *, is_refused: bool
) -> None:
    """Between the look and the reading, a colleague reads the same file, or closes the month."""
    read = bank_imports.import_file

    def read_as_second(*given: Any, dry_run: bool, **more: Any) -> bank_imports.Imported:
        if not dry_run and is_refused:
            raise BadInput("the month is closed")
        if not dry_run:
            read(bank.books, *given[1:], dry_run=False, **more)
        return read(*given, dry_run=dry_run, **more)

    shown = sent(finance, {"file": statement("2026-000001")})
    monkeypatch.setattr(bank_imports, "import_file", read_as_second)
    done = confirmed(finance, shown)
    if is_refused:
        assert done.status_code == 409
        assert "The month is closed." in text_of(done.text)
    else:
        assert "1 entry of the bank: 1 known already." in said(finance, done.headers["location"])
    assert len(bank.table("payments")) == (0 if is_refused else 1)


def test_the_mapping_of_a_csv_file_is_sent_with_it(bank: Desk, finance: Browser) -> None:
    """The entry is booked as the mapping says that it was paid, also by a person."""
    file = f"Day,Gross,Order\n{DAY},5.00,2026-000001\n".encode()
    mapping = (
        b'payment_type = "card"\n[columns]\ndate = "Day"\namount = "Gross"\nreference = "Order"'
    )
    done = confirmed(finance, sent(finance, {"file": file, "mapping": mapping}, name="payout.csv"))
    assert done.status_code == 303
    shown = finance.post("/bank/1/confirm", input_values(finance.get("/bank/1/confirm").text))
    finance.post("/bank/1/confirm", {**input_values(shown.text), "sure": "1"})
    assert [row["payment_type"] for row in bank.table("payments")] == ["card"]


def test_what_cannot_be_read_names_the_file_and_no_place_on_the_disk(
    bank: Desk, finance: Browser
) -> None:
    before = bank.everything()
    cases: tuple[tuple[dict[str, bytes], str], ...] = (
        ({}, "Choose the file that the bank sent you."),
        ({"file": b"what"}, "april.xml: is not camt.053, camt.054 or MT940"),
        ({"file": statement("1")[:-20]}, "april.xml: line 7: "),
        ({"file": b"Day\n1", "mapping": b"="}, "april.xml: "),
    )
    for files, sentence in cases:
        found = refused(sent(finance, files))
        assert sentence in found
        assert "/tmp" not in found
    assert bank.everything() == before


def test_a_file_that_is_gone_is_chosen_again(bank: Desk, finance: Browser, office: Office) -> None:
    """Another operator does not find it by its token either."""
    shown = sent(finance, {"file": statement("2026-000001")})
    other = office.console.signed_in("manager")
    token = {"kept": input_values(shown.text)["kept"]}
    for browser, typed in ((finance, {"kept": "x"}), (other, token)):
        answer = browser.post(PATH, {**input_values(browser.get(PATH).text), **typed, "sure": "1"})
        assert "The file is no longer here: choose it again." in refused(answer)
    assert bank.table("payments") == []


def test_only_who_is_signed_in_sends_a_file_that_is_larger_than_a_form(
    bank: Desk, finance: Browser, office: Office
) -> None:
    large = b"x" * (FORM_BYTES_MAX + 1)
    assert bank.table("bank_files") == []
    assert "is not camt.053" in refused(sent(finance, {"file": large}))
    assert sent(finance, {"file": large * 20}).status_code == 413
    stranger = office.console.browser()
    answer = stranger.client.post(
        PATH, files={"file": ("a", large)}, headers={"Sec-Fetch-Site": "same-origin"}
    )
    assert answer.status_code == 413


def test_an_unknown_entry_gets_its_payer_by_name(bank: Desk, finance: Browser) -> None:
    confirmed(finance, sent(finance, {"file": statement("who knows")}))
    path = "/bank/1/assign"
    start = input_values(finance.get(path).text)
    assert "Choose who it is" in refused(finance.post(path, {**start, "payer": "Ada"}))
    found = finance.post(path, {**start, "payer": "Ada", "find": "payer"})
    assert "Ada Ames" in text_of(found.text)
    chosen = {**input_values(found.text), "payer": "Ada", "payer_for": "Ada", "payer_id": "1"}
    shown = finance.post(path, chosen)
    assert "Invoice 2026-000001 is paid." in text_of(shown.text)
    assert finance.post(path, {**input_values(shown.text), "sure": "1"}).status_code == 303
    assert [row["subscriber_id"] for row in bank.table("payments")] == [1]


def body(*parts: bytes) -> bytes:
    """Return the body of a form with files."""
    return b"".join(b"--B\r\n" + part + b"\r\n" for part in parts) + b"--B--\r\n"


def test_the_parts_of_a_form_are_read_as_browsers_write_them() -> None:
    found = read_multipart(
        "multipart/form-data; boundary=B",
        body(
            b'Content-Disposition: form-data; name="one"\r\n\r\n\xc3\xa4\r\n',
            b'Content-Disposition: form-data; name="file"; filename="C:\\a\\b%22.xml"\r\n'
            b"Content-Type: text/xml\r\n\r\n\xff\x00--B",
            b'Content-Disposition: form-data; name="empty"; filename=""\r\n\r\n',
        ),
    )
    assert found == ([("one", "\u00e4\r\n")], {"file": Upload('b".xml', b"\xff\x00--B")})


@pytest.mark.parametrize(
    ("kind", "sent_body"),
    [
        ("multipart/form-data", body()),
        ("multipart/form-data; boundary=B", b"--B\r\n\r\n"),
        ("multipart/form-data; boundary=B", body(b'; name="a"\r\n\r\nhalf').rpartition(b"--B")[0]),
        ("multipart/form-data; boundary=B", body(b"no name")),
        ("multipart/form-data; boundary=B", body(*[b'; name="a"\r\n\r\n'] * 100)),
    ],
)
def test_a_form_that_is_not_whole_is_refused(kind: str, sent_body: bytes) -> None:
    """decisions, "Forms with files" (D-377): one that was cut off is not read as far as it came."""
    with pytest.raises(ValueError, match="form"):
        read_multipart(kind, sent_body)


def test_the_oldest_files_go_when_there_are_too_many() -> None:
    kept, one = KeptFiles(), (1, 1)
    tokens = [kept.keep(one, {"file": Upload("a", random_bytes(n))}) for n in range(3)]
    assert kept.find(one, tokens[0]) == {}
    assert kept.find(one, tokens[2])["file"].data == random_bytes(2)
    kept.drop(tokens[2])
    assert kept.find(one, tokens[2]) == {}


def random_bytes(seed: int) -> bytes:
    """Return 12 MiB that cannot be compressed."""
    return Random(seed).randbytes(12 << 20)


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """The account with euros, a mandate, and an open invoice that is with the bank."""
    debits.fill(bureau)
    order(bureau)
    debits.sign(bureau)
    debits.run(bureau)
    return bureau


def test_direct_debits_of_a_file_are_shown_as_what_they_are(
    collector: Desk, finance: Browser
) -> None:
    collector.to(debits.DAY)
    finance.sign_in("finance")
    (claim,) = collector.table("claims")
    (run,) = collector.table("debit_runs")
    for entry, words in (
        (debits.batch("12.84", run["message_id"]), "pays the invoices of a debit run"),
        (debits.back("12.84", claim["end_to_end_id"]), "takes back the payment of 2026-000001"),
    ):
        dated = entry._replace(booked_on=debits.DAY, value_date=debits.DAY)
        shown = sent(finance, {"file": document([dated], version=8).encode()})
        assert words in text_of(shown.text)
