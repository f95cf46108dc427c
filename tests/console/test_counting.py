"""What the console counts over a whole account, and what servers count of partners' requests."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

import httpx2
import pytest
from openpyxl import load_workbook

from masthead.books import catalogue
from masthead.books.figures import figures_of
from masthead.console import account_figures
from masthead.console.account_figures import Asker, Counted, Counting
from masthead.errors import MastheadError
from masthead.store.request_counts import Count, RequestCounts, counts_of
from masthead.web.turns import BusyError
from tests.circulation.desk import at_desk
from tests.console.browser import input_values, serving_console, text_of
from tests.servers import Store, masthead, serving
from tests.store.conftest import Clock, new_url, opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser

TODAY = "2026-03-15"
DAY_US = 24 * 60 * 60 * 1_000_000
MINUTE_US = 60 * 1_000_000
ADA, BOB, EVE = Asker(1, 1), Asker(1, 2), Asker(1, 3)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count that a busy machine makes slow is not followed by a pause, which no test is about."""
    monkeypatch.setattr(account_figures, "_RESTS", 0)


@pytest.fixture(scope="module")
def small(store: Store) -> Iterator[Desk]:
    """Four readers of a monthly: paid, unpaid, without an address, and one who is gone."""
    with at_desk(store) as desk:
        desk.to(TODAY)
        desk.put("publications", publication_id=1, name="Tide", credit_issues=1)
        desk.put("issues", issue_id=1, publication_id=1, name="April", date="2026-04-01")
        names = ("subscription_id", "type", "copies", "issues", "mailing_address_id", "cancelled")
        for row in (
            (1, "Print", 2, 5, 1, None),
            (2, "Both", 1, 3, 2, None),
            (3, "Print", 1, 4, None, None),
            (4, "Digital", 1, 0, 4, "2026-03-02"),
        ):
            found = dict(zip(names, row, strict=True))
            key = found["subscription_id"]
            desk.put("subscribers", subscriber_id=key, last_name=f"Reader {key}")
            if found["mailing_address_id"]:
                desk.put("addresses", address_id=key, subscriber_id=key, address=f"{key} Quay")
            cancelled = found.pop("cancelled")
            desk.put(
                "subscriptions",
                subscriber_id=key,
                publication_id=1,
                begins_on="2026-01-01",
                date_created="2026-03-01" if key == 1 else "2026-01-01",
                cancelled_on=cancelled,
                renew_campaign_active=1,
                **found,
            )
        desk.put("orders", order_id=7, subscriber_id=2)
        desk.put("order_items", order_item_id=7, order_id=7, bundle_id=1)
        term: dict[str, int | str] = {"issues": 4, "price": 4000, "kind": "paid"}
        desk.put("terms", term_id=1, subscription_id=1, issues_left=3, paid_on="2026-03-01", **term)
        desk.put("terms", term_id=2, subscription_id=2, order_item_id=7, issues_left=3, **term)
        for number, kind, cents in ((1, "received", 4000), (2, "earned", 1000)):
            desk.put(
                "revenue",
                revenue_id=number,
                term_id=1,
                kind=kind,
                cents=cents,
                booked_on="2026-03-01",
            )
        yield desk


def test_the_figures_equal_those_counted_by_hand(small: Desk) -> None:
    """rules, "What the console counts"."""
    found = figures_of(small.books)
    (run,) = found.previews.values()
    held = [(each.subscription_id, each.why) for each in run.held]
    assert (run.printed, run.digital, held) == (1, 0, [(2, "unpaid")])
    assert [each.subscription_id for each in found.without_address] == [3]
    assert [each.order_id for each in found.unpaid] == [7]
    assert (found.without_address_in_all, found.unpaid_in_all, found.due) == (1, 1, {7: 4000})
    assert (found.new, found.lost, found.liability, found.letters) == (1, 1, 3000, 0)
    assert found.failed_loads == []
    assert not found.complaints
    assert not found.disputed


