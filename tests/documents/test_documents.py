"""Documents as a payer sees them (billing, "Documents")."""

from pathlib import Path

import msgspec
import pytest

from masthead.billing.printed import Language, PrintedInvoice, Seller
from masthead.documents.letter_samples import samples
from masthead.documents.rendering import Appearance, Renderer
from masthead.documents.samples import PAYER, SELLER, invoice
from tests.documents.shown import lines_of, made, pages_of

EXPECTED = Path(__file__).parent / "expected"
"""The lines that each made-up document shows; to be read as a payer would read them."""

SAMPLES = dict(samples())
INVOICE = invoice()
LINE = INVOICE.lines[0]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_document_shows_what_it_is_to_show(renderer: Renderer, name: str) -> None:
    expected = (EXPECTED / f"{name}.txt").read_text(encoding="utf-8")
    assert lines_of(renderer.pdf(SAMPLES[name])) == expected.splitlines()


def test_each_expected_document_is_made(renderer: Renderer) -> None:
    assert {path.stem for path in EXPECTED.iterdir()} == set(SAMPLES)


def test_the_same_invoice_gets_the_same_bytes_in_every_process() -> None:
    """decisions, "How documents are made"."""
    with Renderer(Appearance()) as renderer:
        first = renderer.pdf(INVOICE)
        other = renderer.pdf(invoice("receipt", "en"))
        again = renderer.pdf(INVOICE)
    assert first == again == made(INVOICE)
    assert first != other


def test_many_documents_come_in_their_order() -> None:
    numbered = [msgspec.structs.replace(INVOICE, number=f"2026-{n:06}") for n in range(24)]
    with Renderer(Appearance(), processes=2) as renderer:
        for printed, pdf in zip(numbered, renderer.pdfs(numbered), strict=True):
            assert f"Rechnung {printed.number}" in lines_of(pdf)


def test_a_long_invoice_has_its_heading_and_its_number_on_each_page(renderer: Renderer) -> None:
    lines = tuple(
        msgspec.structs.replace(LINE, description=f"Abonnement {number}") for number in range(1, 61)
    )
    pages = pages_of(renderer.pdf(invoice("invoice", "de", lines=lines)))
    assert len(pages) == 4
    for number, page in enumerate(pages, start=1):
        assert f"Seite {number} von 4" in page
        if number < 4 or any("Abonnement" in line for line in page):
            assert "Leistung Menge MwSt. Betrag in EUR" in page
        if number > 1:
            assert page[0] == "Feldpost Verlag GmbH Rechnung 2026-000123"
    shown = [line for page in pages for line in page if line.startswith("Abonnement ")]
    assert [line.split()[1] for line in shown] == [str(number) for number in range(1, 61)]
    assert "Gesamtbetrag 5.760,00 €" in pages[-1]


