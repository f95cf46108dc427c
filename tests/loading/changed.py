"""What a commit has marked for the change feed, and which removed records it has noted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.api.operations.change_feed import records
from masthead.contract.encoding import encode
from masthead.contract.operations import ENTITIES
from masthead.store import deletions

if TYPE_CHECKING:
    from msgspec import Struct

    from tests.loading.publisher import Publisher

_MARKED = {
    "subscribers": ("subscribers", "subscriber_id", "commit_id"),
    "customfields": ("subscribers", "subscriber_id", "custom_fields_commit_id"),
    "addresses": ("addresses", "address_id", "commit_id"),
    "subscriptions": ("subscriptions", "subscription_id", "commit_id"),
    "orders": ("orders", "order_id", "commit_id"),
    "purchases": ("purchases", "purchase_id", "commit_id"),
    "list_downloads": ("list_downloads", "mailing_list_id", "commit_id"),
}


def stamps_of(publisher: Publisher) -> list[int | None]:
    """Return the stamps of the account's commits, by their ids."""
    with publisher.store.writer() as database:
        rows = database.rows(
            "SELECT visible_at FROM commits WHERE account_id = :id ORDER BY commit_id",
            id=publisher.account_id,
        )
    return [stamp for (stamp,) in rows]


def marked_since(publisher: Publisher, commit_id: int) -> dict[str, list[int]]:
    """Return the ids of the records that this commit or a later one has marked."""
    found = {}
    with publisher.store.writer() as database:
        for name, (table, key, column) in _MARKED.items():
            rows = database.rows(
                f"SELECT {key} FROM {table} WHERE account_id = :id AND {column} >= :commit_id "
                f"ORDER BY {key}",
                id=publisher.account_id,
                commit_id=commit_id,
            )
            if rows:
                found[name] = [number for (number,) in rows]
    return found


def noted_since(publisher: Publisher, commit_id: int) -> dict[str, list[int]]:
    """Return the ids of the records that this commit or a later one has removed."""
    found = {}
    with publisher.store.writer() as database:
        for entity in deletions.REMOVABLE:
            with database.transaction():
                ids = sorted(deletions.removed(database, entity, publisher.account_id, commit_id))
            if ids:
                found[entity] = ids
    return found


Copy = dict[str, dict[int, bytes]]


def copy_of(publisher: Publisher, first_commit: int = 0) -> Copy:
    """Return the records of the change feed since a commit, encoded, by entity and id.

    A list download has the entries of its list too, which clients then request again.
    """
    account_id = publisher.account_id
    found: Copy = {}
    with publisher.store.reader() as database:
        database.set_tenant(account_id)
        with database.snapshot():
            for entity in ENTITIES:
                shown = list(records(entity, database, account_id, first_commit))
                found[entity.name] = {_id_of(record): encode(record) for record in shown}
            for list_id, record in found["listdownloads"].items():
                entries = database.rows(
                    "SELECT subscription_id, copies, is_grace, is_paid, type "
                    "FROM mailing_list_entries "
                    "WHERE account_id = :id AND mailing_list_id = :list_id ORDER BY 1",
                    id=account_id,
                    list_id=list_id,
                )
                found["listdownloads"][list_id] = record + repr(entries).encode()
    return found


def _id_of(record: Struct) -> int:
    return int(getattr(record, record.__struct_fields__[0]))


def passed(copy: Copy, publisher: Publisher, first_commit: int) -> Copy:
    """Return what a copy is after it has got the changes and the removed records since a commit."""
    gone = noted_since(publisher, first_commit)
    changed = copy_of(publisher, first_commit)
    return {
        name: {n: shown for n, shown in rows.items() if n not in gone.get(name, ())} | changed[name]
        for name, rows in copy.items()
    }
