"""The ids of records whose source has natural keys instead of ids.

In an account, a key always has the same id (decisions, "Ids made from natural keys"). New ids are
assigned while a load is staged, and written in its transaction.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any

from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.store.books.ids import next_ids
from masthead.store.staging import Staging

_REMEMBERED_MAX = 300_000
"""The number of keys that are kept in memory, about 50 MB; the keys of a batch may be added."""

_AT_ONCE = 10_000
_TEXT_MAX = 100
_ONE_OF = {
    "sqlite": "IN (SELECT value FROM json_each(:digests))",
    "postgresql": "= ANY (CAST(:digests AS TEXT[]))",
}


_JOINED = "\x1f"
"""The first character of a key of several columns. It is white space, so a key of a single column,
which is stripped, never begins with it."""


def key_of(parts: Sequence[str]) -> str:
    """Return the key of stripped column values; no other values have the same key."""
    if len(parts) == 1:
        return parts[0]
    return _JOINED + "".join([f"{len(part)}:{part}" for part in parts])


def _shown(key: str) -> str:
    """Return the key as a message shows it, in ASCII."""
    if not key.startswith(_JOINED):
        return ascii(key[:_TEXT_MAX])
    parts = []
    key = key[1:]
    while key:
        length, _, rest = key.partition(":")
        parts.append(rest[: int(length)])
        key = rest[int(length) :]
    return ascii(", ".join(filter(None, parts))[:_TEXT_MAX])


class NaturalKeys:
    """The natural keys of one load: the account's keys and the load's new keys."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging
        self._known: dict[str, dict[str, int]] = {}
        self._forgotten: set[str] = set()
        """The tables for which some of the load's new keys are no longer in memory."""
        self._before: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._stored: dict[str, bool] = {}

    def ids_of(self, table: str, keys: Iterable[str]) -> Mapping[str, int]:
        """Return the id of each key (:func:`key_of`); new keys get the next ids.

        The result may have other keys too. ``table`` names a table or another kind of thing that
        the ids identify. Raises BadInput if no ids are left.
        """
        keys = dict.fromkeys(keys)
        known = self._known.setdefault(table, {})
        if unknown := [key for key in keys if key not in known]:
            if sum(map(len, self._known.values())) > _REMEMBERED_MAX:
                # New dictionaries, since callers may still read the former ones.
                self._forgotten |= self._known.keys()
                self._known = {table: {key: known[key] for key in keys if key in known}}
                known = self._known[table]
            self._look_up(table, unknown, known)
        return known

    def _look_up(self, table: str, keys: Sequence[str], known: dict[str, int]) -> None:
        """Add the ids of keys that are not in memory to ``known``."""
        digests = list(map(_digest, keys))
        found: dict[str, int] = {}
        remaining = iter(digests)
        while some := list(islice(remaining, _AT_ONCE)):
            found.update(self._found(table, some))
        if len(found) < len(keys) and table not in self._last:
            self._before[table] = self._last[table] = self._greatest(table)
        last = self._last.get(table, 0)
        if BIGGEST_INTEGER - last <= len(keys) - len(found):
            raise BadInput(f"{table}: no ids are left above {last} for natural keys")
        new = []
        for key, digest in zip(keys, digests, strict=True):
            id_ = found.get(digest)
            if id_ is None:
                last = id_ = last + 1
                new.append((table, digest, id_, _shown(key)))
            known[key] = id_
        if new:
            self._last[table] = last
            self._staging.add_natural_keys(new)

    def _found(self, table: str, digests: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Yield digests with their ids: the account's, and the load's that are not in memory."""
        connection = self._staging.connection
        condition = f"table_name = :table_name AND key_digest {_ONE_OF[connection.dialect]}"
        is_json = connection.dialect == "sqlite"
        values: dict[str, Any] = {
            **self._staging.values,
            "table_name": table,
            "digests": json.dumps(digests) if is_json else f"{{{','.join(digests)}}}",
        }
        if self._has_keys(table):
            yield from connection.rows_planned(
                f"""
                SELECT key_digest, record_id FROM natural_keys
                WHERE account_id = :account_id AND {condition}
                """,
                **values,
            )
        if table in self._forgotten:
            self._staging.prepare_natural_keys()
            yield from connection.rows_planned(
                f"""
                SELECT key_digest, record_id FROM staged_natural_keys AS s
                WHERE {self._staging.own("natural_keys", "s")} AND {condition}
                """,
                **values,
            )

    def _has_keys(self, table: str) -> bool:
        """Return whether the account had keys of the table before this load."""
        if table not in self._stored:
            self._stored[table] = self._last_of(table) > 0
        return self._stored[table]

    def _last_of(self, table: str) -> int:
        """Return the greatest id of the account's natural keys of a table; 0 if it has none."""
        last = self._staging.connection.value_as(
            int,
            """
            SELECT record_id FROM natural_keys
            WHERE account_id = :account_id AND table_name = :table_name AND key_digest = ''
            """,
            **self._staging.values,
            table_name=table,
        )
        return last or 0

    def _greatest(self, table: str) -> int:
        """Return the greatest id ever given in the table or to its natural keys, or 0."""
        if table not in TABLES_BY_NAME:
            return self._last_of(table)
        return next_ids(self._staging.connection, self._staging.account_id, table) - 1

    def text_of(self, table: str, id_: int) -> str | None:
        """Return a new key as a message shows it; None if no new key has the id."""
        return self._staging.connection.value_as(
            str,
            f"""
            SELECT key_text FROM {self._staging.rows_of("natural_keys")} AS s
            WHERE table_name = :table_name AND record_id = :record_id
            """,
            account_id=self._staging.account_id,
            table_name=table,
            record_id=id_,
        )

    def keep(self) -> None:
        """Write the new keys in the caller's transaction, which has locked the account.

        Raises BadInput if another load has added records or keys since these keys got their ids.
        """
        if any(self._greatest(table) > before for table, before in self._before.items()):
            raise _overtaken()
        staging = self._staging
        if not self._before:
            return
        count = staging.value_as(
            int, f"SELECT count(*) FROM {staging.rows_of('natural_keys')} AS s"
        )
        written = staging.connection.change(
            f"""
            INSERT INTO natural_keys (account_id, table_name, key_digest, record_id)
            SELECT CAST(:account_id AS BIGINT), table_name, key_digest, record_id
            FROM {staging.rows_of("natural_keys")} AS s WHERE TRUE
            ORDER BY table_name, key_digest ON CONFLICT DO NOTHING
            """,
            account_id=staging.account_id,
        )
        if written != count:
            raise _overtaken()
        for table, last in self._last.items():
            staging.connection.change(
                """
                INSERT INTO natural_keys (account_id, table_name, key_digest, record_id)
                VALUES (:account_id, :table_name, '', :last)
                ON CONFLICT (account_id, table_name, key_digest)
                DO UPDATE SET record_id = excluded.record_id
                """,
                **staging.values,
                table_name=table,
                last=last,
            )


def _overtaken() -> BadInput:
    return BadInput(
        "nothing was loaded: another load of this account ran meanwhile and added records; run it "
        "again"
    )


def _digest(key: str) -> str:
    """Return the digest that is stored instead of a key, which can be long and personal data."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
