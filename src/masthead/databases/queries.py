"""Statements with what their rows mean, and batches of them that wait for the database once."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

Value = int | str | None
Row = tuple[Any, ...]
Answer = TypeVar("Answer")
Other = TypeVar("Other")
Shape = TypeVar("Shape", bound=tuple[object, ...])


class Bound(NamedTuple):
    """A statement and the values of its ``:name`` parameters."""

    sql: str
    values: Mapping[str, Value]


class Query(Generic[Answer]):
    """A statement that only reads, with its values, and the function that its rows are given to."""

    def __init__(self, bound: Bound, answer_of: Callable[[list[Row]], Answer]) -> None:
        self.bound = bound
        self.answer_of = answer_of

    def then(self, change: Callable[[Answer], Other]) -> "Query[Other]":
        """Return a query with the same statement, whose answer is changed by a function."""
        return Query(self.bound, lambda rows: change(self.answer_of(rows)))


def rows_of(sql: str, /, **values: Value) -> Query[list[Row]]:
    """Return a query whose answer is the rows of a statement."""
    return Query(Bound(sql, values), lambda rows: rows)


def rows_as(kind: type[Shape], sql: str, /, **values: Value) -> Query[list[Shape]]:
    """Return a query whose answer is the rows as ``kind``, as in ``Queries.rows_as``."""
    make = getattr(kind, "_make", kind)
    return Query(Bound(sql, values), lambda rows: [make(row) for row in rows])


def sorted_by(*fields: str, reverse: bool = False) -> Callable[[list[Shape]], list[Shape]]:
    """Return a function that sorts rows by fields, for :meth:`Query.then`."""
    return lambda rows: sorted(rows, key=attrgetter(*fields), reverse=reverse)


class Asked(Protocol):
    """What runs the statements of a batch."""

    def rows_of_each(self, statements: Sequence[Bound], /) -> list[list[Row]]:
        """Return the rows of each statement."""


class Batch:
    """Queries that are sent in one message, so that they wait for the database once.

    ``answer = batch.add(query)`` adds a query; after :meth:`send`, ``answer()`` returns its answer.
    All statements have the values ``same`` too.
    """

    def __init__(self, asked: Asked, **same: Value) -> None:
        self._asked = asked
        self._same = same
        self._statements: list[Bound] = []
        self._found: list[list[Row]] = []

    def add(self, query: Query[Answer]) -> Callable[[], Answer]:
        """Add a query; return the function that returns its answer, or raises its error."""
        place = len(self._statements)
        sql, values = query.bound
        self._statements.append(Bound(sql, {**values, **self._same}))
        return lambda: query.answer_of(self._found[place])

    def send(self) -> None:
        """Run the statements. Raises the error of the first one that fails."""
        self._found = self._asked.rows_of_each(self._statements)
