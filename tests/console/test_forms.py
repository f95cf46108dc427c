"""Forms keep what was typed: beside an error, beside another operator, without a database."""

from __future__ import annotations

import html
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.console.forms import Form
from masthead.console.pages import PAGES
from masthead.store import audit
from masthead.web.forms import Choices, StaleError, seen_of, take_over
from tests.circulation.desk import at_desk
from tests.cli.running import spoil
from tests.console.browser import input_values, serving_console
from tests.console.conftest import fill
from tests.console.test_refusals import dump, path_of
from tests.long import MORE_WITH_EVERY, examples

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store


@pytest.fixture(scope="module")
def browser(console: Console) -> Browser:
    return console.signed_in("manager")


def test_an_error_is_beside_its_field_and_the_typed_values_are_kept(
    browser: Browser, desk: Desk
) -> None:
    path = "/subscribers/15/edit"
    before = dump(desk)
    form = input_values(browser.get(path).text)
    response = browser.post(path, {**form, "first_name": "B" * 60, "last_name": "Kept <b>"})
    assert response.status_code == 400
    assert '<a href="#first_name">' in " ".join(response.text.split())
    assert "The first name is longer than 50 characters." in response.text
    assert 'aria-describedby="first_name-error"' in response.text
    kept = input_values(response.text)
    assert kept["first_name"] == "B" * 60
    assert kept["last_name"] == "Kept <b>"
    assert dump(desk) == before


def test_a_new_email_address_is_one_to_which_a_mail_can_go(browser: Browser, desk: Desk) -> None:
    """One that came from a file stays as it is."""
    path = "/subscribers/19/edit"
    form = input_values(browser.get(path).text)
    for wrong in ("ada", "ada@example", "ada@@example.org", "ada lovelace@example.org"):
        response = browser.post(path, {**form, "email": wrong})
        assert response.status_code == 400
        assert "This is no email address: it should be like ada@example.org." in response.text
        assert input_values(response.text)["email"] == wrong
    desk.put("subscribers", subscriber_id=32, last_name="Files", email="none")
    path = "/subscribers/32/edit"
    form = input_values(browser.get(path).text)
    assert browser.post(path, {**form, "first_name": "Fay"}).status_code == 303
    assert desk.table("subscribers")[-1]["email"] == "none"
    new = {"bundle": "1", "payer_first_name": "Ada", "payer_email": "ada@example"}
    refused = browser.post("/orders/new", new)
    assert "This is no email address" in refused.text
    assert '<a href="#payer_email">' in " ".join(refused.text.split())


def test_the_limit_of_an_operation_is_said_beside_its_field(browser: Browser, desk: Desk) -> None:
    """The console repeats no limit: a command says the same sentence."""
    path = "/subscriptions/1/extend"
    before = dump(desk)
    form = input_values(browser.get(path).text)
    response = browser.post(path, {**form, "issues": "10001"})
    assert response.status_code == 400
    assert '<a href="#issues">' in " ".join(response.text.split())
    assert "Issues are a number from 1 to 10,000, not 10,001." in response.text
    response = browser.post(path, {**form, "issues": "-5"})
    assert "Issues are a number from 1 to 10,000, not -5." in response.text
    response = browser.post(path, {**form, "issues": "9" * 20})
    assert "Issues is a whole number." in response.text
    assert dump(desk) == before


def test_what_only_one_of_two_operators_changed_stays(console: Console, desk: Desk) -> None:
    """decisions, "Two operators at one record": each field has the value of who changed it."""
    path = "/subscribers/16/edit"
    first, second = console.signed_in("manager"), console.signed_in("clerk")
    opened = {browser: input_values(browser.get(path).text) for browser in (first, second)}
    saved = first.post(path, {**opened[first], "first_name": "Grace", "email": "g@example.org"})
    assert saved.status_code == 303
    also = second.post(path, {**opened[second], "last_name": "Hopper"})
    assert also.status_code == 303
    assert _names(desk, 16) == ("Grace", "Hopper")
    said = " ".join(second.get(also.headers["Location"]).text.split())
    assert "Somebody else changed First name, Email meanwhile, and that stays." in said


def test_who_changed_what_somebody_else_changed_too_is_asked_about_that_alone(
    console: Console, desk: Desk
) -> None:
    """decisions, "Two operators at one record": then the second one saves on purpose."""
    path = "/subscribers/18/edit"
    first, second = console.signed_in("manager"), console.signed_in("clerk")
    opened = {browser: input_values(browser.get(path).text) for browser in (first, second)}
    changed = {"first_name": "Grace", "last_name": "Murray", "email": ""}
    assert first.post(path, {**opened[first], **changed}).status_code == 303
    typed = {"first_name": "Hedy", "last_name": "Murray"}
    told = second.post(path, {**opened[second], **typed})
    assert told.status_code == 409
    assert "Somebody else changed this since you opened it" in told.text
    assert _rows(told.text) == [["First name", "Ada", "Grace", "Hedy"]]
    kept = input_values(told.text)
    assert (kept["first_name"], kept["last_name"], kept["email"]) == ("Hedy", "Murray", "")
    assert _names(desk, 18) == ("Grace", "Murray")
    again = second.post(path, kept)
    assert again.status_code == 303
    assert _names(desk, 18) == ("Hedy", "Murray")


