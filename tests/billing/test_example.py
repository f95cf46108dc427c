"""The worked example of docs/billing-example.md: what the page says is done and compared.

The page's figures were worked out by hand from the rules (billing, "Rules"). Nothing of them stands
here but what is paid: the tests read its tables.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, get_args

import pytest

from masthead.billing.payer_statements import report as statement_report
from masthead.billing.printed import PrintedInvoice, from_json
from masthead.billing.printed_reminders import ThenDo
from masthead.billing.reminding import Level
from masthead.billing.tax import TaxRate, percent_of, percent_text
from masthead.books import (
    bank_imports,
    catalogue,
    closed_months,
    debit_collections,
    debit_runs,
    invoices,
    issues,
    journal,
    mandates,
    orders,
    payer_payments,
    payer_statement,
    payment_reversals,
    reminder_levels,
    reminders,
    reports,
    tax_rates,
)
from masthead.books.mandates import Given
from masthead.books.payer_payments import Incoming
from masthead.circulation.amounts import cents_of, decimal
from masthead.circulation.ordering import Item, Order, Person
from masthead.circulation.tables import written
from masthead.documents.electronic_invoice import xml_of
from masthead.store.billing.sums import sums_of
from tests.billing import bureau
from tests.billing.debits import back
from tests.billing.debits import written as statement_file
from tests.billing.seller import SELLER
from tests.billing.sums import check_sums
from tests.circulation.desk import at_desk
from tests.docs import page_tables
from tests.docs.pages import ROOT
from tests.documents.schematron import judged
from tests.loading.publisher import Publisher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from masthead.circulation.tables import Report
    from tests.circulation.desk import Desk
    from tests.docs.page_tables import Row
    from tests.servers import Store

PAGE = (ROOT / "docs" / "billing-example.md").read_text()
table = partial(page_tables.table, PAGE)
"""The rows of the only table of the page whose header begins so."""

STEPS = [(day, step) for day, step, _ in table("day", "step")]
PAYERS = {
    name: (int(number), page_tables.table(section, "date", "what"))
    for name, number, section in re.findall(
        r"^### (\w+) \(subscriber (\d+)\)$(.+?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL
    )
}
ENDS = {step.removesuffix(" ends"): day for day, step in STEPS if step.endswith(" ends")}
"""The last day of each month."""

SETTINGS = {
    **SELLER,
    "seller_iban": "DE89370400440532013000",
    "creditor_id": "DE98ZZZ09999999999",
    "tolerance": "0.50",
}
OF_VIENNA = {"city": "Wien", "country_abbreviation": "AT"}
IBAN = "DE02120300000000202051"
FEBRUARY, MARCH = 2, 3


class Course:
    """What happens on the page, step by step, and what is open at each end of a month."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk = desk
        self.folder = folder
        self.open: list[Row] = []
        self._bundles: dict[str, Item] = {}
        self._prepare()
        steps = self._steps()
        assert [step for _, step in STEPS] == list(steps)
        for day, step in STEPS:
            desk.to(day)
            steps[step]()
            check_sums(desk)

    def _prepare(self) -> None:
        """Write the publication, the payers and the settings, and let billing begin."""
        desk = self.desk
        desk.to("2027-01-01")
        desk.rows(
            "UPDATE accounts SET currency = 'EUR' WHERE account_id = :account_id "
            "RETURNING account_id"
        )
        desk.put("publications", publication_id=1, name="Tide", credit_issues=1)
        desk.put_many(
            "issues",
            [
                {
                    "issue_id": n,
                    "publication_id": 1,
                    "name": f"Tide {n}",
                    "date": f"{2027 + n // 13}-{(n - 1) % 12 + 1:02}-01",
                    "closed_at": "2026-12-20 12:00:00" if n == 1 else None,
                }
                for n in range(1, 19)
            ],
        )
        for name, (number, _) in PAYERS.items():
            desk.put("subscribers", subscriber_id=number, first_name=name)
            at = OF_VIENNA if name == "Gus" else {"city": "Berlin", "country_abbreviation": "DE"}
            desk.put("addresses", address_id=number, subscriber_id=number, address="1 Quay", **at)
        bureau.begin(desk, begun_on="2027-01-01", **SETTINGS)
        self._sell()

    def _sell(self) -> None:
        """Add the rates, what is sold, and the levels of reminders, as the page has them."""
        books = self.desk.books
        for country, goods, percent in table("rate"):
            (kind,) = (each for each in tax_rates.GOODS if each == goods)
            rate = TaxRate(country, None, kind, percent_of(percent), "2027-01-01")
            tax_rates.add_rate(books, rate)
        tax_rates.set_vat_id(books, PAYERS["Gus"][0], "ATU57194903")
        for name, kind_, many, *amounts in table("sold as"):
            net, tax, _ = map(cents_of, amounts)
            if not kind_:
                added = catalogue.add(books, "product", {"name": name, "price": net, "tax": tax})
                self._bundles[name] = Item(product_id=added.key)
                continue
            share = 2_500 if kind_ == "Both" else None
            line = catalogue.Line(1, int(many), kind_, 1, net)
            added = catalogue.add_bundle(books, name, [line], None, tax, digital_share=share)
            self._bundles[name] = Item(added.key)
        for number, days, fee, then_do in table("level"):
            (then,) = (each for each in get_args(ThenDo) if each == then_do)
            level = Level(int(number), int(days), cents_of(fee), then, None)
            reminder_levels.set_level(books, level)

    def _steps(self) -> dict[str, Callable[[], object]]:
        books = self.desk.books
        return {
            "orders taken": self._take_orders,
            "Ida signs": lambda: mandates.add(books, PAYERS["Ida"][0], Given(IBAN)),
            "Ada pays": lambda: self._pay("Ada", "60.00"),
            "Ben pays short": lambda: self._pay("Ben", "40.00"),
            "Cora pays over": lambda: self._pay("Cora", "52.10"),
            "Eve pays": lambda: self._pay("Eve", "60.00", "check"),
            "Finn pays": lambda: self._pay("Finn", "60.00", "card", fee="1.20"),
            "Gus and Hal pay": self._two_pay,
            "debit run": lambda: debit_runs.run(books, "2027-01-22"),
            "February closed": lambda: issues.close(books, FEBRUARY),
            "debit collected": lambda: debit_collections.collected(books, 1, "2027-01-22"),
            "Eve's cheque bounces": lambda: payment_reversals.reverse(
                books, 4, fee=cents_of("4.50"), reason="no funds"
            ),
            "January ends": lambda: self._note("January"),
            "Ida's debit comes back": self._return,
            "January closed": lambda: closed_months.close(books, "2027-01"),
            "Dan pays late": lambda: self._pay("Dan", "60.00"),
            "Ben pays the rest": lambda: self._pay("Ben", "19.70"),
            "second debit run": lambda: debit_runs.run(books, "2027-02-11"),
            "Eve pays again": lambda: self._pay("Eve", "60.00", "transfer"),
            "Cora orders": lambda: self._order("Cora", "mug"),
            "second debit collected": lambda: debit_collections.collected(books, 2, "2027-02-11"),
            "Jan reminded": lambda: self._remind("Jan"),
            "Finn charges back": lambda: payment_reversals.reverse(books, 5, fee=cents_of("15.00")),
            "March closed": lambda: issues.close(books, MARCH),
            "Jan reminded again": lambda: self._remind("Finn", "Jan"),
            "Cora paid back": lambda: payer_payments.pay_back(books, PAYERS["Cora"][0]),
            "February ends": lambda: self._note("February"),
            "February of the journal closed": lambda: closed_months.close(books, "2027-02"),
            "Finn reminded": lambda: self._remind("Finn"),
            "Finn pays after all": lambda: self._pay("Finn", "62.50"),
            "Ada complains": self._give_back,
            "Jan given up": lambda: self._remind(lost=["2027-000010"]),
            "Jan's fee given up": lambda: invoices.write_off(books, "2027-000012"),
            "March ends": lambda: self._note("March"),
            "March of the journal closed": lambda: closed_months.close(books, "2027-03"),
        }

    def _take_orders(self) -> None:
        for name, sold in {
            **dict.fromkeys(("Ada", "Ben"), "year"),
            "Cora": "half",
            **dict.fromkeys(("Dan", "Eve", "Finn"), "year"),
            "Gus": "digital",
            "Hal": "both",
            "Ida": "year",
            "Jan": "half",
        }.items():
            self._order(name, sold)

    def _order(self, name: str, sold: str) -> None:
        payer = Person(PAYERS[name][0])
        orders.place(self.desk.books, Order(payer, [self._bundles[sold]]))

    def _pay(self, name: str, amount: str, kind: str | None = None, *, fee: str = "0.00") -> None:
        incoming = Incoming(cents_of(amount), payment_type=kind, fee=cents_of(fee))
        payer_payments.add(self.desk.books, incoming, subscriber_id=PAYERS[name][0])

    def _two_pay(self) -> None:
        self._pay("Gus", "20.00")
        self._pay("Hal", "85.60")

    def _return(self) -> None:
        """Read the statement of the bank in which Ida's debit comes back, with its fee."""
        (claim,) = self.desk.table("claims")
        entry = back("63.00", claim["end_to_end_id"], "AM04", fee="3.00")
        path = statement_file(self.folder, entry, day="2027-02-02")
        bank_imports.import_file(self.desk.books, path)

    def _remind(self, *names: str, lost: list[str] | None = None) -> None:
        """Send the reminders of the day, which are those of some payers."""
        done = reminders.send(self.desk.books)
        assert [each.subscriber_id for each in done.letters] == [PAYERS[each][0] for each in names]
        assert [each.invoice.number_text for each in done.write_offs] == (lost or [])

    def _give_back(self) -> None:
        books = self.desk.books
        invoices.credit(books, "2027-000001", cents_of("10.70"), reason="Two issues came late")
        payer_payments.pay_back(books, PAYERS["Ada"][0])

    def _note(self, month: str) -> None:
        """Note what is open at the end of a month."""
        self.open += [
            [
                month,
                each.invoice.number_text,
                each.first_name or "",
                *map(
                    decimal,
                    (
                        each.invoice.total,
                        each.invoice.total - each.invoice.open_cents,
                        each.invoice.open_cents,
                    ),
                ),
            ]
            for each in invoices.listed(self.desk.books, is_open=True)
        ]


