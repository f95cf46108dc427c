"""Operation 3: which login and password fit which subscriber."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.callers import ids

if TYPE_CHECKING:
    from tests.api.callers import Caller

PATH = "/2/subscribers/authenticate/"
NO = {"authenticated": False}


def who(logins: Caller, login: str, password: str) -> str | None:
    """Return the first name of the subscriber who is let in, or None."""
    content: dict[str, Any] = logins.read(PATH, login=login, password=password)
    if content == NO:
        return None
    assert list(content) == ["authenticated", "subscribers"]
    assert content["authenticated"] is True
    name: str = content["subscribers"]["first_name"]
    return name


@pytest.mark.parametrize(
    "login", ["Ann@Example.org", "ann@example.org", "ANN@EXAMPLE.ORG", "aNN@eXAMPLE.oRG"]
)
def test_an_email_in_any_ascii_letter_case_with_the_password(logins: Caller, login: str) -> None:
    """rules, "Login check"."""
    assert who(logins, login, "Secret") == "Ann"


@pytest.mark.parametrize(
    ("login", "password"),
    [
        ("KELVIN@example.org", "p23"),
        ("STRAßE@example.org", "p24"),
        ("é@EXAMPLE.ORG", "p25"),
        ("ISTANBUL@EXAMPLE.ORG", "p26"),
    ],
)
def test_ascii_letters_alone_are_folded(logins: Caller, login: str, password: str) -> None:
    """rules, "Login check": ASCII letter case ignored."""
    assert who(logins, login, password) is not None


@pytest.mark.parametrize(
    ("login", "password"),
    [
        ("\u212aelvin@example.org", "p23"),  # the sign of kelvin, which Unicode folds to k
        ("STRASSE@example.org", "p24"),
        ("strasse@example.org", "p24"),
        ("stra\u1e9ee@example.org", "p24"),  # capital sharp s
        ("\u00c9@example.org", "p25"),
        ("e\u0301@example.org", "p25"),
        ("\u0130stanbul@example.org", "p26"),
        ("\u0131stanbul@example.org", "p26"),
        ("i\u017ftanbul@example.org", "p26"),  # long s
        ("istanbul\uff20example.org", "p26"),  # fullwidth @
        ("istanbul@example\u3002org", "p26"),
    ],
)
def test_no_address_passes_for_another_by_unicode(
    logins: Caller, login: str, password: str
) -> None:
    """rules, "Login check": never Unicode folding or normalisation."""
    assert who(logins, login, password) is None


@pytest.mark.parametrize(
    "password", ["secret", "SECRET", "Secret ", " Secret", "Secre", "Secret*", "*", "%", "p2"]
)
def test_a_password_is_compared_exactly(logins: Caller, password: str) -> None:
    """interface, operation 3."""
    assert who(logins, "ann@example.org", password) is None


def test_a_password_outside_ascii_is_compared_as_utf8(logins: Caller) -> None:
    """interface, Subscriber: ``password_md5`` is the MD5 digest of the password."""
    assert who(logins, "unipw@example.org", "pässwörd 😀 ") == "Unipw"
    assert who(logins, "unipw@example.org", "pässwörd 😀") is None
    assert who(logins, "unipw@example.org", "pa\u0308sswo\u0308rd 😀 ") is None


@pytest.mark.parametrize("change", [str.lower, str.upper])
def test_the_digest_is_not_accepted_as_a_password(logins: Caller, change: Any) -> None:
    """rules, "Login check"."""
    digest = hashlib.md5(b"Secret").hexdigest()
    assert who(logins, "ann@example.org", change(digest)) is None


@pytest.mark.parametrize("code", ["AbC12", "abc12", "ABC12", "aBc12"])
def test_a_renewal_code_in_any_letter_case_with_the_postal_code(logins: Caller, code: str) -> None:
    """rules, "Login check"."""
    assert who(logins, code, "00501") == "Ann"


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("ZIP09", "12345-6789"),
        ("ZIP09", "123456789"),
        ("ZIP09", "12345 6789"),
        ("ZIP09", " 12345-6789 "),
        ("ZIP09", "12345"),
        ("ZIP05", "54321"),
        ("ZIP05", "54321-0001"),
        ("ZIP05", "543210001"),
        ("UKGB1", "SW1A 1AA"),
        ("UKGB1", "sw1a1aa"),
        ("UKGB1", "sw1a-1AA"),
        ("CAN01", "K1A 0B1"),
        ("CAN01", "k1a0b1"),
        ("SIX06", "123456"),
        ("SIX06", "123 456"),
        ("EIGHT", "12345678"),
        ("EIGHT", "12345-678"),
        ("TWOAD", "44444"),
        ("TWOAD", "55555"),
        ("TWOAD", "55555-0000"),
        ("PERC%", "66666"),
    ],
)
def test_postal_codes_that_fit(logins: Caller, code: str, given: str) -> None:
    """rules, "Login check": spaces, hyphens, letter case, ZIP+4, any address."""
    assert who(logins, code, given) is not None


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("ZIP09", "12345-0000"),
        ("ZIP09", "123450000"),
        ("ZIP09", "1234"),
        ("ZIP09", "12345-678"),
        ("ZIP09", "12346"),
        ("ZIP05", "54321-00"),
        ("ZIP05", "5432"),
        ("ZIP05", "05432"),
        ("UKGB1", "SW1A"),
        ("UKGB1", "SW1A 1AB"),
        ("SIX06", "12345"),
        ("EIGHT", "12345"),
        ("AbC12", "501"),
        ("AbC12", "0050*"),
        ("AbC12", "%"),
        ("TWOAD", "44444-1"),
        ("TWOAD", "11111"),
        ("PERC_", "66666"),
        ("PERC*", "66666"),
        ("%", "66666"),
        ("_____", "66666"),
        ("*", "00501"),
    ],
)
def test_postal_codes_and_codes_that_do_not_fit(logins: Caller, code: str, given: str) -> None:
    """rules, "Login check": the five digits decide only where one side has no more."""
    assert who(logins, code, given) is None


@pytest.mark.parametrize(("login", "password"), [("ann@example.org", "00501"), ("AbC12", "Secret")])
def test_the_pairs_are_not_mixed(logins: Caller, login: str, password: str) -> None:
    """interface, operation 3: email with password, or renewal code with postal code."""
    assert who(logins, login, password) is None


@pytest.mark.parametrize(
    ("login", "password"),
    [
        ("nozip@example.org", ""),
        ("NOZIP", ""),
        ("NOZIP", "-"),
        ("DASH0", "-"),
        ("DASH0", " "),
        ("DASH0", ""),
        ("NOADR", ""),
        ("NOADR", " "),
        ("nopwd@example.org", ""),
        ("nopwd@example.org", " "),
        ("emptymd5@example.org", ""),
        ("", "p11"),
        ("", ""),
        (" ", "p11"),
    ],
)
def test_nothing_never_fits_nothing(logins: Caller, login: str, password: str) -> None:
    """rules, "Login check": empty login, empty password, an empty stored value."""
    assert who(logins, login, password) is None


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"login": "ann@example.org"},
        {"password": "Secret"},
        {"login": "emptymd5@example.org"},
        {"login": "", "password": "Secret"},
        {"login": "ann@example.org", "password": ""},
    ],
)
def test_an_omitted_or_empty_value_is_not_an_error(
    logins: Caller, parameters: dict[str, str]
) -> None:
    """rules, "Login check": ``{"authenticated": false}``."""
    assert logins.answer(PATH, **parameters) == '{"authenticated":false}'
    assert logins.ask_with_body(PATH, parameters).content == b'{"authenticated":false}'


def test_json_null_is_an_omitted_login(logins: Caller) -> None:
    """rules, "Body of a GET": null is absent."""
    response = logins.ask_with_body(PATH, {"login": None, "password": None})
    assert response.json() == NO


@pytest.mark.parametrize(("login", "password"), [("gone@example.org", "p12"), ("GONE1", "22222")])
def test_a_deleted_subscriber_is_not_let_in(logins: Caller, login: str, password: str) -> None:
    """rules, "Login check"."""
    assert who(logins, login, password) is None


def test_of_several_the_one_with_a_running_subscription_comes_first(logins: Caller) -> None:
    """rules, "Login check": then the lowest id."""
    assert who(logins, "shared@example.org", "together") == "OpenLow"
    assert who(logins, "SHARED@example.org", "apart") == "OtherPassword"


def test_of_several_without_a_running_subscription_the_lowest_id_comes_first(
    logins: Caller,
) -> None:
    """rules, "Login check"."""
    assert who(logins, "expired@example.org", "together") == "BothExpiredLow"


def test_a_subscription_without_end_is_running(logins: Caller) -> None:
    """rules, "Login check": ``date_expired`` null."""
    assert who(logins, "nosub@example.org", "together") == "FutureHigh"


def test_a_subscription_runs_until_the_end_of_its_last_day(logins: Caller, today: str) -> None:
    """rules, "Login check": today in UTC or later."""
    if datetime.now(UTC).date().isoformat() != today:
        pytest.skip("midnight passed in UTC after the data was made")
    assert who(logins, "until@example.org", "together") == "ExpiresTodayHigh"


def test_a_deleted_one_does_not_stand_before_a_living_one(logins: Caller) -> None:
    """rules, "Login check": the deleted one has the lower id and a running subscription."""
    assert who(logins, "onelives@example.org", "together") == "LivingHigh"


def test_nested_subscriptions_and_issues_are_in_order_of_id(logins: Caller) -> None:
    """rules, "Login check": as numbers, expired ones included."""
    content = logins.read(PATH, login="ann@example.org", password="Secret")
    subscriptions = content["subscribers"]["subscriptions"]
    assert ids(subscriptions, "subscription_id") == [9, 10, 100]
    assert ids(subscriptions[0]["issues"], "issue_id") == [9, 10, 100]
    assert subscriptions[2]["issues"] is None


@given(st.data())
def test_any_spelling_of_ascii_letters_fits(logins: Caller, data: st.DataObject) -> None:
    """rules, "Login check", for every spelling of an address and a code."""
    for login, password in (("Ann@Example.org", "Secret"), ("AbC12", "0 05-01")):
        spelled = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in login)
        assert who(logins, spelled, password) == "Ann"


@given(password=st.text())
def test_no_other_password_fits(logins: Caller, password: str) -> None:
    """rules, "Login check", for every text."""
    if password != "Secret" and "\x00" not in password:
        assert who(logins, "ann@example.org", password) is None


def test_parameters_may_come_in_a_body(logins: Caller) -> None:
    """decisions, "Where parameters travel"."""
    content = {"login": "ann@example.org", "password": "Secret"}
    wanted = logins.answer(PATH, **content)
    assert logins.ask_with_body(PATH, content).text == wanted
    assert logins.ask_with_body(PATH, [content]).text == wanted
    form = "login=ann%40example.org&password=Secret"
    assert logins.ask_with_form(PATH, form).text == wanted


def test_the_login_goes_on_working_where_the_digest_is_hidden(hidden: Caller) -> None:
    """decisions, "Passwords"."""
    assert who(hidden, "hidden@example.org", "secret") == "Hidden"
    assert who(hidden, "hidden@example.org", "Secret") is None
