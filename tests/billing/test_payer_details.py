"""How a payer gets documents, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import payer_details, tax_rates
from masthead.errors import BadInput, NotFound
from tests.billing.outboxes import begin_mail

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


def test_a_payer_wants_email_and_keeps_the_vat_number(bureau: Desk) -> None:
    """billing, "E-mail": the documents go by SMTP where the payer wants that."""
    tax_rates.set_vat_id(bureau.books, 1, "DE136695976")
    assert not payer_details.wants_email(bureau.books, 1)
    payer_details.deliver(bureau.books, 1, by_email=True)
    assert payer_details.wants_email(bureau.books, 1)
    assert tax_rates.vat_id(bureau.books, 1) == "DE136695976"
    assert not payer_details.wants_email(bureau.books, 2)
    payer_details.deliver(bureau.books, 1, by_email=False)
    assert not payer_details.wants_email(bureau.books, 1)


def test_a_dry_run_sets_nothing(bureau: Desk) -> None:
    begin_mail(bureau)
    done = payer_details.deliver(bureau.books, 2, by_email=True, dry_run=True)
    assert done.sentence == "the documents of subscriber 2 go by email from now on"
    assert not payer_details.wants_email(bureau.books, 2)


def test_who_has_no_address_gets_paper(bureau: Desk) -> None:
    bureau.connection.change("UPDATE subscribers SET email = NULL WHERE subscriber_id = 2")
    with pytest.raises(BadInput, match="has no email address: set it first"):
        payer_details.deliver(bureau.books, 2, by_email=True)
    with pytest.raises(NotFound, match="no subscriber 9"):
        payer_details.deliver(bureau.books, 9, by_email=True)
    payer_details.deliver(bureau.books, 2, by_email=False)
    assert bureau.table("payer_details") == []
