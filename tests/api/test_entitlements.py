"""``GET /entitlements`` and the public keys, over a real server on each database."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx2
import jwt
import pytest

from masthead.store import open_store
from masthead.store.entitlement_codes import make_code
from tests.api.callers import Caller, error_of
from tests.servers import import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Server, Store

PATH = "/entitlements"
JWKS = "/.well-known/jwks.json"
NO = {"authenticated": False}
ANN = {"login": "ann@example.org", "password": "Secret"}
A_DAY_S = 86_400


class Paywall:
    """A server with two accounts: 1 has a key, 2 has none; and the callers of both."""

    def __init__(self, database: str, server: Server) -> None:
        self.database = database
        self.server = server
        self.one, self.two = (Caller(server, f"key-{n}", f"login-{n}") for n in (1, 2))

    def code(self, subscriber_id: int, account_id: int = 1) -> str:
        """Return a one-time code, as the readers' pages make it."""
        store = open_store(self.database)
        try:
            return make_code(store, account_id, subscriber_id)
        finally:
            store.close()

    def keys(self) -> list[dict[str, str]]:
        """Return the published keys."""
        response = httpx2.get(self.server.url + JWKS)
        assert response.status_code == 200
        found: list[dict[str, str]] = response.json()["keys"]
        return found

    def claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token, checked as a site does."""
        keys = jwt.PyJWKClient(self.server.url + JWKS)
        key = keys.get_signing_key_from_jwt(token)
        found: dict[str, Any] = jwt.decode(
            token, key, algorithms=["ES256"], audience="account-1", issuer=self.server.url
        )
        return found


def day(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


@pytest.fixture(scope="module")
def paywall(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paywall]:
    """Readers with each kind of subscription."""
    database = store.new_database("paywall")
    folder = tmp_path_factory.mktemp("paywall")
    for number in (1, 2):
        pair = (f"--api-key=key-{number}", f"--api-login=login-{number}")
        masthead("accounts", "add", number, *pair, database=database)
    subscription = {"subscriber_id": 1, "publication_id": 1, "issues": 5, "copies": 1}
    files = {
        "publications": [
            {"publication_id": 1, "name": "The Weekly"},
            {"publication_id": 2, "name": "Metal & Lathe"},
        ],
        "subscribers": [
            {"subscriber_id": 1, "email": "Ann@example.org", "password": "Secret"}
            | {"renewal_code": "AbC12"},
            {"subscriber_id": 2, "email": "ben@example.org", "password": "other"},
            {"subscriber_id": 3, "email": "gone@example.org", "password": "gone"},
        ],
        "addresses": [{"address_id": 1, "subscriber_id": 1, "zip_code": "00501"}],
        "subscriptions": [
            {**subscription, "subscription_id": 1, "type": "Both", "date_expired": day(40)},
            {**subscription, "subscription_id": 2, "publication_id": 2, "type": "Digital"},
            {**subscription, "subscription_id": 3, "subscriber_id": 2, "type": "Print"}
            | {"date_expired": day(-1)},
        ],
    }
    for account_id in ("1", "2"):
        import_files(
            *write_ndjson(folder / account_id, files), account_id=account_id, database=database
        )
    masthead("remove", "subscribers", 3, "--account", 1, database=database)
    with serving(database, "--login-failures", "3", "--rate-limit", "1000") as server:
        masthead("entitlements", "rotate", 1, "--issuer", server.url, database=database)
        paywall = Paywall(database, server)
        yield paywall
        for caller in (paywall.one, paywall.two):
            caller.close()


def test_a_login_gets_what_the_reader_may_read(paywall: Paywall) -> None:
    """rules, "What a reader may read"; the whole response, of which the token alone varies."""
    content = json.loads(paywall.one.answer(PATH, **ANN))
    token = content["reader"].pop("token")
    entitled: list[dict[str, str | None]] = [
        {
            "publication_id": "1",
            "publication": "The Weekly",
            "format": format_,
            "until": day(40),
        }
        for format_ in ("digital", "print")
    ]
    entitled.append(
        {
            "publication_id": "2",
            "publication": "Metal & Lathe",
            "format": "digital",
            "until": None,
        }
    )
    assert content == {
        "authenticated": True,
        "reader": {
            "subscriber_id": "1",
            "expires_in": "86400",
            "entitlements": entitled,
        },
    }
    claims = paywall.claims(token)
    assert list(claims) == ["iss", "sub", "aud", "iat", "exp", "entitlements"]
    assert claims["entitlements"] == entitled
    assert claims["exp"] - claims["iat"] == A_DAY_S
    assert abs(claims["iat"] - datetime.now(UTC).timestamp()) < 60
    assert re.fullmatch("[0-9a-f]{32}", claims["sub"])
    assert jwt.get_unverified_header(token).keys() == {"alg", "kid", "typ"}


def test_each_login_of_a_reader_has_the_same_id(paywall: Paywall) -> None:
    by_code = paywall.one.read(PATH, login="abc12", password="00501")
    by_email = paywall.one.read(PATH, **ANN)
    by_one_time_code = paywall.one.read(PATH, code=paywall.code(1))
    subjects = {
        paywall.claims(each["reader"]["token"])["sub"]
        for each in (by_code, by_email, by_one_time_code)
    }
    assert len(subjects) == 1


def test_parameters_travel_in_a_body_too(paywall: Paywall) -> None:
    """decisions, "Where parameters travel": a password in a body is in no log of addresses."""
    for response in (
        paywall.one.ask_with_form(PATH, "login=ann%40example.org&password=Secret"),
        paywall.one.ask_with_body(PATH, ANN),
        paywall.one.ask_with_body(PATH, {"code": paywall.code(1)}),
    ):
        assert response.json()["authenticated"] is True


def test_a_reader_without_a_subscription_gets_an_empty_list_for_an_hour(paywall: Paywall) -> None:
    content = paywall.one.read(PATH, login="ben@example.org", password="other")
    assert content["reader"]["entitlements"] == []
    assert content["reader"]["expires_in"] == "3600"
    assert paywall.claims(content["reader"]["token"])["entitlements"] == []


@pytest.mark.parametrize(
    "given",
    [
        {"login": "ann@example.org", "password": "wrong-1"},
        {"login": "nobody@example.org", "password": "Secret"},
        {"login": "gone@example.org", "password": "gone"},
        {"login": "ann@example.org"},
        {"password": "Secret"},
        {},
        {"code": "x" * 32},
        {"code": ""},
    ],
)
def test_all_refusals_are_alike(paywall: Paywall, given: dict[str, str]) -> None:
    """rules, "The same response for an unknown login"."""
    assert paywall.one.read(PATH, **given) == NO


def test_a_code_works_once(paywall: Paywall) -> None:
    """decisions, "One-time codes"."""
    code = paywall.code(1)
    assert paywall.one.read(PATH, code=code)["reader"]["subscriber_id"] == "1"
    assert paywall.one.read(PATH, code=code) == NO


def test_a_code_of_a_deleted_reader_is_refused(paywall: Paywall) -> None:
    assert paywall.one.read(PATH, code=paywall.code(3)) == NO


def test_a_code_is_not_given_beside_a_login(paywall: Paywall) -> None:
    code = paywall.code(1)
    for name in ("login", "password"):
        sentence = paywall.one.refusal(400, PATH, code=code, **{name: "x"})
        assert sentence == "code: give a code, or a login with a password, not both"
    assert paywall.one.ask(PATH, method="HEAD", code=code).status_code == 400
    assert paywall.one.read(PATH, code=code)["authenticated"] is True, "it was not used up"


def test_an_account_without_a_key_has_no_entitlements(paywall: Paywall) -> None:
    """decisions, "Entitlements": the password is not even looked at."""
    expected = "its publisher has to switch them on"
    for _ in range(5):
        assert expected in paywall.two.refusal(404, PATH, **{**ANN, "password": "wrong"})
    code = paywall.code(1, account_id=2)
    assert expected in paywall.two.refusal(404, PATH, code=code)


def test_a_code_of_another_account_is_refused(paywall: Paywall) -> None:
    assert paywall.one.read(PATH, code=paywall.code(1, account_id=2)) == NO


def test_it_needs_the_credentials_of_a_partner(paywall: Paywall) -> None:
    response = httpx2.get(paywall.server.url + PATH, params=ANN)
    assert "this needs credentials" in error_of(response, 401)
    stranger = Caller(paywall.server, "key-1", "wrong")
    assert stranger.refusal(403, PATH, **ANN)
    stranger.close()


def test_guesses_count_with_those_of_the_login_check(paywall: Paywall) -> None:
    """decisions, "Limits of the login check": three here, in either operation."""
    login = "guessed@example.org"
    check = "/2/subscribers/authenticate/"
    for number, path in enumerate((PATH, check, PATH)):
        assert paywall.one.read(path, login=login, password=f"guess-{number}") == NO
    for path in (PATH, check):
        response = paywall.one.ask(path, login=login, password="guess-4")
        assert "too many logins have failed" in error_of(response, 429)
        assert int(response.headers["Retry-After"]) > 0


def test_a_mistyped_parameter_is_refused(paywall: Paywall) -> None:
    sentence = paywall.one.refusal(400, PATH, pasword="x")
    assert sentence == "there is no parameter 'pasword' here; the nearest is 'password'"


def test_the_public_keys_need_no_credentials_and_show_nothing_else(paywall: Paywall) -> None:
    """RFC 7517; decisions, "Keys of entitlements"."""
    response = httpx2.get(paywall.server.url + JWKS)
    assert response.headers["Content-Type"] == "application/jwk-set+json"
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert list(response.json()) == ["keys"]
    (key,) = response.json()["keys"]
    assert list(key) == ["kid", "use", "alg", "kty", "crv", "x", "y"]
    assert (key["use"], key["alg"], key["kty"], key["crv"]) == ("sig", "ES256", "EC", "P-256")
    assert httpx2.get(paywall.server.url + JWKS + "/").status_code == 200
    assert httpx2.head(paywall.server.url + JWKS).content == b""
    assert httpx2.post(paywall.server.url + JWKS).status_code == 405


def test_the_signature_is_checked_by_another_library(paywall: Paywall) -> None:
    """RFC 7515, section 5.2, without PyJWT: the raw signature is r and s."""
    from base64 import urlsafe_b64decode  # noqa: PLC0415

    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    def raw(text: str) -> bytes:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))

    (jwk,) = paywall.keys()
    x, y = (int.from_bytes(raw(jwk[name])) for name in ("x", "y"))
    key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    signed, _, signature = paywall.one.read(PATH, **ANN)["reader"]["token"].rpartition(".")
    r, s = (int.from_bytes(part) for part in (raw(signature)[:32], raw(signature)[32:]))
    key.verify(utils.encode_dss_signature(r, s), signed.encode(), ec.ECDSA(SHA256()))
