"""The efforts of publications, of either kind: renewal letters, and asking to qualify again.

An effort has a publication, a number and what its kind adds, each a column of the kind's table.
"""

from typing import Generic, NamedTuple, TypeVar

from masthead.circulation import renewal_efforts, requalifying
from masthead.errors import BadInput
from masthead.store.books.operation import Operation, Reading

EffortOf = TypeVar("EffortOf", renewal_efforts.Effort, requalifying.Effort)


class Kind(NamedTuple, Generic[EffortOf]):
    """A kind of effort: its name, its record, and its table."""

    name: str
    record: type[EffortOf]
    table: str


RENEWAL = Kind("renewals", renewal_efforts.Effort, "renewal_efforts")
"""The efforts of renewal letters."""

REQUALIFICATION = Kind("qualification", requalifying.Effort, "requalification_efforts")
"""The efforts that ask readers of a free title to qualify again."""

_KEY = ("publication_id", "effort")


def efforts_of(
    reading: Reading, kind: Kind[EffortOf], publication_id: int | None = None
) -> list[EffortOf]:
    """Return the efforts, of one publication or of all, sorted by publication and number."""
    of_one = "" if publication_id is None else "AND publication_id = :publication_id"
    values = {} if publication_id is None else {"publication_id": publication_id}
    return reading.rows_as(
        kind.record,
        f"""
        SELECT {", ".join(_columns(kind))} FROM {kind.table}
        WHERE account_id = :account_id {of_one} ORDER BY publication_id, effort
        """,
        **values,
    )


def set_effort(books: Operation, kind: Kind[EffortOf], effort: EffortOf) -> bool:
    """Add an effort, or change one; return whether that changed anything."""
    columns = _columns(kind)
    own = [name for name in columns if name not in _KEY]
    changed = books.change(
        f"""
        INSERT INTO {kind.table} (account_id, {", ".join(columns)})
        VALUES (:account_id, :{", :".join(columns)})
        ON CONFLICT (account_id, publication_id, effort)
            DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in own)}
            WHERE {" OR ".join(f"{kind.table}.{n} IS DISTINCT FROM excluded.{n}" for n in own)}
        """,
        **effort._asdict(),
    )
    return bool(changed)


def remove_effort(books: Operation, kind: Kind[EffortOf], publication_id: int, effort: int) -> None:
    """Remove an effort; whom it asked stays noted. Raises BadInput if there is none."""
    removed = books.change(
        f"""
        DELETE FROM {kind.table}
        WHERE account_id = :account_id AND publication_id = :publication_id AND effort = :effort
        """,
        publication_id=publication_id,
        effort=effort,
    )
    if not removed:
        raise unknown(kind, effort)


def unknown(kind: Kind[EffortOf], effort: int) -> BadInput:
    """Return the error that a publication has no such effort."""
    return BadInput(
        f"the publication has no effort {effort}", code="unknown_effort", kind=kind.name
    )


def _columns(kind: Kind[EffortOf]) -> tuple[str, ...]:
    return kind.record._fields
