"""The entries of the bank that wait for a person, in an account that bills."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.billing.bureau import order
from tests.console.bookkeeping import put_entries, refused, said, save, send

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser


@pytest.fixture
def waiting(bureau: Desk) -> Desk:
    """The account with an open invoice, and entries of the bank that wait."""
    order(bureau)
    put_entries(bureau)
    return bureau


def test_the_page_lists_what_waits_and_what_can_be_done(waiting: Desk, finance: Browser) -> None:
    assert waiting.table("payments") == []
    page = said(finance, "/bank")
    assert (
        "A. Ames 14 April 2026 for the Tide 12.84 Pays 2026-000001 , Say whose , Split , Ignore"
        in page
    )
    assert "Nobody known 14 April 2026 5.00 Say whose , Split , Ignore" in page
    assert "Without a name 14 April 2026 fee -4.00 Ignore" in page


def test_a_proposal_is_confirmed(waiting: Desk, finance: Browser) -> None:
    page = save(finance, "/bank/1/confirm")
    assert "Invoice 2026-000001 is paid." in page
    assert "A. Ames" not in page
    assert [row["cents"] for row in waiting.table("payments")] == [1284]


def test_an_unknown_payment_gets_its_invoice(waiting: Desk, finance: Browser) -> None:
    page = save(finance, "/bank/2/assign", invoice="2026-000001")
    assert "7.84 USD of invoice 2026-000001 stays open." in page
    assert [row["cents"] for row in waiting.table("payments")] == [500]


def test_a_payment_is_split_over_two_payers(waiting: Desk, finance: Browser) -> None:
    order(waiting, payer=2)
    page = save(
        finance,
        "/bank/2/split",
        invoice_1="2026-000001",
        amount_1="3",
        payer_4_id="2",
        amount_4="2.00",
    )
    assert "3.00 USD of Ada Ames: 9.84 USD of invoice 2026-000001 stays open" in page
    assert "2.00 USD of Ben Ames: 10.84 USD of invoice 2026-000002 stays open" in page
    assert [row["cents"] for row in waiting.table("payments")] == [300, 200]


def test_an_entry_is_ignored(waiting: Desk, finance: Browser) -> None:
    page = save(finance, "/bank/3/ignore", reason="a fee of the bank")
    assert "The entry of the bank is ignored." in page
    assert "-4.00" not in page
    assert waiting.table("payments") == []


def test_what_is_refused_names_no_id(waiting: Desk, finance: Browser) -> None:
    assert waiting.table("payments") == []
    for path, typed, sentence in (
        ("/bank/2/confirm", {}, "Nothing is proposed for this entry"),
        ("/bank/3/assign", {}, "This money went out"),
        ("/bank/2/assign", {"invoice": ""}, "Say which invoice it pays, or who paid."),
        ("/bank/2/assign", {"invoice": "2026-9"}, "There is no invoice 2026-9."),
        ("/bank/3/split", {}, "This money went out"),
        ("/bank/2/split", {"amount_1": "5"}, "Say which invoice it pays, or who paid."),
        ("/bank/2/split", {"invoice_1": "2026-000001"}, "Say how much it is."),
        ("/bank/2/split", {"invoice_1": "2026-9", "amount_1": "5"}, "There is no invoice 2026-9."),
        (
            "/bank/2/split",
            {"payer_1_id": "1", "amount_1": "4", "payer_2_id": "2", "amount_2": "0.50"},
            "0.50 USD is missing",
        ),
        ("/bank/9/ignore", {}, "No such entry of the bank waits for a decision."),
    ):
        assert sentence in refused(send(finance, path, **typed)), path


def test_a_viewer_looks_and_decides_nothing(waiting: Desk, office: Office) -> None:
    assert waiting is office.desk
    page = office.console.signed_in("viewer").get("/bank").text
    assert "perhaps 2026-000001" in page
    assert not re.search(r'href="/bank/', page)


def test_nothing_waits(finance: Browser) -> None:
    assert "No entry of the bank waits." in said(finance, "/bank")
