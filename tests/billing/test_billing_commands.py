"""``masthead billing`` and ``masthead payer set``, as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.billing.seller import SELLER
from tests.circulation.shop import refused, run, summaries

if TYPE_CHECKING:
    from pathlib import Path


def begin(shop: str) -> None:
    run(shop, "billing", "settings", *(f"{name}={text}" for name, text in SELLER.items()))
    run(shop, "billing", "begin")


def test_a_seller_is_named_and_billing_begins(shop: str) -> None:
    listed = run(shop, "billing", "settings")
    assert "due_days\t14\t(default)\tDays after which an invoice is due, 0 to 365." in listed
    assert refused(shop, "billing", "begin").endswith(
        "set them first; `masthead billing settings` with NAME=VALUE sets it\n"
    )
    assert run(shop, "billing", "settings", "due_days=30", "seller_name=Tide Press") == [
        "2 settings of billing changed: due_days and seller_name"
    ]
    assert any(each.startswith("due_days\t30\t\t") for each in run(shop, "billing", "settings"))
    assert run(shop, "billing", "settings", "due_days=") == [
        "1 setting of billing changed: due_days"
    ]
    begin(shop)
    assert summaries(shop)[-1].startswith("billing begins on ")
    assert run(shop, "billing", "begin")[0].startswith("nothing changed: billing began on ")


@pytest.mark.parametrize(
    ("arguments", "sentence", "status"),
    [
        (("settings", "due_days"), "'due_days' gives no value: write NAME=VALUE", 2),
        (("settings", "due_day=3"), "billing has no setting 'due_day': did you mean due_days", 1),
        (("settings", "seller_iban=DE00"), "seller_iban: 'DE00' is not an IBAN", 1),
        (("settings", "--logo=/dev/null"), "/dev/null is no logo: its name ends with .png", 1),
        (("settings", "--logo=missing.png"), "missing.png cannot be read", 1),
        (("rates", "add", "DE", "print", "x", "--from=2026-01-01"), "not a percentage", 1),
        (("rates", "add", "DEU", "print", "7", "--from=2026-01-01"), "the code of a country", 1),
        (("rates", "add", "DE", "print", "7", "--from=soon"), "'soon' is not a day", 2),
        (("rates", "remove", "7"), "account 1 has no tax rate 7", 1),
        (("shipping", "add", "Print", "1", "--country=X", "--from=2026-01-01"), "'X' is not", 1),
        (("shipping", "remove", "7"), "account 1 has no shipping price 7", 1),
    ],
)
def test_a_mistake_is_one_sentence(
    shop: str, arguments: tuple[str, ...], sentence: str, status: int
) -> None:
    before = summaries(shop)
    said = refused(shop, "billing", *arguments, exit_status=status)
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert summaries(shop) == before


def test_rates_are_added_listed_and_removed(shop: str) -> None:
    assert run(shop, "billing", "rates", "list") == []
    add = ("billing", "rates", "add")
    assert run(shop, *add, "de", "print", "7", "--from=2026-01-01", "--dry-run") == [
        "tax rate 1 was added: for print in DE, 7 % from 2026-01-01 on",
        "nothing was changed: this was a dry run",
    ]
    run(shop, *add, "de", "print", "7", "--from=2026-01-01")
    run(shop, *add, "US", "print", "8.25", "--state=TX", "--from=2190-01-01")
    run(shop, *add, "de", "print", "9", "--from=2190-01-01")
    assert run(shop, "billing", "rates", "list") == [
        "1\tDE\tprint\t7 %\tfrom 2026-01-01 until before 2190-01-01",
        "3\tDE\tprint\t9 %\tfrom 2190-01-01 on",
        "2\tUS TX\tprint\t8.25 %\tfrom 2190-01-01 on",
    ]
    run(shop, "billing", "rates", "remove", "3")
    assert run(shop, "billing", "rates", "list")[0] == "1\tDE\tprint\t7 %\tfrom 2026-01-01 on"


def test_shipping_prices_are_added_listed_and_removed(shop: str) -> None:
    add = ("billing", "shipping", "add")
    run(shop, *add, "print", "12", "--country=AT", "--from=2026-01-01")
    run(shop, *add, "Both", "25.50", "--from=2190-01-01")
    assert run(shop, "billing", "shipping", "list") == [
        "2\tBoth\tall others\t25.50 USD\tfrom 2190-01-01 on",
        "1\tPrint\tAT\t12.00 USD\tfrom 2026-01-01 on",
    ]
    run(shop, "billing", "shipping", "remove", "2")
    assert len(run(shop, "billing", "shipping", "list")) == 1


def test_a_logo_comes_from_a_file(shop: str, tmp_path: Path) -> None:
    logo = tmp_path / "logo.svg"
    logo.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    run(shop, "billing", "settings", f"--logo={logo}")
    shown = [each for each in run(shop, "billing", "settings") if each.startswith("logo\t")]
    assert shown[0].startswith("logo\tdata:image/svg+xml;base64,PHN2")
    logo.write_bytes(bytes(256 * 1024 + 1))
    assert "262,144 is the most" in refused(shop, "billing", "settings", f"--logo={logo}")


def test_a_payer_gets_a_vat_number(shop: str) -> None:
    assert run(shop, "payer", "set", 1, "--vat-id=ATU57194903") == [
        "the VAT number of subscriber 1 was set"
    ]
    assert "not a VAT number" in refused(shop, "payer", "set", 1, "--vat-id=ATU57194904")
    assert run(shop, "payer", "set", 1, "--no-vat-id") == [
        "the VAT number of subscriber 1 was removed"
    ]
    assert "give one of --vat-id, --no-vat-id, --by-email" in refused(
        shop, "payer", "set", 1, exit_status=2
    )
    refused(shop, "payer", "set", 1, "--no-vat-id", "--by-email", exit_status=2)
    assert "no subscriber 9" in refused(shop, "payer", "set", 9, "--no-vat-id")


def test_a_part_of_a_price_is_digital(shop: str) -> None:
    bundle = ("catalogue", "bundle")
    run(shop, *bundle, "add", "Both", "--line=1:12:Both:40", "--digital-share=25")
    run(shop, *bundle, "set", "3", "--line=1:12:Both:44")
    assert run(shop, *bundle, "list")[-1] == (
        "  publication 1: 12 issues, Both, 44.00 USD, 25 % of it digital"
    )
    assert run(shop, *bundle, "set", "3", "--digital-share=30") == ["bundle 3: changed lines"]
    assert run(shop, *bundle, "set", "3", "--digital-share=30")[0].startswith("nothing changed")
    assert "30 % of it digital" in run(shop, *bundle, "list")[-1]
    assert run(shop, *bundle, "set", "3", "--digital-share=0") == ["bundle 3: changed lines"]
    assert run(shop, *bundle, "list")[-1].endswith("44.00 USD")
    assert "the bundle has none" in refused(shop, *bundle, "set", "1", "--digital-share=30")
    assert "not a percentage" in refused(shop, *bundle, "set", "3", "--digital-share=x")


def test_an_order_shows_its_shipping(shop: str) -> None:
    run(shop, "billing", "shipping", "add", "Print", "5.00", "--from=2020-01-01")
    begin(shop)
    (placed,) = run(shop, "order", "add", "--bundle=1", "--subscriber=1")[:1]
    assert placed.startswith("order 1 of subscriber 1: 42.45 USD, not paid")
    shown = run(shop, "order", "show", "1")
    assert "shipping: 5.00 USD" in shown
    assert "grand_total: 42.45 USD" in shown
    assert "sub_total: 35.00 USD" in shown


def test_a_payer_gets_documents_by_email(shop: str) -> None:
    assert run(shop, "payer", "set", 1, "--by-email", "--dry-run")[-1].endswith("a dry run")
    (said,) = run(shop, "payer", "set", 1, "--by-email")
    assert said.startswith("the documents of subscriber 1 go by email from now on, once the")
    assert run(shop, "payer", "set", 1, "--by-email")[0].startswith("nothing changed: the doc")
    assert run(shop, "payer", "set", 1, "--no-by-email") == [
        "the documents of subscriber 1 go on paper from now on"
    ]


@pytest.mark.parametrize("words", [("payment", "list", "99"), ("mail", "list", "--payer=99")])
def test_an_unknown_payer_is_not_one_without_payments_and_mails(
    shop: str, words: tuple[str, ...]
) -> None:
    assert "account 1 has no subscriber 99" in refused(shop, *words)


def test_a_level_has_days_of_a_year_at_most(shop: str) -> None:
    said = refused(shop, "reminders", "levels", "set", 1, "--days=0", exit_status=2)
    assert "'--days': 0 is not in the range 1<=x<=365" in said


def test_what_is_missing_for_reminders_is_said_with_the_command_that_gives_it(shop: str) -> None:
    begin(shop)
    makes = "`masthead reminders levels set`"
    assert run(shop, "reminders", "levels", "list") == [f"no levels: {makes} makes one"]
    for command in ("select", "send"):
        assert refused(shop, "reminders", command) == (
            "there is no level of reminders yet: add the first one; "
            f"{makes} with `--days` does so\n"
        )
    run(shop, "reminders", "levels", "set", 1, "--days=10")
    assert run(shop, "reminders", "select") == [
        "nobody is due for a reminder; no payment was read yet"
    ]


def test_a_payment_of_nobody_is_refused_with_the_options_that_say_whose_it_is(shop: str) -> None:
    begin(shop)
    assert refused(shop, "payment", "add", "--amount=12.84") == (
        "a payment names an invoice or a payer; --invoice names the invoice, and --payer the "
        "payer\n"
    )


@pytest.mark.parametrize("kind", ["welcome", "cancellation"])
def test_without_letters_no_file_is_written(shop: str, tmp_path: Path, kind: str) -> None:
    begin(shop)
    file = tmp_path / "letters.pdf"
    assert run(shop, "letter", kind, "--to", file) == [
        f"0 {kind} letters to print",
        f"{file} was not written, since there is nothing to print",
    ]
    assert not file.exists()
