"""Keys of entitlements, one-time codes, and what is read for them, on each database."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import jwt
import pytest

from masthead.circulation.entitlements import Entitlement
from masthead.errors import BadInput, MastheadError, NotFound
from masthead.store import accounts, audit
from masthead.store.access_ended import end_sessions
from masthead.store.entitlement_codes import CODE_US, LIVE_MAX, make_code, use_code
from masthead.store.entitlement_keys import (
    AHEAD_US,
    LEEWAY_US,
    TOKEN_S_MAX,
    SigningKey,
    keys_of,
    published_jwks,
    rotate,
    signing_key,
    stop,
)
from masthead.store.entitlement_tokens import NOTHING_S, Token, life_s, sign, subject_of
from masthead.store.secret import Secret
from tests.long import ONE_SERVER
from tests.servers import SECRET_KEY
from tests.store.conftest import START_US, opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock

_US = 1_000_000
BY = audit.Actor("ann", "entitlements rotate")


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenStore]:
    """Two accounts."""
    with opening(url, clock) as found:
        for account_id in (1, 2):
            accounts.add_account(found, {"account_id": account_id})
        yield found


def signs(store: OpenStore, account_id: int = 1) -> SigningKey | None:
    with store.reader() as connection:
        connection.set_tenant(account_id)
        return signing_key(connection, account_id)


def published(store: OpenStore) -> list[str]:
    with store.reader() as connection:
        return [each["kid"] for each in published_jwks(connection)]


def signed(store: OpenStore, subscriber_id: int = 5) -> str:
    key = signs(store)
    assert key
    now_s = store.clock() // _US
    return sign(
        key, account_id=1, subscriber_id=subscriber_id, claim=[], now_s=now_s, expires_in=60
    ).text


def claims(store: OpenStore, token: str) -> dict[str, Any]:
    """Return the claims of a token that one of the published keys has signed."""
    with store.reader() as connection:
        keys = jwt.PyJWKSet.from_dict({"keys": published_jwks(connection)})
    key = keys[jwt.get_unverified_header(token)["kid"]]
    options: Any = {"verify_exp": False, "verify_iat": False}
    found: dict[str, Any] = jwt.decode(
        token, key, algorithms=["ES256"], audience="account-1", options=options
    )
    return found


def test_without_a_key_nothing_signs_and_nothing_is_published(opened: OpenStore) -> None:
    """decisions, "Keys of entitlements"."""
    assert signs(opened) is None
    assert published(opened) == []


def test_the_first_key_signs_at_once(opened: OpenStore) -> None:
    made = rotate(opened, 1, issuer="https://subscriptions.example")
    key = signs(opened)
    assert key
    assert (key.key_id, made.earlier) == (made.key.key_id, 0)
    assert published(opened) == [key.key_id]
    assert signs(opened, 2) is None
    assert claims(opened, signed(opened)) == {
        "iss": "https://subscriptions.example",
        "sub": subject_of(key, 5),
        "aud": "account-1",
        "iat": START_US // _US,
        "exp": START_US // _US + 60,
        "entitlements": [],
    }


def test_a_further_key_is_published_before_it_signs(opened: OpenStore, clock: Clock) -> None:
    """Sites keep the published keys for some minutes, so they would refuse its first tokens."""
    first = rotate(opened, 1).key
    second = rotate(opened, 1).key
    assert set(published(opened)) == {first.key_id, second.key_id}
    clock.now += AHEAD_US - 1
    assert (key := signs(opened))
    assert key.key_id == first.key_id
    clock.now += 1
    assert (key := signs(opened))
    assert key.key_id == second.key_id


def test_the_earlier_key_is_published_until_its_last_token_has_ended(
    opened: OpenStore, clock: Clock
) -> None:
    rotate(opened, 1)
    second = rotate(opened, 1).key
    clock.now += AHEAD_US - 1
    last = signed(opened)
    clock.now += TOKEN_S_MAX * _US + LEEWAY_US
    assert claims(opened, last)
    clock.now += 1
    assert published(opened) == [second.key_id]
    third = rotate(opened, 1)
    assert third.earlier == 1, "those that have ended are deleted"


def test_rotated_again_before_it_signs_a_key_still_has_its_turn(
    opened: OpenStore, clock: Clock
) -> None:
    first, second = rotate(opened, 1).key, rotate(opened, 1).key
    clock.now += AHEAD_US // 2
    third = rotate(opened, 1).key
    turns = []
    for _ in range(4):
        key = signs(opened)
        assert key
        assert claims(opened, signed(opened))
        turns.append(key.key_id)
        clock.now += AHEAD_US // 2
    assert turns == [first.key_id, second.key_id, third.key_id, third.key_id]


def test_a_stolen_key_ends_at_once(opened: OpenStore) -> None:
    rotate(opened, 1)
    stolen = signed(opened)
    rotate(opened, 2)
    made = rotate(opened, 1, at_once=True, by=BY)
    assert (key := signs(opened))
    assert key.key_id == made.key.key_id
    with pytest.raises(KeyError):
        claims(opened, stolen)
    assert len(published(opened)) == 2, "that of the other account is still there"
    with opened.writer() as connection:
        (entry,) = [one for one in audit.entries(connection, account_id=1) if one.command == BY[1]]
    assert entry.summary == f"new key of entitlements {key.key_id}, those before end"


def test_readers_keep_their_ids_and_the_issuer_stays(opened: OpenStore, clock: Clock) -> None:
    rotate(opened, 1, issuer="https://subscriptions.example")
    before = claims(opened, signed(opened))
    rotate(opened, 1)
    clock.now += AHEAD_US
    behind = claims(opened, signed(opened))
    assert (behind["sub"], behind["iss"]) == (before["sub"], before["iss"])
    rotate(opened, 1, issuer="other", at_once=True)
    changed = claims(opened, signed(opened))
    assert (changed["sub"], changed["iss"]) == (before["sub"], "other")


def test_a_reader_has_another_id_in_another_account(opened: OpenStore) -> None:
    rotate(opened, 1)
    rotate(opened, 2)
    one, two = signs(opened, 1), signs(opened, 2)
    assert one
    assert two
    ids = {subject_of(key, reader) for key in (one, two) for reader in (1, 2)}
    assert len(ids) == 4
    assert all(len(each) == 32 for each in ids)


def test_the_keys_are_sealed_and_nothing_shows_them(opened: OpenStore) -> None:
    rotate(opened, 1)
    key = signs(opened)
    assert key
    with opened.writer() as connection:
        (row,) = connection.rows("SELECT * FROM entitlement_keys")
    stored = json.dumps(row)
    assert "PRIVATE KEY" in key.private_key
    for part in (*key.private_key.splitlines()[1:-1], key.subject_key.hex()):
        assert part not in stored
        assert part not in repr(key)
    assert repr(Token("secret", 5)) == "<Token for 5 seconds>"
    (jwk,) = json.loads(f"[{row[3]}]")
    assert jwk.keys() == {"kid", "use", "alg", "kty", "crv", "x", "y"}


@ONE_SERVER  # Citus moves no row to another account.
def test_a_key_opens_only_in_its_row(opened: OpenStore) -> None:
    rotate(opened, 1)
    with opened.writer() as connection:
        connection.change("UPDATE entitlement_keys SET account_id = 2")
    with pytest.raises(MastheadError, match="sealed with another secret key, or changed since"):
        signs(opened, 2)


def test_stopped_it_has_no_key(opened: OpenStore) -> None:
    rotate(opened, 1)
    rotate(opened, 1)
    rotate(opened, 2)
    assert stop(opened, 1, by=BY) == 2
    assert signs(opened) is None
    assert len(published(opened)) == 1
    assert stop(opened, 1, by=BY) == 0


def test_no_keys_for_an_account_that_is_not_there(opened: OpenStore) -> None:
    for change in (partial(rotate, opened, 9), partial(stop, opened, 9)):
        with pytest.raises(NotFound, match="there is no account 9") as refusal:
            change()
        assert refusal.value.code == "unknown_account"


@pytest.mark.parametrize("issuer", ["", " x", "x ", "a\nb", "x" * 201])
def test_an_issuer_is_printable_and_not_too_long(opened: OpenStore, issuer: str) -> None:
    with pytest.raises(BadInput, match="the issuer has 1 to 200 printable characters"):
        rotate(opened, 1, issuer=issuer)
    assert signs(opened) is None


def test_a_new_secret_key_seals_them_again(
    opened: OpenStore, url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotate(opened, 1)
    before = claims(opened, signed(opened))
    old = opened.secret
    old.fingerprint("read while it is there")
    monkeypatch.setenv(SECRET_KEY, "ab" * 32)
    monkeypatch.setattr(opened, "secret", Secret(None))
    assert accounts.rekey(opened, old) == 2
    with opening(url, clock) as restarted:
        assert claims(restarted, signed(restarted)) == before


def test_with_a_lost_secret_key_they_are_gone(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotate(opened, 1)
    monkeypatch.setenv(SECRET_KEY, "cd" * 32)
    monkeypatch.setattr(opened, "secret", Secret(None))
    assert accounts.rekey(opened, None) == 2
    assert signs(opened) is None
    assert published(opened) == []


# One-time codes.


def test_a_code_works_once_and_for_its_account_alone(opened: OpenStore) -> None:
    """decisions, "One-time codes"."""
    code = make_code(opened, 1, 5)
    assert len(code) == 32
    assert use_code(opened, 2, code) is None
    assert use_code(opened, 1, code[:-1]) is None
    assert use_code(opened, 1, code) == 5
    assert use_code(opened, 1, code) is None


def test_a_code_ends_after_two_minutes(opened: OpenStore, clock: Clock) -> None:
    early, late = make_code(opened, 1, 5), make_code(opened, 1, 5)
    clock.now += CODE_US - 1
    assert use_code(opened, 1, early) == 5
    clock.now += 1
    assert use_code(opened, 1, late) is None


def test_codes_are_stored_as_keyed_hashes_and_deleted_in_the_end(
    opened: OpenStore, clock: Clock
) -> None:
    code, _ = make_code(opened, 1, 5), make_code(opened, 1, 6)
    assert code not in repr(stored(opened))
    clock.now += CODE_US
    make_code(opened, 1, 6)
    assert sorted(row[2] for row in stored(opened)) == [5, 6], "each reader's own are deleted"
    assert use_code(opened, 1, "other") is None
    assert [row[2] for row in stored(opened)] == [6]


def stored(store: OpenStore) -> list[tuple[Any, ...]]:
    with store.counters() as counters:
        counters.set_tenant(1)
        return counters.rows("SELECT * FROM entitlement_codes WHERE account_id = 1")


def test_of_many_codes_of_a_reader_the_newest_work(opened: OpenStore, clock: Clock) -> None:
    other = make_code(opened, 1, 6)
    codes = []
    for _ in range(LIVE_MAX + 3):
        codes.append(make_code(opened, 1, 5))
        clock.now += 1
    assert len(stored(opened)) == LIVE_MAX + 1
    used = [use_code(opened, 1, code) for code in codes]
    assert used == [None] * 3 + [5] * LIVE_MAX
    assert use_code(opened, 1, other) == 6


def test_of_requests_at_the_same_time_one_gets_the_reader(opened: OpenStore) -> None:
    for _ in range(5):
        code = make_code(opened, 1, 5)
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(partial(use_code, opened, 1), [code] * 4))
        assert sorted(found, key=str) == [5, None, None, None]


def test_a_restore_ends_codes(opened: OpenStore) -> None:
    code = make_code(opened, 1, 5)
    end_sessions(opened)
    assert use_code(opened, 1, code) is None


# How long a token is valid.


def until(day: str | None) -> list[Entitlement]:
    return [Entitlement(1, "Weekly", "digital", day)]


NOON_S = 1_796_126_400  # 2026-12-01 12:00:00 UTC


@pytest.mark.parametrize(
    ("day", "time_zone", "seconds"),
    [
        (None, "UTC", 86_400),
        ("2026-12-31", "UTC", 86_400),
        ("2026-12-02", "UTC", 86_400),
        ("2026-12-01", "UTC", 43_200),
        ("2026-12-01", "Europe/Berlin", 39_600),
        ("2026-12-01", "America/New_York", 61_200),
        ("9999-12-31", "UTC", 86_400),
    ],
)
def test_a_token_is_valid_for_a_day_or_until_an_end(
    day: str | None, time_zone: str, seconds: int
) -> None:
    """decisions, "The token of entitlements"."""
    assert life_s(until(day), NOON_S, time_zone) == seconds


def test_a_token_without_entitlements_is_valid_for_an_hour() -> None:
    assert life_s([], NOON_S, "UTC") == NOTHING_S == 3_600


def test_the_keys_of_an_account_are_listed_newest_first(opened: OpenStore) -> None:
    first, second = rotate(opened, 1).key, rotate(opened, 1).key
    rotate(opened, 2)
    with opened.writer() as connection:
        newest, oldest = keys_of(connection, 1)
    assert newest == second
    assert oldest == first._replace(ends_at=START_US + AHEAD_US + TOKEN_S_MAX * _US + LEEWAY_US)
