"""The queries of docs/analysis.md on a copy in DuckDB, beside figures worked out from the files."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from contextlib import chdir
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import matplotlib.pyplot as plt
import pytest

from masthead.sample_data.generate import REFERENCE_DATE, generate
from tests.docs.pages import ROOT
from tests.mirror.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mirror.publisher import Publisher

SUBSCRIBERS = 200
_QUERY = re.compile(r"^## ([^\n]+)\n(?:(?!^#).)*?^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)
QUERIES = dict(_QUERY.findall((ROOT / "docs" / "analysis.md").read_text()))
NOTEBOOK = json.loads((ROOT / "docs" / "analysis.ipynb").read_text())
SET_DAY = f"SET VARIABLE day = DATE '{REFERENCE_DATE}'"
LATEST = date.max

LETTERS = range(1, 31)
"""The subscriptions that got a letter and were renewed: on the day after, the same, or before."""

RENEWED_ON = date(2026, 10, 15)

Row = dict[str, str]


class Analysed:
    """A folder with a copy and an export, and the files that the publisher was loaded from."""

    def __init__(self, folder: Path, files: Path) -> None:
        self.folder = folder
        self._files = files

    def answers(self, title: str) -> list[tuple[Any, ...]]:
        """Run a query of the page."""
        with chdir(self.folder), duckdb.connect("copy.duckdb", read_only=True) as copy:
            copy.execute(SET_DAY)
            return copy.execute(QUERIES[title]).fetchall()

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a file."""
        with (self._files / f"{table}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def active(self, day: date) -> list[Row]:
        """Return the subscriptions that had begun by a day and had not expired before it."""
        return [
            row
            for row in self.rows("subscriptions")
            if date.fromisoformat(row["date_created"]) <= day <= end_of(row)
        ]


def effort_of(subscription_id: int) -> int:
    """Return the effort that sent a letter: 1 before the day of the renewal, 3 after it."""
    return subscription_id % 3 + 1


def end_of(subscription: Row) -> date:
    """Return the day on which a subscription expires."""
    return date.fromisoformat(subscription["date_expired"] or LATEST.isoformat())


def month_before(months: int) -> date:
    """Return the first day of the month so many months before the day of the data."""
    number = REFERENCE_DATE.year * 12 + REFERENCE_DATE.month - 1 - months
    return date(number // 12, number % 12 + 1, 1)


def grouped(amounts: list[tuple[Any, Decimal]]) -> dict[Any, Decimal]:
    """Return the sums of amounts by their groups."""
    sums: defaultdict[Any, Decimal] = defaultdict(Decimal)
    for group, amount in amounts:
        sums[group] += amount
    return dict(sums)


@pytest.fixture(scope="module")
def analysed(
    new_publisher: Callable[[], Publisher], tmp_path_factory: pytest.TempPathFactory
) -> Analysed:
    """What the page works with: the export also has letters that were sent."""
    folder = tmp_path_factory.mktemp("analysed")
    files = folder / "files"
    generate(files, subscribers=SUBSCRIBERS, seed=5)
    publisher = new_publisher()
    publisher.load_folder(files)
    publisher.load(
        subscriptions=[
            {"subscription_id": key, "date_last_renewed": RENEWED_ON.isoformat()} for key in LETTERS
        ]
    )
    Kept(f"duckdb:///{folder / 'copy.duckdb'}").update(publisher)
    publisher.export().rename(folder / "all-files")
    found = Analysed(folder, files)
    letters = folder / "all-files" / "renewals_sent.csv"
    with letters.open("a", encoding="utf-8", newline="") as sent:
        for key in LETTERS:
            sent.write(f"1,{effort_of(key)},{key},{RENEWED_ON + timedelta(effort_of(key) - 2)}\r\n")
    return found


def test_active_by_month(analysed: Analysed) -> None:
    months = [month_before(number) for number in range(11, -1, -1)]
    active = {month: analysed.active(month) for month in months}
    expected = [(m, len(rows), sum(int(r["copies"]) for r in rows)) for m, rows in active.items()]
    assert analysed.answers("Active by month") == expected
    assert expected[-1][1] > SUBSCRIBERS / 2


def test_churn(analysed: Analysed) -> None:
    expected = []
    for number in range(12, 0, -1):
        rows = analysed.active(month_before(number))
        lost = sum(end_of(row) < month_before(number - 1) for row in rows)
        expected.append((month_before(number), len(rows), lost, round(100 * lost / len(rows), 1)))
    assert analysed.answers("Churn") == expected
    assert any(lost for _, _, lost, _ in expected)


def test_cohorts(analysed: Analysed) -> None:
    begun: defaultdict[int, list[int]] = defaultdict(list)
    for row in analysed.rows("subscriptions"):
        created, end = date.fromisoformat(row["date_created"]), end_of(row)
        # The whole years for which it was active, a year from 29 February ending on the 28th.
        whole = end.year - created.year - ((end.month, end.day) < (created.month, created.day))
        if (created.month, created.day) == (2, 29) and (end.month, end.day) == (2, 28):
            whole += 1
        begun[created.year].append(whole)
    expected = [
        (
            year,
            len(years),
            *(
                sum(whole >= after for whole in years)
                if date(year + 1 + after, 1, 1) <= REFERENCE_DATE
                else None
                for after in (1, 2, 3)
            ),
        )
        for year, years in sorted(begun.items())
    ]
    assert analysed.answers("Cohorts") == expected


def test_revenue_by_publication(analysed: Analysed) -> None:
    publications: defaultdict[str, set[str]] = defaultdict(set)
    for row in analysed.rows("subscriptions"):
        if row["last_purchase_bundle_id"]:
            publications[row["last_purchase_bundle_id"]].add(row["publication_id"])
    years = {row["order_id"]: int(row["order_date"][:4]) for row in analysed.rows("orders")}
    parts = []
    for item in analysed.rows("order_items"):
        if item["bundle_id"] and not item["refund_date"]:
            among = sorted(publications[item["bundle_id"]]) or [""]
            amount = Decimal(item["sub_total"]) / len(among)
            year = years[item["order_id"]]
            parts += [((year, int(each) if each else None), amount) for each in among]
    found = analysed.answers("Revenue by publication")
    expected = grouped(parts)
    assert {row[:2] for row in found} == set(expected)
    assert len({publication for _, publication in expected}) > 3
    for year, publication, revenue in found:
        assert revenue == pytest.approx(float(expected[year, publication]), abs=0.006)


def test_expiring(analysed: Analysed) -> None:
    soon = [
        row
        for row in analysed.rows("subscriptions")
        if REFERENCE_DATE <= end_of(row) <= REFERENCE_DATE + timedelta(90)
    ]
    groups = {id(row): (end_of(row).replace(day=1), int(row["publication_id"])) for row in soon}
    every = Counter(groups.values())
    reached = Counter(groups[id(row)] for row in soon if row["renew_campaign_active"] == "1")
    expected = [(*group, every[group], reached[group]) for group in sorted(every)]
    assert analysed.answers("Expiring") == expected
    assert 0 < sum(reached.values()) < sum(every.values())


def test_by_state(analysed: Analysed) -> None:
    addresses = {row["address_id"]: row for row in analysed.rows("addresses")}
    copies: defaultdict[tuple[str | None, str | None], list[int]] = defaultdict(list)
    for row in analysed.active(REFERENCE_DATE):
        if row["type"] != "Digital":
            address = addresses.get(row["mailing_address_id"], {})
            place = address.get("country_abbreviation") or None, address.get("state") or None
            copies[place].append(int(row["copies"]))
    expected = {place: (len(found), sum(found)) for place, found in copies.items()}
    found = analysed.answers("By state")
    assert {row[:2]: row[2:] for row in found} == expected
    assert [row[2] for row in found] == sorted((row[2] for row in found), reverse=True)


def test_gifts(analysed: Analysed) -> None:
    orders = analysed.rows("orders")
    expected = []
    for year, number in sorted(Counter(row["order_date"][:4] for row in orders).items()):
        gifts = [r for r in orders if r["order_date"][:4] == year and r["is_gift"] == "1"]
        total = sum(Decimal(row["grand_total"]) for row in gifts) if gifts else None
        percent = round(100 * len(gifts) / number, 1)
        expected.append((int(year), number, len(gifts), total, percent))
    assert analysed.answers("Gifts") == expected
    assert any(row[2] for row in expected)


def test_efforts(analysed: Analysed) -> None:
    """The letters are of the day before each renewal, of the same day, and of the day after."""
    sent = Counter(
        (int(row["publication_id"]), effort_of(key))
        for row in analysed.rows("subscriptions")
        if (key := int(row["subscription_id"])) in LETTERS
    )
    expected = [(*of, number, number if of[1] < 3 else 0) for of, number in sorted(sent.items())]
    assert analysed.answers("Efforts") == expected


def test_press_run(analysed: Analysed) -> None:
    expected = []
    for a_list in analysed.rows("list_downloads"):
        copies = Counter[str]()
        for row in analysed.rows("mailing_list_entries"):
            if row["mailing_list_id"] == a_list["mailing_list_id"] and row["type"] != "Digital":
                kind = "grace" if row["is_grace"] == "1" else row["is_paid"]
                copies[kind] += int(row["copies"])
        if copies and a_list["status"] == "Complete":
            kinds = (copies["1"], copies["grace"], copies["0"])
            expected.append((int(a_list["mailing_list_id"]), a_list["name"], sum(kinds), *kinds))
    assert analysed.answers("Press run") == sorted(expected, reverse=True)[:12]
    assert any(row[4] for row in expected)


def test_liability(analysed: Analysed) -> None:
    rows = [(int(row["publication_id"]), row) for row in analysed.rows("subscriptions")]
    revenue = grouped([(of, Decimal(row["unearned_revenue"] or 0)) for of, row in rows])
    left = grouped([(of, Decimal(row["paid_issues_left"] or 0)) for of, row in rows])
    assert analysed.answers("Liability") == [(of, left[of], revenue[of]) for of in sorted(revenue)]
    assert all(revenue.values())


def test_the_notebook_has_the_queries_of_the_page_and_plots_them(analysed: Analysed) -> None:
    cells = ["".join(c["source"]) for c in NOTEBOOK["cells"] if c["cell_type"] == "code"]
    queries = [found[1] for cell in cells if (found := re.search(r'"""\n(.*)"""', cell, re.DOTALL))]
    assert queries == list(QUERIES.values())
    assert len(QUERIES) == 10
    plt.switch_backend("agg")
    names: dict[str, Any] = {}
    with chdir(analysed.folder):
        for cell in cells:
            exec(cell.replace("SET VARIABLE day = today()", SET_DAY), names)
            if '"""' in cell:
                assert plt.gcf().axes[0].has_data(), cell
                plt.close("all")
