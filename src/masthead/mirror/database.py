"""What the mirror knows of the database that holds the copy: the same on SQLite and PostgreSQL."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from masthead.errors import BadUsage, MastheadError
from masthead.mirror.tables import TABLES, Row, Table

__all__ = [
    "IN_USE",
    "STATE_TABLE",
    "WAIT_S",
    "Copy",
    "State",
    "Tell",
    "check_columns",
    "not_kept",
]

Tell = Callable[[str, int], None]
"""Hears what is being read or written, and how much of it was."""

WAIT_S = 10
"""So long another process may write to the copy before this one gives up."""

IN_USE = "the copy is in use: another process writes to it, perhaps another mirror"
STATE_TABLE = "mirror"

_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


class State(NamedTuple):
    """Where a copy stands.

    ``base_url`` and ``account_id`` (None: not known) say of what it is a copy, ``changed_since``
    is the time to ask for next, ``lacking`` what could not be had at the beginning (None: nothing).
    """

    base_url: str
    account_id: int | None
    changed_since: str
    lacking: str | None


class Copy(Protocol):
    """The copy's database. Its methods raise StoreUnavailable where it does not answer."""

    def writing(self) -> AbstractContextManager[None]:
        """Be the only one who writes to the copy: all that the block writes, or nothing of it."""

    def reading(self) -> AbstractContextManager[None]:
        """See the copy as it is now for as long as the block lasts, whoever writes to it."""

    def state(self) -> State | None:
        """Return where the copy stands, None where it has not begun."""

    def keep_state(self, state: State) -> None:
        """Write where the copy stands."""

    def clear(self) -> None:
        """Remove all rows of all tables."""

    def put(
        self,
        table: Table,
        keys: Sequence[int] | None,
        rows: Iterable[Row],
        *,
        within: tuple[int, ...] = (),
    ) -> None:
        """Put the rows in the place of those that have these keys (None: there are none).

        A key is a value of the first column, the owner; or of the column behind those whose values
        are ``within``, the beginning of the primary key that all of the rows share.
        """

    def remove_all(self, table: Table) -> None:
        """Remove all rows of a table."""

    def make_indexes(self) -> None:
        """Make the indexes that are missing, once there is something to index."""

    def rows(
        self, table: Table, owners: Sequence[int] | None, order: Sequence[str] = ()
    ) -> Iterator[Row]:
        """Yield the rows of the owners (None: of all), by owner and then by ``order``.

        Their values are those that were put, and that ``masthead.contract.encoding`` takes.
        """

    def owners(self, table: Table) -> Iterator[int]:
        """Yield the owners that have rows in a table, each once, in ascending order."""

    def close(self) -> None:
        """Give the connection back."""


def check_columns(columns: Mapping[str, Sequence[str]]) -> None:
    """Raise BadUsage where a database's tables, by their columns, are not those of a copy."""
    expected = {table.name: [field.name for field in table.columns] for table in TABLES}
    expected[STATE_TABLE] = ["id", *State._fields]
    for name, found in columns.items():
        if list(found) != expected[name]:
            raise BadUsage(
                f"this database has a table {name} that is none of a copy, or of one that another "
                "version of Masthead keeps: name a new database"
            )


def not_kept(table: Table, rows: Iterable[Row]) -> MastheadError:
    """Return the exception for rows of which the database cannot hold a value."""
    for row in rows:
        for field, value in zip(table.columns, row, strict=True):
            if isinstance(value, str):
                reason = "its text has a NUL or half a character" if _NOT_TEXT.search(value) else ""
            else:
                is_too_big = value is not None and not -(2**63) <= value < 2**63
                reason = "it does not fit into 64 bits" if is_too_big else ""
            if reason:
                key = "/".join(map(str, row[: table.key]))
                return MastheadError(
                    f"{table.name} {key}: the copy cannot hold the {field.name}: {reason}"
                )
    return MastheadError(f"{table.name}: the copy's database cannot hold a value")
