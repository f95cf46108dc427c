"""A partner's copy, which polls the queries of the change feed and of the deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from masthead.api.operations.change_feed import records
from masthead.contract.encoding import encode
from masthead.contract.operations import ENTITIES
from masthead.store import commits
from masthead.store.deletions import removed
from tests.circulation.shown import Differs

if TYPE_CHECKING:
    from masthead.store import Connection, Store

_ALL = 0
Records = dict[tuple[str, str], bytes]


class Follower:
    """The copy, from nothing on, and the time from which it asks."""

    def __init__(self, account_id: int) -> None:
        self._account_id = account_id
        self._records: Records = {}
        self._since: int | None = None

    def poll(self, store: Store) -> None:
        """Ask for what is new; raise Differs unless the copy is then what everything is."""
        with store.reader() as connection:
            connection.set_tenant(self._account_id)
            with connection.snapshot():
                position = commits.position_of(connection, self._account_id, self._since or 0)
                first = _ALL if self._since is None else position.first_commit
                if first is not None:
                    self._records |= self._read(connection, first)
                    for entity in ENTITIES:
                        for key in removed(connection, entity.name, self._account_id, first):
                            self._records.pop((entity.name, f"{key}"), None)
                everything = self._read(connection, _ALL)
        self._since = position.newest_stamp + 1
        if self._records != everything:
            names = sorted({key for key, _ in self._records.items() ^ everything.items()})
            raise Differs(f"the copy that polls differs in {names}")

    def _read(self, connection: Connection, first: int) -> Records:
        return {
            (entity.name, f"{next(iter(msgspec.json.decode(written).values()))}"): written
            for entity in ENTITIES
            for written in map(encode, records(entity, connection, self._account_id, first))
        }
