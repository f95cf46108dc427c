"""Which invoice an entry of a bank's statement is for (billing, "Bank statements")."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.matching import Claim, Match, match, numbers_in, references_in, same_name
from masthead.billing.references import creditor_reference, spaced

FORM = "{year}-{number:06}"
REFERENCE = creditor_reference("2026-000001")
ANNA = Claim(1, "2026-000001", REFERENCE, 7, 3600, ("Anna Adams", "Adams & Co"))
LATER = ANNA._replace(
    invoice_id=2, number_text="2026-000002", payment_reference=creditor_reference("2026-000002")
)
BEN = LATER._replace(invoice_id=3, subscriber_id=8, names=("Ben Brown",))


def found(cents: int, name: str, text: str, *, named: list[Claim] | None = None) -> Match:
    """Match an entry with the invoices that its text names, of Anna's two and Ben's."""
    known = named or [ANNA]
    numbers = numbers_in(text, FORM)
    references = references_in(text)
    those = [
        each
        for each in known
        if each.number_text in numbers or each.payment_reference in references
    ]
    return match(cents, name, references, those, known)


@pytest.mark.parametrize(
    "text",
    [
        REFERENCE,
        spaced(REFERENCE),
        REFERENCE.lower(),
        f"Thanks! {spaced(REFERENCE)} of 28.11.",
        f"Ref.{REFERENCE}",
        f"{REFERENCE},{REFERENCE}",
    ],
)
def test_a_reference_is_found_however_it_is_written(text: str) -> None:
    assert references_in(text) == {REFERENCE}


@given(number=st.from_regex(r"[A-Z0-9]{1,21}", fullmatch=True), place=st.integers(0, 23))
def test_each_reference_is_found_in_groups_and_none_with_a_wrong_digit(
    number: str, place: int
) -> None:
    reference = creditor_reference(number)
    assert reference in references_in(f"invoice {spaced(reference.lower())}, thanks")
    position = min(place, len(reference) - 3) + 2
    digit = reference[position]
    if digit.isdigit():
        other = str((int(digit) + 1) % 10)
        wrong = reference[:position] + other + reference[position + 1 :]
        assert wrong not in references_in(wrong)


@pytest.mark.parametrize(
    ("text", "form", "numbers"),
    [
        ("Invoice 2026-000123", FORM, {"2026-000123"}),
        ("2026000123", FORM, {"2026-000123"}),
        ("2026 / 000123 of 28.11.", FORM, {"2026-000123"}),
        ("ReNr2026-000123", FORM, {"2026-000123"}),
        ("2026-000123 28", FORM, {"2026-000123"}),
        ("2026-123456 78", FORM, {"2026-123456", "2026-12345678"}),
        ("12026-000123", FORM, set()),
        ("2026-0001234", FORM, set()),
        ("2026-00012", FORM, set()),
        ("2026-000123 2026-000124", FORM, {"2026-000123", "2026-000124"}),
        ("re 0042/a", "RE{number:04}/A", {"RE0042/A"}),
        ("RE 0042 A", "RE{number:04}/A", {"RE0042/A"}),
        ("FORE0042A", "RE{number:04}/A", set()),
        ("no. 17", "{number}", {"17"}),
        ("no. 007", "{number}", set()),
    ],
)
def test_a_number_is_found_however_it_is_written(text: str, form: str, numbers: set[str]) -> None:
    assert numbers_in(text, form) == numbers


@given(year=st.integers(2000, 2099), number=st.integers(1, 9_999_999))
def test_each_number_is_found_in_a_text(year: int, number: int) -> None:
    written = FORM.format(year=year, number=number)
    for text in (written, f"invoice no.{written}, thanks", written.replace("-", " ")):
        assert written in numbers_in(text, FORM)


@given(text=st.text(max_size=80))
def test_any_text_has_only_whole_numbers_and_right_references(text: str) -> None:
    assert all(re.fullmatch(r"[0-9]{4}-[0-9]{6,}", each) for each in numbers_in(text, FORM))
    assert all(each == each.upper() for each in references_in(text))


@pytest.mark.parametrize("cents", [3600, 100, 9000])
def test_one_open_invoice_is_settled_by_its_reference(cents: int) -> None:
    """decisions, "What an entry of a bank's statement settles"."""
    assert found(cents, "Somebody", spaced(REFERENCE)) == ("settled", ANNA, "by its reference")


@pytest.mark.parametrize(
    ("cents", "name", "status"),
    [
        (3600, "Somebody", "settled"),
        (1000, "ADAMS, ANNA", "settled"),
        (1000, "Somebody", "proposed"),
        (1000, "Anna", "proposed"),
    ],
)
def test_a_number_settles_if_the_amount_or_the_name_fits(
    cents: int, name: str, status: str
) -> None:
    done = found(cents, name, "invoice 2026-000001")
    assert (done.status, done.claim) == (status, ANNA)


def test_a_short_number_settles_only_an_invoice_of_its_amount() -> None:
    claim = ANNA._replace(number_text="17")
    assert match(3600, "x", (), [claim], []).status == "settled"
    assert match(1000, "Anna Adams", (), [claim], []).status == "proposed"


def test_an_invoice_that_is_paid_is_only_proposed() -> None:
    done = found(3600, "x", REFERENCE, named=[ANNA._replace(open_cents=0)])
    assert (done.status, done.why) == ("proposed", "it names an invoice that is paid")


def test_of_two_named_invoices_the_open_one_is_settled() -> None:
    text = f"{REFERENCE} {LATER.payment_reference}"
    done = found(3600, "x", text, named=[ANNA._replace(open_cents=0), LATER])
    assert done == ("settled", LATER, "by its reference")


def test_two_open_invoices_of_one_payer_are_proposed() -> None:
    done = found(7200, "x", "2026-000001, 2026-000002", named=[ANNA, LATER])
    assert (done.status, done.claim) == ("proposed", ANNA)


def test_two_payers_are_never_chosen_from() -> None:
    named = found(3600, "x", "2026-000001, 2026-000002", named=[ANNA, BEN])
    assert (named.status, named.claim) == ("unknown", None)
    twin = BEN._replace(names=ANNA.names)
    alike = found(3600, "Anna Adams", "thanks", named=[ANNA, twin])
    assert (alike.status, alike.claim) == ("unknown", None)


def test_amount_and_name_alone_only_propose() -> None:
    assert found(3600, "Adams Anna", "thanks") == ("proposed", ANNA, "amount and name fit")
    assert found(3500, "Adams Anna", "thanks").status == "unknown"
    assert found(3600, "Anna", "thanks").status == "unknown"


def test_money_that_went_out_settles_nothing() -> None:
    assert found(-3600, "Anna Adams", REFERENCE).status == "unknown"


@given(
    cents=st.integers(-5000, 5000),
    claims=st.lists(
        st.builds(
            ANNA._replace,
            invoice_id=st.integers(1, 4),
            subscriber_id=st.integers(7, 9),
            open_cents=st.sampled_from([0, 1000, 3600]),
        ),
        max_size=4,
        unique_by=lambda claim: claim.invoice_id,
    ),
    text=st.sampled_from([REFERENCE, "2026-000001", "thanks"]),
)
def test_only_one_payers_open_invoice_is_ever_settled(
    cents: int, claims: list[Claim], text: str
) -> None:
    named = [] if text == "thanks" else claims
    done = match(cents, "Anna Adams", references_in(text), named, claims)
    if done.status == "settled":
        assert cents > 0
        assert done.claim is not None
        assert done.claim.open_cents > 0
        assert {each.subscriber_id for each in named} == {done.claim.subscriber_id}
    if done.claim is not None and not named:
        assert (done.status, done.claim.open_cents) == ("proposed", cents)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Anna Adams", "ADAMS ANNA", True),
        ("Dr. Zoë Möller", "MOELLER ZOE", True),
        ("Frau Anna Adams", "Anna Adams", True),
        ("Anna Adams", "Anna Adam", False),
        ("Anna", "Anna", False),
        ("", "", False),
    ],
)
def test_names_are_compared_by_their_words(one: str, other: str, is_same: bool) -> None:
    assert same_name(one, other) is is_same