def test_a_change_is_said_with_labels_and_in_words(console: Console, desk: Desk) -> None:
    path = "/subscriptions/1/set"
    first, second = console.signed_in("manager"), console.signed_in("clerk")
    opened = {
        browser: input_values(browser.get(path).text) | {"type": "Print", "campaign": "0"}
        for browser in (first, second)
    }
    assert first.post(path, {**opened[first], "campaign": "1"}).status_code == 303
    try:
        suspended = input_values(first.get("/subscriptions/1/suspend").text)
        suspended |= {"from_date": "2190-11-30", "to_date": "2190-12-01"}
        assert first.post("/subscriptions/1/suspend", suspended).status_code == 303
        told = second.post(path, {**opened[second], "copies": "2"})
        assert told.status_code == 409
        suspensions = "30 November 2190 to 1 December 2190"
        assert _rows(told.text) == [["Suspensions", "nothing", suspensions, ""]]
    finally:
        resumed = input_values(first.get("/subscriptions/1/resume").text)
        first.post("/subscriptions/1/resume", {**resumed, "from_date": "2190-11-30"})


def _rows(page: str) -> list[list[str]]:
    """Return the cells of the changes that a page shows."""
    import re  # noqa: PLC0415

    (table,) = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    return [
        [html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    ]


def _names(desk: Desk, key: int) -> tuple[object, ...]:
    (row,) = desk.rows(
        "SELECT first_name, last_name FROM subscribers "
        "WHERE account_id = :account_id AND subscriber_id = :key",
        key=key,
    )
    return row


def test_a_form_that_was_sent_without_what_it_had_shown_changes_nothing(
    browser: Browser, desk: Desk
) -> None:
    path = "/subscribers/17/edit"
    form = input_values(browser.get(path).text)
    before = dump(desk)
    for seen in ("", "{}", "[]", "rubbish", '{"first_name": 1}'):
        response = browser.post(path, {**form, "seen": seen, "first_name": "Eve"})
        assert response.status_code in {400, 409}
        assert "Eve" in response.text
    assert dump(desk) == before


VALUES = st.fixed_dictionaries(
    dict.fromkeys(
        ("first_name", "copies", "until", "depends"),
        st.none()
        | st.booleans()
        | st.integers(0, 2)
        | st.sampled_from(["a", " a", "a\r\nb", "a\nb", "1"])
        | st.lists(st.sampled_from("ab"), max_size=2),
    )
)


def _sent(value: object) -> str:
    """Return a value as a browser sends it."""
    if value is None or value is False:
        return ""
    text = ", ".join(sorted(value)) if isinstance(value, list) else str(value)
    return "1" if value is True else text.strip().replace("\r\n", "\n")


@examples(200, 10_000)
@given(VALUES, VALUES, VALUES)
def test_each_field_has_the_value_of_who_changed_it_and_only_what_both_changed_is_asked(
    then: dict[str, Any], now: dict[str, Any], typed: dict[str, Any]
) -> None:
    """decisions, "Two operators at one record"."""
    fields = {"first_name", "copies", "until"}
    form = Form({"seen": seen_of(then), **{name: _sent(typed[name]) for name in fields}})
    expected, asked = {}, set()
    for name, value in then.items():
        old, new, mine = _sent(value), _sent(now[name]), _sent(typed[name])
        is_asked = old != new and (name == "depends" or mine not in {old, new})
        if is_asked:
            asked.add(name)
        expected[name] = new if mine == old else mine
    found: set[str] = set()
    try:
        take_over(form, now, fields)
    except StaleError as error:
        found = {change.field for change in error.changes}
    assert found == asked
    assert {name: _sent(form[name]) for name in fields} == {name: expected[name] for name in fields}


def test_a_choice_has_changed_if_its_label_is_another_one() -> None:
    then = Choices([("1", "March"), ("2", "April")])
    form = Form({"seen": seen_of({"issue": then}), "issue": "2"})
    assert take_over(form, {"issue": Choices([("2", "April"), ("3", "May")])}, {"issue"}) == []
    for now in (Choices([("2", "June")]), Choices([("1", "March")])):
        with pytest.raises(StaleError):
            take_over(form, {"issue": now}, {"issue"})


TEXTS = st.one_of(
    st.sampled_from(
        (
            *(
                "",
                "0",
                "-1",
                "--5",
                "1",
                "1.005",
                "9" * 25,
                "0" * 25 + "5",
                "-0",
                "٣",
                "1e9",
                "nan",
            ),
            *("2026-02-30", "0001-01-01", "9999-12-31", "2190-01-01", "20260101", "1", "on"),
            *("9" * 18, "9" * 17 + ".99", "Infinity", "a\x00b", "\ud7ff", "é" * 60, "Print", "csv"),
        )
    ),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30),
)
FIELDS = (
    *(
        "seen",
        "sure",
        "first_name",
        "last_name",
        "email",
        "copies",
        "type",
        "kept",
        "from",
        "until",
    ),
    *("since", "days", "issues", "address", "zip_code", "city", "country", "amount", "paid_on"),
    *("form", "list", "grace_issues", "grace_from", "effort", "issues_left", "subscriber"),
    *("bundle", "quantity", "reference", "first_issue", "external_reference", "item", "reason"),
)


