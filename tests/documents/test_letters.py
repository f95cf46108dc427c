"""Letters, labels and cover sheets as their readers see them (billing, "Documents")."""

import msgspec
import pytest

from masthead.billing.printed_letters import Label
from masthead.documents.label_sheets import SHEETS, sheet_named
from masthead.documents.letter_samples import (
    FRIEND,
    announcement,
    cancellation,
    cover,
    labels,
    reminder,
    renewal,
    welcome,
)
from masthead.documents.rendering import Appearance, Renderer, in_parts
from masthead.documents.samples import PAYER
from masthead.errors import BadInput
from tests.documents.shown import lines_of, pages_of


def test_many_letters_stand_in_one_pdf_each_with_its_own_pages(renderer: Renderer) -> None:
    """decisions, "Many letters in one PDF"."""
    long = msgspec.structs.replace(reminder(), text="Bitte zahlen Sie. " * 400)
    letters = [reminder(), long, reminder(level=3)]
    pages = pages_of(renderer.together(letters))
    numbers = [line for page in pages for line in page if line.startswith("Seite ")]
    last = len(pages) - 2
    assert last >= 2
    assert numbers == [
        "Seite 1 von 1",
        *(f"Seite {number} von {last}" for number in range(1, last + 1)),
        "Seite 1 von 1",
    ]
    heads = [page[0] for page in pages]
    assert heads[0] == heads[1] == heads[-1] == "Feldpost Verlag GmbH"
    assert set(heads[2:-1]) == {"Feldpost Verlag GmbH Zahlungserinnerung"}


def test_the_same_letters_get_the_same_bytes_in_every_process(renderer: Renderer) -> None:
    letters = [renewal(), renewal(is_gift=True)]
    with Renderer(Appearance()) as other:
        assert renderer.together(letters) == other.together(letters)


def test_many_parts_come_in_their_order(renderer: Renderer) -> None:
    codes = [f"CODE{number}" for number in range(12)]
    letters = [msgspec.structs.replace(welcome(), renewal_code=code) for code in codes]
    with Renderer(Appearance(), processes=2) as two:
        parts = list(two.parts([letters[at], letters[at + 1]] for at in range(0, 12, 2)))
    shown = [line for part in parts for line in lines_of(part) if line.startswith("Ihr Code ")]
    assert shown == [f"Ihr Code {code}" for code in codes]


@pytest.mark.parametrize(
    ("left", "day", "said"),
    [
        (3, "2027-01-31", "has 3 issues left and lasts until 31 January 2027. Please renew"),
        (1, None, "has one issue left. Please renew"),
        (0, None, "ends with the issue that comes last. Please renew"),
        (-2, "2026-09-30", "has ended: it lasted until 30 September 2026."),
    ],
)
def test_a_renewal_letter_says_how_many_issues_are_left(
    renderer: Renderer, left: int, day: str | None, said: str
) -> None:
    letter = msgspec.structs.replace(renewal("en"), issues_left=left, expires_on=day)
    shown = " ".join(lines_of(renderer.pdf(letter)))
    assert f"Your subscription to Field Notes {said}" in shown


def test_a_renewal_letter_without_a_bundle_asks_for_an_answer_and_no_money(
    renderer: Renderer,
) -> None:
    letter = msgspec.structs.replace(renewal("en"), bundle="", net=0, tax=0, key_code="")
    shown = " ".join(lines_of(renderer.pdf(letter)))
    assert "Yes, I renew my subscription to Field Notes; please send me an invoice." in shown
    assert "IBAN" not in shown
    assert "€" not in shown


def test_a_cancelling_that_is_still_to_come_says_what_comes_until_then(renderer: Renderer) -> None:
    letter = msgspec.structs.replace(
        cancellation("en"),
        ended_on=None,
        last_issue="Spring 2027",
        last_on="2027-03-01",
        issues_left=2,
        refunded=0,
        credit_notes=(),
    )
    shown = lines_of(renderer.pdf(letter))
    assert {"Last issue Spring 2027, 1 March 2027", "Issues to come 2"} <= set(shown)
    assert (
        "You receive all issues until then. What is left over at the end is paid back."
        in " ".join(shown)
    )
    kept = msgspec.structs.replace(letter, is_refund=False)
    assert "the subscription ends by itself" in " ".join(lines_of(renderer.pdf(kept)))


def test_a_cancelling_without_a_refund_says_so(renderer: Renderer) -> None:
    letter = msgspec.structs.replace(cancellation("en"), refunded=0, credit_notes=())
    shown = " ".join(lines_of(renderer.pdf(letter)))
    assert "Nothing more is delivered, and there is nothing to pay back." in shown
    assert "Credit note" not in shown


def test_an_announcement_without_a_mandate_promises_an_invoice(renderer: Renderer) -> None:
    letter = msgspec.structs.replace(announcement("en"), mandate="", iban_end="", issues=-1)
    shown = lines_of(renderer.pdf(letter))
    assert "You receive an invoice then." in shown
    assert "Issues without an end" in shown
    assert not [line for line in shown if "We collect" in line]


