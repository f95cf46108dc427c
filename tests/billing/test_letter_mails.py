"""The words of the mails that go in place of letters (billing, "E-mail")."""

import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.letter_mails import words_of_letter
from masthead.documents.letter_samples import cancellation, renewal, welcome


def _lines(printed: object) -> list[str]:
    return words_of_letter(printed).text.splitlines()  # type: ignore[arg-type]


def test_a_welcome_says_what_the_letter_says() -> None:
    words = words_of_letter(welcome("en"))
    assert words.subject == "Welcome to Field Notes"
    assert words.text.splitlines()[:8] == [
        "Good day Robin Okafor,",
        "",
        "Johanna Kessler gives you a subscription to Field Notes.",
        "The first issue is Winter 2026.",
        "It lasts until 30 November 2027.",
        "Your code is K7F2Q9.",
        "",
        "Your subscriber number is 90210.",
    ]


def test_a_cancellation_says_what_is_paid_back() -> None:
    assert _lines(cancellation("de"))[2:5] == [
        (
            "wir bestätigen, dass das Abonnement Feldpost für Ida Kessler am 26.11.2026 gekündigt "
            "wurde."
        ),
        "Es endete am 26.11.2026.",
        "Wir erstatten 36,00 EUR.",
    ]


def test_a_cancelling_that_waits_says_until_when() -> None:
    waiting = msgspec.structs.replace(
        cancellation("en"), ended_on=None, last_issue="Spring 2027", refunded=0, reader=""
    )
    assert _lines(waiting)[2:5] == [
        "we confirm that the subscription to Field Notes was cancelled on 26 November 2026.",
        "The last issue is Spring 2027.",
        "What is left over at the end is paid back.",
    ]


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (-1, "your subscription to Field Notes has ended."),
        (0, "your subscription to Field Notes ends with the issue that comes last."),
        (1, "your subscription to Field Notes has one issue left."),
        (5, "your subscription to Field Notes has 5 issues left."),
    ],
)
def test_a_renewal_says_how_many_issues_are_left(left: int, said: str) -> None:
    assert _lines(msgspec.structs.replace(renewal("en"), issues_left=left))[2] == said


def test_a_renewal_without_a_bundle_names_no_price() -> None:
    text = words_of_letter(msgspec.structs.replace(renewal("en"), bundle="")).text
    assert "EUR" not in text
    assert "IBAN" not in text


@given(st.text())
def test_a_subject_has_one_line_whatever_a_publication_is_called(name: str) -> None:
    for printed in (welcome(), cancellation(), renewal()):
        subject = words_of_letter(msgspec.structs.replace(printed, publication=name)).subject
        assert len(subject.splitlines()) == 1
        assert not {each for each in subject if unicodedata.category(each) == "Cc"}