def test_complaints_and_disputes_are_on_the_first_page(small: Desk) -> None:
    """decisions, "Disputed orders"."""
    small.put("complaints", complaint_id=1, subscriber_id=1, subscription_id=1, issue_id=1,
              kind="lost", answer="nothing")  # fmt: skip
    with small.store.writer() as database, database.transaction():
        database.change("UPDATE orders SET disputed_on = '2026-03-03', dispute = 'Too dear'")
    with serving_console(small.store) as console:
        console.add("dee")
        said = text_of(until(console.signed_in("dee"), "/", "in dispute"))
    with small.store.writer() as database, database.transaction():
        database.change("DELETE FROM complaints")
        database.change("UPDATE orders SET disputed_on = NULL, dispute = NULL")
    assert "1 complaint about the issues of 60 days" in said
    assert "April : 1 lost" in said
    assert "Reader 2 , since 3 March 2026: Too dear" in said


def test_the_page_shows_the_figures_as_soon_as_they_are_counted(small: Desk) -> None:
    """rules, "What the console counts": the page itself never waits for them to the end."""
    with serving_console(small.store) as console:
        console.add("ada")
        browser = console.signed_in("ada")
        shown = until(browser, "/", "owed to readers")
    assert ">30.00 USD<" in shown
    assert "1 printed subscription has no address" in shown
    assert "1 order is unpaid and served no more" in shown
    said = text_of(shown)
    assert "Reader 2 , 40.00 USD" in said


def test_everybody_sees_what_closing_gives_and_who_may_close(small: Desk) -> None:
    """rules, "What the console counts": the same as on the first page."""
    with serving_console(small.store) as console:
        console.add("vic", "viewer")
        browser = console.signed_in("vic")
        shown = text_of(until(browser, "/issues/1", "Without grace"))
        today = text_of(until(browser, "/", "owed to readers"))
        new, lost = (
            text_of(until(browser, f"/this-month/{e}", "Counted")) for e in ("new", "lost")
        )
        for path, sentence in (
            ("/issues", "Closing: a manager."),
            ("/renewals", "Sending and changing letters: a manager."),
            ("/partners", "Giving and ending access: a manager."),
            ("/orders/7", "Refunds and allowances: finance or a manager."),
            ("/orders/7", "Payments: a clerk, finance or a manager."),
        ):
            assert sentence in text_of(browser.get(path).text)
    assert "Reader 1 Tide" in new
    assert "Digital 2 March 2026 cancelled" in lost
    (run,) = figures_of(small.books).previews.values()
    for text in (
        f"{run.printed} printed copies",
        f"{run.digital} digital copies",
        f"{len(run.held)} held",
        "Reader 2 its order is not paid",
        "Closing, mail files, gap lists and reopening: a manager.",
    ):
        assert text in shown
    assert f"1 April 2026 {run.printed} {run.digital} {len(run.held)} " in today


def test_a_report_is_shown_as_soon_as_it_is_counted(small: Desk) -> None:
    """rules, "What the console counts": the page itself never waits for it to the end."""
    with serving_console(small.store) as console:
        console.add("bob")
        browser = console.signed_in("bob")
        shown = until(browser, "/reports/liability", "30.00")
        assert "/reports/liability/csv" in shown
        assert "30.00" in browser.get("/reports/liability/csv").text
        workbook = browser.get("/reports/liability/xlsx")
        assert workbook.headers["content-disposition"] == 'attachment; filename="liability.xlsx"'
        sheet = load_workbook(io.BytesIO(workbook.content))["Liability"]
        assert 30 in [cell.value for row in sheet.iter_rows() for cell in row]
        plot = browser.get("/reports/liability/plot.svg")
        assert plot.headers["content-type"] == "image/svg+xml"
        for path, sentence in (
            ("/reports/liability?day=2190-01-01", "2190-01-01 is still to come; today is"),
            ("/reports/press-run?issue=77", "There is no such issue"),
            ("/reports/press-run?issue=x", "An issue is chosen by its number."),
        ):
            until(browser, path, sentence)
            assert browser.get(path).status_code == 400
            assert browser.get(path.replace("?", "/csv?")).status_code == 400


