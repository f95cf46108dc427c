"""New renewal codes and passwords of readers (decisions, "A reader's new login")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import reader_logins
from masthead.errors import NotFound
from masthead.store.books import reader_logins as stored
from masthead.store.passwords import fits
from tests.circulation.two_readers import fill, refused

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account, filled."""
    fill(shared)
    return shared


def subscriber(desk: Desk, key: int) -> dict[str, object]:
    """Return a subscriber."""
    return next(row for row in desk.table("subscribers") if row["subscriber_id"] == key)


def test_a_new_code_replaces_the_old_one_and_is_not_in_the_log(desk: Desk) -> None:
    done = reader_logins.renew_code(desk.books, 1)
    assert re.fullmatch("[A-HJ-NP-Z2-9]{5}", done.code)
    assert subscriber(desk, 1)["renewal_code"] == done.code
    assert reader_logins.show(desk.books, 1) == (
        "ada@example.org",
        done.code,
        False,
        None,
        ("10001",),
    )
    summaries = desk.rows("SELECT summary FROM audit WHERE account_id = :account_id")
    assert not any(done.code in text for (text,) in summaries)


def test_no_two_readers_have_one_code(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = iter(["code2", "CODE3", "ABCDE"])
    monkeypatch.setattr(stored, "_random", lambda _: next(codes))
    assert reader_logins.renew_code(desk.books, 1).code == "ABCDE"
    monkeypatch.setattr(stored, "_random", lambda _: "CODE2")
    assert "in use" in refused(desk, reader_logins.renew_code, 1)


def test_a_new_password_is_stored_as_a_digest(desk: Desk) -> None:
    with desk.connection.transaction():
        desk.connection.lock_account(1)
        desk.connection.change(
            "UPDATE subscribers SET password_md5 = 'x' WHERE account_id = :account_id",
            account_id=desk.account_id,
        )
    done = reader_logins.set_password(desk.books, 1)
    found = subscriber(desk, 1)
    assert found["password_md5"] is None
    assert fits(done.password, str(found["password_hash"]))
    assert reader_logins.show(desk.books, 1).has_password
    assert done.password not in str(desk.rows("SELECT summary FROM audit"))


def test_who_has_no_email_or_was_deleted_gets_no_login(desk: Desk) -> None:
    with desk.connection.transaction():
        desk.connection.lock_account(1)
        desk.connection.change(
            "UPDATE subscribers SET email = NULL, delete_date = '2026-04-01 10:00:00' "
            "WHERE account_id = :account_id AND subscriber_id = 2",
            account_id=desk.account_id,
        )
    desk.put("subscribers", subscriber_id=9, last_name="Without")
    assert "has no email address" in refused(desk, reader_logins.set_password, 9)
    for act in (reader_logins.renew_code, reader_logins.set_password):
        assert "was deleted on 2026-04-01" in refused(desk, act, 2)
        with pytest.raises(NotFound):
            act(desk.books, 77)
