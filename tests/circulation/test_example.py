"""The worked example of docs/circulation-example.md: what the page says is done and compared.

The page's figures were worked out by hand from the rules (circulation, "Rules"). Nothing of them
stands here: the tests read its tables.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import catalogue, issues, orders, payments, refunds, reports, subscriptions
from masthead.books.issues import Grace, MailingList
from masthead.books.opening import open_books
from masthead.books.subscriptions import Values
from masthead.circulation.amounts import cents_of, decimal
from masthead.circulation.ordering import NOBODY, Item, Order, Person
from masthead.circulation.tables import written
from tests.circulation.desk import Desk, at_desk
from tests.docs import page_tables
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.docs.page_tables import Row
    from tests.servers import Store

PAGE = (ROOT / "docs" / "circulation-example.md").read_text()
PUBLICATIONS = {"Tide": 1, "Gale": 2}
NOTHING = "-"

table = partial(page_tables.table, PAGE)
"""The rows of the only table of the page whose header begins so."""

ISSUES = table("issue", "of", "date")
STEPS = [(day, step) for day, step, _ in table("day", "step")]
READERS = {
    int(number): (name, page_tables.table(section, "step", "issues"))
    for name, number, section in re.findall(
        r"^### ([^\n]+) \(subscription (\d+)\)$(.+?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL
    )
}


class Course:
    """What happens on the page, step by step, and what everybody has after each of them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.lists: dict[str, MailingList] = {}
        self.after: dict[str, dict[int, Row]] = {}
        self.refunded = ""
        self._orders: dict[str, int] = {}
        self._bundles: dict[str, int] = {}
        self._prepare()
        steps = self._steps()
        assert [step for _, step in STEPS] == list(steps)
        for day, step in STEPS:
            desk.to(day)
            made = steps[step]()
            if isinstance(made, MailingList):
                self.lists[step] = made
            self.after[step] = self.figures()

    def _prepare(self) -> None:
        """Fill the account as the files of the system before did: with Dan, and without books."""
        desk = self.desk
        with desk.store.writer() as database, database.transaction():
            database.change("DELETE FROM books")
        tide = {"name": "Tide", "late_start": "current"}
        desk.put("publications", publication_id=1, grace_counts=1, **tide)
        desk.put("publications", publication_id=2, name="Gale", issues_per_year=4)
        desk.put_many(
            "issues",
            [
                {"issue_id": n, "publication_id": PUBLICATIONS[whose], "name": name, "date": day}
                for n, (name, whose, day) in enumerate(ISSUES, 1)
            ],
        )
        dan = {"first_name": "Dan", "first_name_folded": "dan", "email": "dan@example.com"}
        desk.put("subscribers", subscriber_id=1, **dan)
        desk.put("addresses", address_id=1, subscriber_id=1, address="1 Quay")
        desk.put(
            "subscriptions",
            subscription_id=1,
            subscriber_id=1,
            publication_id=1,
            mailing_address_id=1,
            type="Print",
            copies=1,
            issues=1,
            paid_issues_left=1,
            unearned_revenue="2.95",
            renew_campaign_active=1,
        )

    def _steps(self) -> dict[str, Callable[[], object]]:
        grace = Grace(2, "2027-01-01")
        return {
            "books opened": self._open,
            "orders taken": self._take_orders,
            "Eve away": lambda: subscriptions.suspend(
                self.desk.books, 8, "2027-03-01", "2027-04-30"
            ),
            "January closed": lambda: self._close("January"),
            "Cora orders": lambda: self._order("Cora", "twelve"),
            "January's gap list": lambda: self._gap("January"),
            "February closed": lambda: self._close("February", grace),
            "Ida pays": self._pay,
            "February's gap list": lambda: self._gap("February"),
            "March closed": lambda: self._close("March", grace),
            "Ada refunded": self._refund,
            "Dan renews": lambda: self._order("Dan", "twelve"),
            "Gale Spring closed": lambda: self._close("Spring"),
            "April closed": lambda: self._close("April"),
            "Cora's lost copy": lambda: subscriptions.extend(self.desk.books, 10, 1),
            "May closed": lambda: self._close("May"),
            "June closed": lambda: self._close("June"),
            "Gale Summer closed": lambda: self._close("Summer"),
        }

    def _open(self) -> None:
        assert open_books(self.desk.books).closed_issues == 1
        rows = table("bundle", "of")
        for name, lines in groupby(rows, lambda row: row[0]):
            self._bundles[name] = self._add_bundle(name, list(lines))

    def _add_bundle(self, name: str, rows: list[Row]) -> int:
        lines = [
            catalogue.Line(PUBLICATIONS[whose], int(issues), kind, 1, cents_of(price))
            for _, whose, issues, kind, price, _ in rows
        ]
        tax = sum(cents_of(row[-1]) for row in rows)
        return catalogue.add_bundle(self.desk.books, name, lines, None, tax).key

    def _take_orders(self) -> None:
        self._order("Ada", "twelve")
        self._order("Ada", "six", recipient="Ben")
        self._order("Gus", "digital", has_address=False)
        self._order("Finn", "unlimited")
        self._order("Hal", "both", price=cents_of("40.00"))
        self._order("Eve", "twelve")
        self._order("Ida", "twelve", is_paid=False)

    def _order(
        self,
        name: str,
        bundle: str,
        *,
        recipient: str = "",
        price: int | None = None,
        is_paid: bool = True,
        has_address: bool = True,
    ) -> None:
        whose = person(recipient) if recipient else NOBODY
        payer = person(name) if has_address else person(name)._replace(address={})
        item = Item(self._bundles[bundle], price=price, recipient=whose)
        placed = orders.place(self.desk.books, Order(payer, [item], is_paid=is_paid))
        self._orders[f"{name} {bundle}"] = placed.order_id

    def _pay(self) -> None:
        payments.pay(self.desk.books, self._orders["Ida twelve"])

    def _refund(self) -> None:
        done = refunds.refund(self.desk.books, self._orders["Ada twelve"])
        self.refunded = decimal(done.cents)
        subscriptions.set_values(self.desk.books, 2, Values(campaign=False))

    def _close(self, name: str, grace: Grace | None = None) -> MailingList:
        issue_id = issue_of(name)
        return issues.close(self.desk.books, issue_id, grace)

    def _gap(self, name: str) -> MailingList:
        return issues.make_gap_list(self.desk.books, issue_of(name))

    def reopen_and_close(self, name: str) -> tuple[dict[int, Row], dict[int, Row]]:
        """Reopen an issue and close it again; return what everybody has after both."""
        issues.reopen(self.desk.books, issue_of(name))
        reopened = self.figures()
        self._close(name)
        return reopened, self.figures()

    def figures(self) -> dict[int, Row]:
        """Return what each subscription has, as the page writes it.

        What is unearned is that of the books and of the subscription, which say the same.
        """
        booked = self.booked()
        found = {}
        for row in self.desk.table("subscriptions"):
            key = row["subscription_id"]
            own = [
                booked.get(term["term_id"], {})
                for term in self.desk.table("terms")
                if term["subscription_id"] == key
            ]
            earned = sum(each.get("earned", 0) for each in own)
            unearned = decimal(sum(map(left_of, own)))
            assert row["unearned_revenue"] == unearned, (key, row["unearned_revenue"], unearned)
            shown = (row["issues"], row["paid_issues_left"], decimal(earned), unearned)
            found[key] = [
                NOTHING if value is None else str(value) for value in (*shown, row["date_expired"])
            ]
        return found

    def booked(self) -> dict[int, dict[str, int]]:
        """Return the cents of each kind of revenue of each term."""
        found: dict[int, dict[str, int]] = {}
        for row in self.desk.table("revenue"):
            of_term = found.setdefault(row["term_id"], {})
            of_term[row["kind"]] = of_term.get(row["kind"], 0) + row["cents"]
        return found