def test_letters_are_due_and_not_due_at_once(small: Desk) -> None:
    """rules, "What the console counts": what the change feed does not show counts too."""
    with serving_console(small.store) as console:
        console.add("eve", "manager")
        browser = console.signed_in("eve")
        token = until(browser, "/renewals", "No letter is due today").partition(TOKEN)[2]
        token = token.partition('"')[0]
        effort = input_values(browser.get("/renewals/1/effort").text)
        typed = {"effort": "1", "issues_left": "5", "remove": ""}
        saved = browser.post("/renewals/1/effort", {**effort, **typed})
        assert saved.status_code == 303, saved.text
        due = until(browser, "/renewals", "In all")
        assert ">2</td>" in due[due.index("In all") :]
        shown = browser.post("/renewals/send", {"publication": ""}, token=token)
        letters = browser.post("/renewals/send", input_values(shown.text))
        assert letters.text.count("\r\n") == 3
        until(browser, "/renewals", "No letter is due today")


TOKEN = 'name="form_token" value="'


def until(browser: Browser, path: str, text: str) -> str:
    """Look at a page until it shows the text; return it, its blanks as single ones."""
    pages = (" ".join(browser.get(path).text.split()) for _ in range(1_000))
    found = next((page for page in pages if text in page), None)
    assert found, f"{path} does not show {text!r}"
    return found


class Work:
    """Counts how often it was called; it returns that, once it is let go."""

    def __init__(self) -> None:
        self.calls = 0
        self.may_end = threading.Event()
        self.may_end.set()

    def __call__(self) -> int:
        self.calls += 1
        self.may_end.wait()
        return self.calls