@MORE_WITH_EVERY
@pytest.mark.parametrize("path", [page.path for page in PAGES if page.method == "POST"])
def test_any_input_gets_a_sentence_and_never_a_fault(browser: Browser, path: str) -> None:
    """All fields of a page, and some that it does not have, with any text."""
    where = path_of(path)
    shown = browser.get(where)
    names = {*input_values(shown.text), *_selects(shown.text)} if shown.status_code == 200 else ()
    token = browser.token()

    @examples(10, 125)
    @given(st.dictionaries(st.sampled_from([*FIELDS, *sorted(names)]), TEXTS, max_size=12))
    def tried(form: dict[str, str]) -> None:
        form.pop("form_token", None)
        if path == "/issues/{id:int}/close":
            form.pop("sure", None)
        response = browser.post(where, form, token=token)
        assert response.status_code in {200, 303, 400, 404, 409}, (form, response.text)

    tried()


def _selects(text: str) -> list[str]:
    import re  # noqa: PLC0415

    return re.findall(r'<(?:select|textarea) [^>]*?name="([^"]*)"', text)


@examples(20, 1_000)
@given(
    text=TEXTS, name=st.sampled_from(["q", "before", "next", "account", "until", "issue", "day"])
)
def test_any_request_gets_a_page(browser: Browser, text: str, name: str) -> None:
    for path in ("/find", "/audit", "/lists", "/orders/new", "/reports/liability", "/sign-in"):
        response = browser.get(path, **{name: text})
        assert response.status_code in {200, 400, 404, 409}, (path, name, text)


def test_when_the_database_is_away_what_was_typed_is_kept_and_can_be_sent_again(
    store: Store,
) -> None:
    """The issue, 6: no session can be looked up then, and the form is still there."""
    with at_desk(store) as desk:
        fill(desk)
        with serving_console(desk.store) as console:
            console.add("manager")
            browser = console.signed_in("manager")
            path = "/subscribers/10/edit"
            form = {**input_values(browser.get(path).text), "first_name": "Typed <b> é"}
            with suppress(FileNotFoundError):
                spoil(store, _url(desk))
            response = browser.post(path, form, token=form["form_token"])
            assert response.status_code == 503
            assert "The database does not answer" in response.text
            assert "Typed &lt;b&gt; é" in response.text
            assert f'action="{path}"' in response.text
            assert {**form, **input_values(response.text)} == form
            assert "Traceback" not in response.text
            assert response.headers["Retry-After"]
            page = browser.get("/find", q="Ada")
            assert page.status_code == 503
            assert "The database does not answer" in page.text
            asked = console.browser().sign_in("manager", account="1", next="/find?q=Ada")
            assert asked.status_code == 503
            kept = input_values(asked.text)
            assert (kept["account"], kept["name"], kept["next"]) == ("1", "manager", "/find?q=Ada")
            assert html.unescape(asked.text).count("correct horse") == 0
            if store.kind == "postgresql":  # SQLite has the sessions in a file of their own.
                left = browser.post("/sign-out", {}, token=form["form_token"])
                assert left.status_code == 503
                assert "still signed in" in left.text


def _url(desk: Desk) -> str:
    found: Any = desk.store
    return str(getattr(found, "_url", "")) or f"sqlite:///{found.path}"


def test_a_mistyped_publication_does_not_select_the_letters_of_all(
    browser: Browser, desk: Desk
) -> None:
    """circulation, "Renewals": nothing is noted as sent, and the page says why."""
    before = dump(desk)
    response = browser.post("/renewals/send", {"publication": "one"})
    assert response.status_code == 400
    assert "The publication is a whole number." in response.text
    assert dump(desk) == before


def test_the_changes_of_a_subscriber_are_those_of_every_order(browser: Browser, desk: Desk) -> None:
    for order_id in range(101, 108):
        desk.put("orders", order_id=order_id, subscriber_id=21)
    with desk.store.writer() as database, database.transaction():
        actor = audit.Actor("ada", "order pay")
        audit.record(database, actor, "order 101 was set right: by hand", account_id=1)
    assert "An order was set right: by hand" in browser.get("/subscribers/21").text