def person(name: str) -> Person:
    """Return a person's subscriber by first name and email address, with an address."""
    email = f"{name.lower()}@example.com"
    return Person(email=email, first_name=name, address={"address": "1 Quay", "city": "Hull"})


def issue_of(name: str) -> int:
    """Return the id of an issue of the page."""
    return [each for each, *_ in ISSUES].index(name) + 1


def left_of(kinds: dict[str, int]) -> int:
    """Return what is unearned of a term."""
    return kinds.get("received", 0) - kinds.get("earned", 0) - kinds.get("refunded", 0)


@pytest.fixture(scope="module")
def course(store: Store) -> Iterator[Course]:
    """All that happens on the page has happened."""
    with at_desk(store) as desk:
        yield Course(desk)


@pytest.mark.parametrize("number", READERS)
def test_everybody_has_after_each_step_what_the_page_says(course: Course, number: int) -> None:
    """Between two rows of the page, nothing changes."""
    name, rows = READERS[number]
    said = {step: figures for step, *figures, _ in rows}
    assert set(said) <= set(course.after), name
    expected: Row | None = None
    for step, found in course.after.items():
        expected = said.get(step, expected)
        assert found.get(number) == expected, f"{name}: {step}"


def test_the_page_has_everybody(course: Course) -> None:
    assert sorted(READERS) == sorted(course.figures())