def test_a_reminder_prints_the_publishers_own_text(renderer: Renderer) -> None:
    letter = msgspec.structs.replace(reminder("en"), text="It is time. #panic()")
    shown = " ".join(lines_of(renderer.pdf(letter)))
    assert "It is time. #panic() Payments that reached us" in shown
    assert "We have not received" not in shown


@pytest.mark.parametrize("name", SHEETS)
def test_labels_fill_their_sheets_and_none_is_lost(renderer: Renderer, name: str) -> None:
    sheet = SHEETS[name]
    count = sheet.labels + 3
    pages = pages_of(renderer.pdf(labels("en", sheet=name, count=count, skip=2)))
    keylines = [
        [line.split()[0] for line in page if line.endswith(("2027-11-30", " copies"))]
        for page in pages
    ]
    assert [len(page) for page in keylines] == [sheet.labels - 2, 5]
    assert [each for page in keylines for each in page] == [
        str(4711 + number) for number in range(count)
    ]


def test_a_label_keeps_a_long_address(renderer: Renderer) -> None:
    long = msgspec.structs.replace(
        PAYER,
        company="Donaudampfschifffahrtselektrizitätenhauptbetriebswerk",
        name="Dr. Maximiliane Freifrau von und zu Hohenlohe-Waldenburg-Schillingsfürst",
        address_lines=("Hinterhaus", "Dritter Stock links", "Hauptstraße 7", "bei Kessler"),
    )
    printed = labels(count=1, skip=0)
    printed = msgspec.structs.replace(printed, labels=(Label(address=long),))
    shown = lines_of(renderer.pdf(printed))
    assert [line.replace(" ", "") for line in shown] == [
        each.replace(" ", "")
        for each in (long.company, long.name, *long.address_lines, "50667 Köln")
    ]


def test_a_label_abroad_has_the_form_and_the_name_of_its_country(renderer: Renderer) -> None:
    printed = msgspec.structs.replace(
        labels("en", count=1, skip=0), labels=(Label(address=FRIEND, copies=2),)
    )
    assert lines_of(renderer.pdf(printed)) == [
        "2 copies",
        "Prairie Review",
        "Robin Okafor",
        "12 Main St",
        "Lincoln, NE 68501",
        "UNITED STATES",
    ]


def test_all_labels_of_a_sheet_lie_on_it() -> None:
    papers = {"a4": (210, 297), "us-letter": (215.9, 279.4)}
    for sheet in SHEETS.values():
        across, down = papers[sheet.paper]
        used = sheet.left + sheet.columns * sheet.width + (sheet.columns - 1) * sheet.gap
        assert used <= across + 0.01
        assert sheet.top + sheet.rows * sheet.height <= down + 0.01


def test_a_sheet_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadInput, match="no sheet of labels '4x4': those known are 3x8, 3x7"):
        sheet_named("4x4")


def test_a_cover_sheet_of_one_postal_code_names_it_once(renderer: Renderer) -> None:
    one = msgspec.structs.replace(cover(), last_code="50667", country="", country_name="Germania")
    shown = lines_of(renderer.pdf(one))
    assert "50667" in shown
    assert "Germania" in shown
    nowhere = msgspec.structs.replace(one, country_name="", first_code="", last_code="")
    assert "Ohne Land" in lines_of(renderer.pdf(nowhere))


def test_letters_of_other_scripts_are_replaced_in_labels_too(renderer: Renderer) -> None:
    person = msgspec.structs.replace(PAYER, name="Łukasz 漢字")
    printed = msgspec.structs.replace(labels(count=1, skip=0), labels=(Label(address=person),))
    assert "Łukasz \ufffd\ufffd" in lines_of(renderer.pdf(printed))


def test_a_process_that_made_many_pages_together_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """decisions, "Many letters in one PDF": what Typst keeps does not pile up."""
    monkeypatch.setattr("masthead.documents.rendering._PAGES_TOGETHER", 2)
    with Renderer(Appearance()) as renderer:
        alone = renderer.pdf(welcome())
        first = renderer._idle.get()
        renderer._idle.put(first)
        assert first is not None
        together = renderer.together([welcome(), welcome()])
        assert renderer._idle.get() is None
        renderer._idle.put(None)
        assert first._process.poll() is not None
        assert renderer.pdf(welcome()) == alone
        assert renderer.together([welcome(), welcome()]) == together


def test_parts_have_all_documents_in_their_order() -> None:
    letters = [msgspec.structs.replace(welcome(), subscription_id=n) for n in range(7)]
    parts = list(in_parts(letters, 3))
    assert [len(part) for part in parts] == [3, 3, 1]
    assert [each for part in parts for each in part] == letters
    assert list(in_parts([], 3)) == []