@pytest.fixture(scope="module")
def course(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """All that happens on the page has happened."""
    with at_desk(store) as desk:
        yield Course(desk, tmp_path_factory.mktemp("example"))


def texts(made: Report) -> list[Row]:
    """Return the rows of a report as it is written."""
    kinds = [column.kind for column in made.columns]
    return [list(map(written, row, kinds)) for row in made.rows]


def test_each_line_of_an_invoice_is_taxed_as_the_page_says(course: Course) -> None:
    """billing, "Tax": net + tax = total on each line."""
    names = {number: name for name, (number, _) in PAYERS.items()}
    documents = {row["invoice_id"]: row for row in course.desk.table("invoices")}
    found = [
        [
            documents[line["invoice_id"]]["number_text"],
            names[documents[line["invoice_id"]]["subscriber_id"]],
            line["goods"],
            line["category"],
            percent_text(line["percent"]).removesuffix(" %"),
            *map(decimal, (line["net"], line["tax"], line["net"] + line["tax"])),
        ]
        for line in course.desk.table("invoice_lines")
    ]
    said = [row[:-1] for row in table("number", "payer")]
    assert sorted(found) == sorted(said)


@pytest.mark.parametrize("name", PAYERS)
def test_the_statement_of_each_payer_is_what_the_page_says(course: Course, name: str) -> None:
    """billing, "What must hold": it adds up line by line."""
    number, said = PAYERS[name]
    made = statement_report(payer_statement.statement(course.desk.books, number))
    assert [[*row[:3], *row[4:]] for row in texts(made)] == [row[:-1] for row in said]


def test_what_is_open_is_what_the_page_says(course: Course) -> None:
    assert course.open == table("end of", "invoice")


def test_what_readers_are_owed_is_what_the_page_says(course: Course) -> None:
    """circulation, "Reports": opening + received - earned - refunded = closing."""
    made = reports.liability(course.desk.books, ENDS["March"])
    assert texts(made) == table("publication", "month")


@pytest.mark.parametrize("month", ENDS)
def test_the_balances_of_the_journal_are_what_the_page_says(course: Course, month: str) -> None:
    """billing, "Month end": they stay what they were when the month ended."""
    rows = texts(journal.balances(course.desk.books, ENDS[month]))
    found = {name: debit or f"-{credit}" for _, name, debit, credit in rows}
    at = 1 + list(ENDS).index(month)
    said = {row[0]: row[at] for row in table("account", "January")}
    assert found == {name: amount for name, amount in said.items() if amount != "0.00"}
    assert sum(int(amount.replace(".", "")) for amount in said.values()) == 0
    assert not journal.check(course.desk.books, ENDS[month]).wrong


@pytest.mark.parametrize("month", ENDS)
def test_what_adds_up_is_what_the_page_says(course: Course, month: str) -> None:
    """billing, "Rules": in total, after each month."""
    with course.desk.books.read() as reading:
        sums = sums_of(reading, ENDS[month])
    (said,) = (row[1:] for row in table("end of", "invoiced") if row[0] == month)
    found = (
        *(sums.invoiced, sums.settled, sums.deposits, sums.open, sums.credited),
        *(sums.written_off, sums.paid, sums.credits),
    )
    assert list(map(decimal, found)) == said
    invoiced, *parts, paid, credits_ = map(cents_of, said)
    assert invoiced == sum(parts)
    assert paid == parts[0] + parts[1] + credits_


def test_each_document_keeps_the_rules_of_the_electronic_invoice(course: Course) -> None:
    """billing, "What must hold", 3: short, late, credited, a fee, a mandate, reverse charge."""
    with course.desk.books.read() as reading:
        rows = reading.rows("SELECT printed FROM invoices WHERE account_id = :account_id")
        made = [from_json(text, PrintedInvoice) for (text,) in rows]
    assert len(made) > 10
    for printed in made:
        assert judged(xml_of(printed)).broken == [], printed.number


def test_the_account_moves_with_all_that_is_billed(course: Course) -> None:
    """billing, "What is stored": it is exported and imported like everything else."""
    desk = course.desk
    here = Publisher(desk.url, course.folder, desk.account_id, store=desk.store, is_there=True)
    there = Publisher(desk.url, course.folder, 2, store=desk.store)
    exported = here.exported()
    there.load(exported)
    assert there.exported() == exported
    for name in ("invoices", "payments", "bank_entries", "mandates", "claims", "reminders"):
        assert there.table(name), name