def test_the_lists_are_what_the_page_says(course: Course) -> None:
    """circulation, "Close" and "Gap": entries and held subscriptions, by name."""
    names = {number: name for number, (name, _) in READERS.items()}
    assert [
        [
            step,
            str(made.entries),
            *(str(sum(run.entries for run in made.press_run if kind(run) == k)) for k in KINDS),
            ", ".join(f"{names[each.subscription_id]} {each.why}" for each in made.held),
        ]
        for step, made in course.lists.items()
    ] == table("step", "entries")


KINDS = ("paid", "not paid", "grace")


def kind(run: Any) -> str:
    """Return what a part of a press run is."""
    return "grace" if run.is_grace else "paid" if run.is_paid else "not paid"


def test_the_refund_is_what_the_page_says(course: Course) -> None:
    """decisions, "Refunds in parts": what is unearned, and its share of the tax to the cent."""
    (said,) = re.findall(r"She gets\s+([0-9.]+[0-9])", PAGE)
    assert course.refunded == said


def test_the_terms_in_the_end_are_what_the_page_says(course: Course) -> None:
    """circulation, "Money": received = earned + refunded + unearned, of each and of all."""
    booked = course.booked()
    amounts = []
    found = []
    for term in course.desk.table("terms"):
        kinds = booked.get(term["term_id"], {})
        cents = [*(kinds.get(each, 0) for each in ("received", "earned", "refunded"))]
        cents.append(left_of(kinds))
        amounts.append(cents)
        shown = (term[each] for each in ("term_id", "subscription_id", "kind", "issues"))
        found.append([*map(str, (*shown, term["issues_left"])), *map(decimal, cents)])
    sums = [decimal(sum(column)) for column in zip(*amounts, strict=True)]
    assert [*found, ["all", "", "", "", "", *sums]] == table("term", "subscription")


def test_the_liability_is_what_the_page_says(course: Course) -> None:
    """circulation, "Reports": opening + received - earned - refunded = closing."""
    made = reports.liability(course.desk.books)
    kinds = [column.kind for column in made.columns]
    assert [list(map(written, row, kinds)) for row in made.rows] == table("publication", "month")


def test_reopening_gives_the_figures_before_and_closing_those_after(course: Course) -> None:
    """circulation, "Reopen": its deliveries are undone, one by one, exactly."""
    last = course.figures()
    reopened, closed = course.reopen_and_close("June")
    gale = 7
    assert reopened == {**course.after["May closed"], gale: last[gale]}
    assert closed == last
