"""The bank accounts of mandates in the database, in an export, and with another key.

decisions, "Bank accounts of mandates".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from masthead.errors import MastheadError
from masthead.loading.subscriber_data import subscriber_data
from masthead.store import accounts, find_store
from masthead.store.billing.sealed import seal_iban, unseal_iban
from masthead.store.secret import Secret
from tests.circulation.desk import moment
from tests.circulation.small_collecting import IBAN
from tests.circulation.test_carrying import FULL, other
from tests.loading.publisher import Publisher
from tests.servers import SECRET_KEY
from tests.store.conftest import new_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

NEW = "1" * 64
"""A secret key that is not the one of the tests."""


@pytest.fixture
def publisher(store: Store, tmp_path: Path) -> Iterator[Publisher]:
    """A publisher with a mandate that has a bank account."""
    with new_url(store) as url:
        found = Publisher(url, tmp_path)
        found.load(FULL)
        yield found
        found.store.close()


def stored(publisher: Publisher) -> list[tuple[str | None, str]]:
    """Return the bank account of each mandate as it is stored, with its state."""
    with publisher.store.writer() as database:
        return database.rows_as(
            tuple[str | None, str],
            "SELECT iban, status FROM mandates WHERE account_id = 1 ORDER BY mandate_id",
        )


def rekeyed(
    publisher: Publisher,
    monkeypatch: pytest.MonkeyPatch,
    old: Secret | None,
    *,
    at: str | None = None,
) -> Publisher:
    """Give the database the key NEW, at noon of a day in UTC, and open it again."""
    publisher.store.close()
    monkeypatch.setenv(SECRET_KEY, NEW)
    unopened = find_store(publisher.url, clock=None if at is None else lambda: moment(at))
    accounts.rekey(unopened, old)
    unopened.close()
    return Publisher(publisher.url, publisher.folder, is_there=True)


def test_the_database_does_not_tell_an_account(publisher: Publisher) -> None:
    (nothing, _), (sealed, _) = stored(publisher)
    assert nothing is None
    assert sealed is not None
    assert IBAN not in sealed
    with publisher.store.writer() as database:
        assert unseal_iban(database, 1, 2, sealed) == IBAN


def test_an_account_is_bound_to_its_mandate(publisher: Publisher) -> None:
    with publisher.store.writer() as database:
        sealed = seal_iban(database, 1, 2, IBAN)
        for account_id, mandate_id in ((2, 2), (1, 3)):
            with pytest.raises(MastheadError, match="cannot be opened"):
                unseal_iban(database, account_id, mandate_id, sealed)


def test_an_export_has_it_in_clear_and_an_import_seals_it(publisher: Publisher) -> None:
    exported = publisher.exported()["mandates.csv"].decode()
    assert IBAN in exported
    copy = other(publisher)
    copy.load(publisher.exported())
    assert copy.exported() == publisher.exported()
    with publisher.store.writer() as database:
        sealed = database.column_as(
            str, "SELECT iban FROM mandates WHERE account_id = 2 AND iban IS NOT NULL"
        )
        assert [unseal_iban(database, 2, 2, each) for each in sealed] == [IBAN]


def test_another_key_seals_it(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    before = publisher.exported()
    old = publisher.folder / "old-key"
    old.write_text(os.environ[SECRET_KEY])
    old.chmod(0o600)
    found = rekeyed(publisher, monkeypatch, Secret(old, variable=None))
    assert found.exported() == before
    assert [state for _, state in stored(found)] == ["ended", "resting"]
    found.store.close()


def test_a_lost_key_ends_the_mandates(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = rekeyed(publisher, monkeypatch, None)
    assert stored(found) == [(None, "ended"), (None, "ended")]
    (_, mandate) = found.table("mandates")
    assert "secret key of the database was lost" in mandate["reason"]
    assert mandate["iban_end"] == IBAN[-4:]
    found.store.close()


@pytest.mark.parametrize(
    ("time_zone", "day"),
    [("Pacific/Kiritimati", "2027-07-01"), ("Pacific/Pago_Pago", "2027-06-30")],
)
def test_a_mandate_of_a_lost_key_ends_on_the_day_of_its_account(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch, time_zone: str, day: str
) -> None:
    with publisher.store.writer() as database, database.transaction():
        database.change("UPDATE accounts SET time_zone = :zone", zone=time_zone)
    before = publisher.table("mandates")[0]["status_since"]
    found = rekeyed(publisher, monkeypatch, None, at="2027-06-30")
    assert [row["status_since"] for row in found.table("mandates")] == [before, day]
    found.store.close()


def test_the_data_of_a_subscriber_show_the_last_four_characters(publisher: Publisher) -> None:
    said = subscriber_data(publisher.store, 1, 5)
    assert IBAN not in said
    assert '"iban_end": "3000"' in said
    assert '"end_to_end_id": "E-1"' in said