HOSTILE = [
    '#panic("x")',
    "*bold* _it_ $x^2$ `raw` @ref <label>",
    "= Heading",
    "// comment /* and */ more",
    "\\ # [ ] { } ~ -- --- ...",
    '"; #read("/etc/passwd")',
    "#include",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_printed_as_it_is_and_never_run(renderer: Renderer, text: str) -> None:
    printed = msgspec.structs.replace(
        INVOICE,
        payer=msgspec.structs.replace(PAYER, name=text),
        lines=(msgspec.structs.replace(LINE, description=text, reader=f"{text}!"),),
        notes=(f"{text}?",),
    )
    shown = lines_of(renderer.pdf(printed))
    assert shown.count(text) >= 1
    assert f"für {text}!" in shown
    assert f"{text}?" in shown


def test_control_characters_are_printed_as_escapes(renderer: Renderer) -> None:
    payer = msgspec.structs.replace(PAYER, name="Ann\x1b[31m \u202etxet\x00 Lee\nSecond")
    assert "Ann\\x1b[31m \\u202etxet\\x00 Lee Second" in lines_of(
        renderer.pdf(msgspec.structs.replace(INVOICE, payer=payer))
    )


def test_letters_of_other_scripts_are_printed_and_those_without_a_glyph_replaced(
    renderer: Renderer,
) -> None:
    payer = msgspec.structs.replace(PAYER, name="Łukasz Đurić Ελένη Ольга 漢字 😀")
    assert "Łukasz Đurić Ελένη Ольга \ufffd\ufffd \ufffd" in lines_of(
        renderer.pdf(msgspec.structs.replace(INVOICE, payer=payer))
    )


def test_a_name_from_right_to_left_is_printed(renderer: Renderer) -> None:
    payer = msgspec.structs.replace(PAYER, name="שלום")
    shown = lines_of(renderer.pdf(msgspec.structs.replace(INVOICE, payer=payer)))
    assert any(line in {"שלום", "שלום"[::-1]} for line in shown)


def test_a_long_word_is_broken_and_not_cut(renderer: Renderer) -> None:
    word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    payer = msgspec.structs.replace(PAYER, company=word)
    shown = lines_of(renderer.pdf(msgspec.structs.replace(INVOICE, payer=payer)))
    at = next(number for number, line in enumerate(shown) if line.startswith("Donau"))
    assert "".join(shown[at : at + 2]) == word


def _american(printed: PrintedInvoice) -> PrintedInvoice:
    return msgspec.structs.replace(
        printed,
        currency="USD",
        seller=Seller(
            name="Prairie Review",
            street="12 Main St",
            city="Omaha",
            postal_code="68102",
            country="US",
            tax_number="47-1234567",
        ),
        payer=msgspec.structs.replace(
            PAYER, country="US", city="Lincoln", state="NE", postal_code="68501"
        ),
    )


def test_an_american_invoice_has_its_own_paper_address_and_amounts(renderer: Renderer) -> None:
    pdf = renderer.pdf(_american(invoice(language="en")))
    shown = lines_of(pdf)
    assert b"/MediaBox[0 0 612 792]" in pdf
    assert "Lincoln, NE 68501" in shown
    assert "Total $132.00" in shown
    assert (
        "Please pay $132.00 by 12 December 2026. Give the reference below, so that your payment"
        in (" ".join(shown))
    )
    assert "IBAN" not in shown
    assert "RF46 2026 0001 23" in shown


@pytest.mark.parametrize(
    ("country", "state", "lines"),
    [
        ("GB", "", ["LONDON", "SW1A 2AA", "VEREINIGTES KÖNIGREICH"]),
        ("CA", "ON", ["LONDON ON SW1A 2AA", "KANADA"]),
        ("CH", "", ["SW1A 2AA LONDON", "SCHWEIZ"]),
        ("IT", "RM", ["SW1A 2AA LONDON", "RM", "ITALIEN"]),
        ("XX", "", ["SW1A 2AA LONDON", "XX"]),
    ],
)
def test_an_address_abroad_has_the_form_of_its_country(
    renderer: Renderer, country: str, state: str, lines: list[str]
) -> None:
    payer = msgspec.structs.replace(
        PAYER, city="LONDON", postal_code="SW1A 2AA", country=country, state=state
    )
    shown = lines_of(renderer.pdf(msgspec.structs.replace(INVOICE, payer=payer)))
    at = shown.index("Hinterhaus, 3. Stock")
    assert shown[at + 1 : at + 1 + len(lines)] == lines


def test_what_is_paid_in_advance_is_taken_off(renderer: Renderer) -> None:
    shown = lines_of(renderer.pdf(msgspec.structs.replace(INVOICE, prepaid=5000)))
    assert {"Bereits bezahlt 50,00 €", "Zu zahlen 82,00 €"} <= set(shown)


def test_a_rest_within_the_tolerance_is_not_asked_for(renderer: Renderer) -> None:
    shown = lines_of(renderer.pdf(msgspec.structs.replace(INVOICE, prepaid=13170, waived=30)))
    assert {"Bereits bezahlt 131,70 €", "Erlassen 0,30 €", "Zu zahlen 0,00 €"} <= set(shown)
    assert "Es ist nichts mehr zu zahlen. Vielen Dank." in shown


def test_an_invoice_without_anything_due_asks_for_nothing(renderer: Renderer) -> None:
    shown = lines_of(renderer.pdf(msgspec.structs.replace(INVOICE, prepaid=13200)))
    assert "Es ist nichts mehr zu zahlen. Vielen Dank." in shown
    assert "IBAN" not in shown


def test_the_colour_and_the_logo_of_the_account_are_used() -> None:
    svg = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
    )
    plain = made(INVOICE)
    with_logo = made(INVOICE, Appearance(logo=("svg", svg)))
    assert made(INVOICE, Appearance(colour="#8a1c3b")) != plain
    # The name stands in the address's sender line and twice more; the logo takes its place above.
    assert lines_of(plain)[0] == SELLER.name
    assert lines_of(with_logo)[0] == f"{SELLER.name} · Lindenallee 12 · 10115 Berlin"


def test_the_days_of_a_period_are_printed_in_words(renderer: Renderer) -> None:
    line = msgspec.structs.replace(LINE, first_issue="", last_issue="")
    line = msgspec.structs.replace(line, period="12 Ausgaben, bis 2027-11-30, 2027-13-01")
    shown = lines_of(renderer.pdf(msgspec.structs.replace(INVOICE, lines=(line,))))
    assert "Feldpost · 12 Ausgaben, bis 30. November 2027, 2027-13-01" in shown


@pytest.mark.parametrize(("language", "tax", "vat"), [("en", "Tax", "VAT"), ("de", "Steuer", "Mw")])
def test_a_seller_in_the_united_states_has_no_vat(
    renderer: Renderer, language: Language, tax: str, vat: str
) -> None:
    american = msgspec.structs.replace(SELLER, country="US", vat_id="")
    shown = "\n".join(lines_of(renderer.pdf(invoice("invoice", language, seller=american))))
    assert vat not in shown
    assert f"{tax} 7" in shown