def test_what_was_counted_stays_until_something_changes_or_a_minute_is_over(
    small: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "What the console counts"."""
    monkeypatch.setattr(account_figures, "_WAIT_S", 30)
    counting, work = Counting(small.store), Work()
    begun = small.now
    first = counting.of(ADA, "it", work)
    assert (first.value, first.is_current) == (1, True)
    assert first.at is not None
    assert begun < first.at <= small.now
    small.now = first.at + MINUTE_US - 1
    assert counting.of(ADA, "it", work) == first
    assert counting.of(ADA, "it", work).value == 2
    change(small)
    assert counting.of(ADA, "it", work).value == 3
    assert counting.of(ADA, "something else", work).value == 4
    assert counting.of(ADA, "it", work).value == 3


def test_what_was_counted_while_the_clock_was_ahead_is_counted_again(
    small: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a page would show it until the clock is there again."""
    monkeypatch.setattr(account_figures, "_WAIT_S", 30)
    counting, work = Counting(small.store), Work()
    right = small.now
    small.now += 60 * MINUTE_US
    assert counting.of(ADA, "it", work).value == 1
    small.now = right
    change(small)
    assert counting.of(ADA, "it", work).value == 2
    small.now += 120 * MINUTE_US
    assert counting.for_download(ADA, "it", work) == 2
    change(small)
    small.now -= 60 * MINUTE_US
    assert counting.for_download(ADA, "it", work) == 3


def change(desk: Desk) -> None:
    """Change something that the change feed does not show."""
    catalogue.set_values(desk.books, "publication", 1, {"name": f"Tide {desk.now}"})


def test_a_page_does_not_wait_for_the_end_and_one_thread_counts(small: Desk) -> None:
    """rules, "What the console counts"."""
    counting, work = Counting(small.store), Work()
    work.may_end.clear()
    for _ in range(3):
        assert counting.of(ADA, "it", work) == Counted(None, None, is_current=False)
    assert work.calls == 1
    work.may_end.set()
    assert counting.for_download(ADA, "it", work) == 1
    assert work.calls == 1


def test_a_file_has_what_was_changed_before_it_was_asked_for(small: Desk) -> None:
    """rules, "What the console counts": a page may show what was counted before a change."""
    counting, work = Counting(small.store), Work()
    work.may_end.clear()
    assert counting.of(ADA, "it", work).value is None
    change(small)
    threading.Timer(0, work.may_end.set).start()
    assert counting.for_download(ADA, "it", work) == 2


def test_what_cannot_be_counted_is_said_and_tried_again(small: Desk) -> None:
    counting, work = Counting(small.store), Work()

    def fail() -> int:
        raise MastheadError("the database is gone")

    assert counting.of(ADA, "it", fail).value is None
    with pytest.raises(MastheadError, match="could not be counted"):
        counting.for_download(ADA, "it", fail)
    assert counting.for_download(ADA, "it", work) == 1


def test_two_counts_run_at_once_one_for_each_operator_and_others_wait(small: Desk) -> None:
    """decisions, "Turns of the console": and who waits for too many gets no more."""
    counting = Counting(small.store)
    works = [Work() for _ in range(10)]
    for work in works:
        work.may_end.clear()
    asked = [counting.of(ADA, number, work) for number, work in enumerate(works[:7])]
    assert [each.is_waiting for each in asked] == [False, *[True] * 6]
    assert [len(counting._waiting[ADA]), sum(work.calls for work in works)] == [5, 1]
    assert not counting.of(BOB, "bob", works[8]).is_waiting
    assert counting.of(EVE, "eve", works[9]).is_waiting, "two of all operators are counted"
    with pytest.raises(BusyError):
        counting.for_download(ADA, "a file", works[7])
    assert counting.of(BOB, 0, works[0]).is_waiting is False, "another's count of the same figure"
    for work in works:
        work.may_end.set()
    assert counting.for_download(EVE, "eve", works[9]) == 1
    assert [counting.for_download(ADA, number, works[number]) for number in range(6)] == [1] * 6
    assert counting._tasks == {}
    assert [works[6].calls, works[7].calls] == [0, 0], "these found no place"


def test_what_was_counted_longest_ago_is_dropped(
    small: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_figures, "_KEPT_MAX", 3)
    counting, work = Counting(small.store), Work()
    for number in range(5):
        counting.for_download(ADA, number, work)
    assert list(counting._kept) == [(1, number) for number in (2, 3, 4)]


def test_requests_are_counted_by_operation_for_the_account_that_asked(store: Store) -> None:
    """rules, "Requests of partners are counted": a server writes them at its end."""
    with new_url(store) as url:
        masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
        with serving(url) as server:
            ours, wrong = ("key", "login"), ("key", "wrong")
            for path, credentials in (
                ("/2/subscriptions/", ours),
                ("/2/subscriptions/?limit=0", ours),
                ("/2/orders/7", ours),
                ("/2/orders/7", wrong),
                ("/health", ours),
            ):
                httpx2.get(server.url + path, auth=credentials)
        with opening(url) as opened:
            found = counts_of(opened, 1)
        assert [count[:3] for count in found] == [
            ("list_subscriptions", 2, 1),
            ("get_order", 1, 1),
        ]


def test_counts_of_a_month_ago_are_deleted(store: Store) -> None:
    """rules, "Requests of partners are counted"."""
    clock = Clock()
    with new_url(store) as url, opening(url, clock) as opened:
        counts = RequestCounts()
        counts.note(1, "changes", 200, clock())
        counts.write(opened)
        assert counts_of(opened, 1) == [Count("changes", 1, 0, clock())]
        counts.note(1, "changes", 410, clock())
        counts.write(opened)
        assert counts_of(opened, 1)[0].requests == 1, "it is written once a minute"
        clock.now += MINUTE_US
        counts.write(opened)
        assert counts_of(opened, 1)[0][:3] == ("changes", 2, 1)
        clock.now += 31 * DAY_US
        counts.note(1, "get_order", 200, clock())
        counts.write(opened)
        with opened.counters() as database:
            database.set_tenant(1)
            rows = database.rows("SELECT operation FROM request_counts WHERE account_id = 1")
        assert rows == [("get_order",)]
