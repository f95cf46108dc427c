"""Remove rows from an account's tables: rows that a complete load lacks, and single records.

Rows that are part of a removed record, such as the items of an order, are removed too. If any other
row refers to a removed row, the removal is refused. A subscriber's row stays and gets a
``delete_date`` (rules, "What goes with a record"; decisions, "Subscribers who are missing").
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from masthead.contract.records import TABLES, TABLES_BY_NAME, Table
from masthead.errors import BadInput, NotFound
from masthead.store import accounts, audit, commits, deletions
from masthead.store.books import kept_records, ownership, plan_changes
from masthead.store.database import Store
from masthead.store.feed_marks import mark
from masthead.store.staging import Staging, has_column, option_ids_of, refused, staging_for

PARTS = {
    "subscription_issues": ("subscription_id", "issue_id"),
    "custom_field_options": ("field_id",),
    "custom_field_answers": ("field_id",),
    "order_items": ("order_id",),
    "mailing_list_entries": ("mailing_list_id", "subscription_id"),
    "bundle_lines": ("bundle_id",),
    "renewal_efforts": ("publication_id",),
    "terms": ("subscription_id",),
    "revenue": ("term_id",),
    "suspensions": ("subscription_id",),
    "temporary_addresses": ("subscription_id",),
    "replacements": ("subscription_id",),
    "cancellations": ("subscription_id",),
    "cancelled_terms": ("term_id",),
    "renewals_sent": ("term_id", "subscription_id"),
    "complaints": ("subscription_id", "issue_id"),
    "reader_bundles": ("bundle_id",),
    "reader_changes": ("subscription_id",),
    "reader_requests": ("subscription_id", "issue_id"),
    "invoice_lines": ("invoice_id",),
    "allocations": ("invoice_id", "payment_id"),
}
"""The tables whose rows are part of other records, with the columns that refer to these records."""

_ENTITIES = {table: entity for entity, (table, _) in deletions.REMOVABLE.items()}
_SUBSCRIBERS = "subscribers"
_OPTIONS = "custom_field_options"
_RETURNED = "returned_subscribers"
_SHOWN_MAX = 100
_IDS_NAMED_MAX = 20

Key = tuple[int, ...]


class Missing(NamedTuple):
    """The number of rows to remove from a table, and of all its rows, without deleted ones."""

    rows: int
    stored: int


class Removal:
    """The rows to remove from each table, as lists of their keys.

    ``missing`` has the tables with such rows. ``kept`` has the numbers of rows, by table, that stay
    because the books have them. ``why`` is what messages say about a row to remove that another row
    needs. All methods run in the transaction that locks the account.
    """

    def __init__(self, staging: Staging, why: str) -> None:
        self.missing: dict[str, Missing] = {}
        self.kept: dict[str, int] = {}
        self._staging = staging
        self._why = why

    def add(self, table: Table, query: str) -> None:
        """Add the rows of ``table`` whose keys the query selects, as ``key`` and ``other``."""
        names = ("key", "other")[: len(table.key)]
        if rows := self._staging.extend(_list(table), query, names):
            self.count(table, rows)

    def count(self, table: Table, rows: int) -> None:
        """Record that the list of ``table`` has this number of keys."""
        stored = f"SELECT count(*) FROM {table.name} WHERE {_own(table)}"
        self.missing[table.name] = Missing(rows, self._staging.value_as(int, stored) or 0)

    def add_parts(self, table: Table) -> None:
        """Add the rows of ``table`` that are part of records to remove."""
        keys = _columns("o", table.key, ("key", "other"))
        found = [
            f"""SELECT {keys} FROM {table.name} AS o
            WHERE o.account_id = :account_id AND o.{column} IN ({self._keys(target)})"""
            for column, target in table.references.items()
            if column in PARTS.get(table.name, ()) and target in self.missing
        ]
        if found:
            self.add(table, " UNION ".join(found))

    def _keys(self, name: str) -> str:
        return f"SELECT m.key FROM {self._staging.keys_in(_list(TABLES_BY_NAME[name]))} AS m"

    def first_keys(self, table: Table, limit: int) -> list[Key]:
        """Return the lowest keys of the rows to remove, at most ``limit``."""
        if table.name not in self.missing:
            return []
        keys = ", ".join(f"m.{name}" for name in ("key", "other")[: len(table.key)])
        return self._staging.rows(
            f"""
            SELECT {keys} FROM {self._staging.keys_in(_list(table))} AS m
            ORDER BY {keys} LIMIT {limit:d}
            """
        )

    def run(self, commit_id: int) -> dict[str, int]:
        """Remove the rows and mark the records that showed them; return the numbers by table.

        Raises BadInput, which lists references to the rows, or says that the books keep them.
        """
        ownership.check_removal(self._staging, self.missing, self._keys)
        if problems := list(self._references()):
            more = len(problems) - _SHOWN_MAX
            shown = problems[:_SHOWN_MAX]
            if more > 0:
                shown.append(f"and {more} more such references")
            raise BadInput("\n".join([*shown, "nothing was changed"]))
        removed = {}
        for table in reversed(TABLES):
            if table.name in self.missing:
                self._mark(table, commit_id)
                removed[table.name] = self._remove(table, commit_id)
        return removed

    def _references(self) -> Iterator[str]:
        for table in TABLES:
            for column, target in table.references.items():
                if target in self.missing and target != _SUBSCRIBERS:
                    yield from self._references_of(table, column, TABLES_BY_NAME[target])
        if _OPTIONS in self.missing:
            yield from self._references_of_answers()

    def _references_of(self, table: Table, column: str, target: Table) -> Iterator[str]:
        rows = self._staging.rows_as(
            tuple[int, ...],
            f"""
            SELECT c.{column}, {_columns("c", table.key)} FROM {table.name} AS c
            WHERE c.account_id = :account_id AND c.{column} IN ({self._keys(target.name)})
                AND {self._stays(table, "c")}
            ORDER BY {_columns("c", table.key)}
            """,
        )
        for needed, *key in rows:
            yield self._sentence(target, (needed,), table, key, column)

    def _references_of_answers(self) -> Iterator[str]:
        options, answers = TABLES_BY_NAME[_OPTIONS], TABLES_BY_NAME["custom_field_answers"]
        # IS TRUE stops PostgreSQL from joining the few fields.
        fields = f"""SELECT o.field_id FROM {_OPTIONS} AS o
            WHERE o.account_id = :account_id AND o.option_id IN ({self._keys(_OPTIONS)})"""
        rows = self._staging.rows_as(
            tuple[int, int, int],
            f"""
            SELECT j.value, a.subscriber_id, a.field_id FROM custom_field_answers AS a
            CROSS JOIN {option_ids_of("a", self._staging.connection.dialect)}
            WHERE a.account_id = :account_id AND (a.field_id IN ({fields})) IS TRUE
                AND {self._staging.is_in(_list(options), "j.value")}
                AND {self._stays(answers, "a")}
            ORDER BY a.subscriber_id, a.field_id, j.value
            """,
        )
        for option, *key in rows:
            yield self._sentence(options, (option,), answers, key, "option_ids")

    def _sentence(
        self, target: Table, needed: Key, table: Table, key: Sequence[int], column: str
    ) -> str:
        return (
            f"{record_name(target, needed)} {self._why}, but {record_name(table, key)} refers to "
            f"it ({column})"
        )

    def _stays(self, table: Table, row: str) -> str:
        """Return the condition that the stored row itself stays."""
        if table.name not in self.missing:
            return "TRUE"
        first, *others = table.key
        more = "".join(f" AND k.other = {row}.{name}" for name in others)
        return f"NOT {self._staging.is_in(_list(table), f'{row}.{first}', f'TRUE{more}')}"

    def _mark(self, table: Table, commit_id: int) -> None:
        """Mark the records that show rows to remove from this table."""
        if table.name == "custom_fields":
            mark(self._staging, commit_id, _SUBSCRIBERS, "custom_fields_commit_id")
            return
        name, column, keys = {
            "order_items": (
                "orders",
                "commit_id",
                f"""SELECT o.order_id AS key FROM order_items AS o
                WHERE o.account_id = :account_id AND o.order_item_id IN ({self._keys(table.name)})
                """,
            ),
            "mailing_list_entries": ("list_downloads", "commit_id", self._keys(table.name)),
            "custom_field_answers": (
                _SUBSCRIBERS,
                "custom_fields_commit_id",
                self._keys(table.name),
            ),
        }.get(table.name, ("", "", ""))
        if name:
            kept = f"marked_by_removed_{table.name}"
            mark(self._staging, commit_id, name, column, keys=keys, kept=kept)

    def _remove(self, table: Table, commit_id: int) -> int:
        staging = self._staging
        if table.name == _SUBSCRIBERS:
            now = accounts.second_of(staging.connection, staging.account_id)
            return staging.change(
                f"""
                UPDATE subscribers SET delete_date = '{now}', removed_at = '{now}',
                    commit_id = :commit_id
                WHERE {_own(table)} AND subscriber_id IN ({self._keys(_SUBSCRIBERS)})
                """,
                commit_id=commit_id,
            )
        keys = staging.keys_in(_list(table))
        if table.name in _ENTITIES:
            deletions.note(
                staging.connection,
                staging.account_id,
                commit_id,
                _ENTITIES[table.name],
                f"""SELECT account_id, {table.key[0]} AS record_id FROM {table.name}
                WHERE {_own(table)} AND {table.key[0]} IN ({self._keys(table.name)})""",
            )
        return staging.change(
            f"""
            DELETE FROM {table.name} WHERE {_own(table)} AND ({_columns("", table.key)}) IN (
                SELECT {_columns("m", ("key", "other")[: len(table.key)])} FROM {keys} AS m)
            """
        )


def _list(table: Table) -> str:
    return f"missing_{table.name}"


def _columns(row: str, names: Iterable[str], aliases: Sequence[str] = ()) -> str:
    prefix = f"{row}." if row else ""
    given = [f"{prefix}{name}" for name in names]
    return ", ".join(f"{name} AS {aliases[n]}" if aliases else name for n, name in enumerate(given))


def _own(table: Table, row: str = "") -> str:
    """Return the condition for the account's existing rows, without deleted subscribers."""
    prefix = f"{row}." if row else ""
    own = f"{prefix}account_id = :account_id"
    return f"{own} AND {prefix}delete_date IS NULL" if table.name == _SUBSCRIBERS else own


def record_name(table: Table, key: Sequence[int]) -> str:
    """Return a record's name in messages, such as ``order 4`` or ``mailing list entry 1/17``."""
    if len(table.key) == 1:
        word = table.key[0].removesuffix("_id")
    else:
        word = table.name.removesuffix("s").removesuffix("ie") + "y" * table.name.endswith("ies")
    return f"{word.replace('_', ' ')} {'/'.join(map(str, key))}"


def missing_from_files(staging: Staging) -> Removal:
    """Return the removal of all rows that a load's files lack, for the tables that have a file.

    Refused rows are not missing, and rows that the books have stay. Call it before the staged rows
    are checked, since the checks discard some.
    """
    removal = Removal(staging, "is not in the files")
    for table in TABLES:
        if table.name not in staging.tables:
            removal.add_parts(table)
            continue
        first, *others = table.key
        same = " AND ".join(f"s.{name} = o.{name}" for name in table.key)
        query = f"""SELECT {_columns("o", table.key, ("key", "other"))} FROM {table.name} AS o
            WHERE {_own(table, "o")} AND NOT {staging.has(table.name, "s", same)}"""
        if staging.rows(f"SELECT 1 FROM {staging.keys_in(refused(table.name))} AS k LIMIT 1"):
            more = "".join(f" AND k.other = o.{name}" for name in others)
            is_refused = staging.is_in(refused(table.name), f"o.{first}", f"TRUE{more}")
            query += f" AND NOT {is_refused}"
        kept = kept_records.kept_from_removal(staging, table)
        counted = f"SELECT count(*) FROM ({query} AND {kept}) AS m"
        if kept != "FALSE" and (count := staging.value_as(int, counted)):
            removal.kept[table.name] = count
            query += f" AND NOT {kept}"
        removal.add(table, query)
    return removal


def restore_returned(staging: Staging) -> None:
    """Clear the ``delete_date`` of subscribers who are in the files of a complete load again.

    It clears only dates that a removal set, and only if the row does not have that column itself.
    Erased subscribers keep their date: call this after ``erasing.blank_staged``, which gives their
    rows the column.
    """
    table = TABLES_BY_NAME[_SUBSCRIBERS]
    if _SUBSCRIBERS not in staging.tables or not staging.keep(
        _RETURNED,
        """SELECT subscriber_id AS key FROM subscribers
        WHERE account_id = :account_id AND delete_date = removed_at""",
    ):
        return
    bit = 1 << [column.name for column in table.columns].index("delete_date")
    staging.change(
        f"""
        UPDATE staged_subscribers AS s SET present = present | {bit}, delete_date = NULL
        WHERE {staging.own(_SUBSCRIBERS, "s")} AND NOT ({has_column(table, "delete_date", "s")})
            AND {staging.is_in(_RETURNED, "s.subscriber_id")}
        """
    )


def remove_records(
    store: Store,
    account_id: int,
    table: Table,
    keys: Iterable[Key],
    *,
    by: audit.Actor | None = None,
) -> dict[str, int]:
    """Remove single records and the rows that are part of them, in one transaction.

    Returns the number of removed rows by table, including subscribers who get a ``delete_date``.
    Raises NotFound if the account or one of the records does not exist, BadInput if something else
    refers to one.
    """
    keys = sorted(set(keys))
    with store.writer() as connection:
        with staging_for(connection, account_id) as staging, connection.transaction():
            connection.lock_account(account_id)
            store.check_schema(connection)
            accounts.settings_of(connection, account_id)
            staging.add_keys(_list(table), keys)
            _check_there(staging, table)
            removal = Removal(staging, "cannot be removed")
            removal.count(table, len(keys))
            for each in TABLES:
                removal.add_parts(each)
            commit_id = commits.begin_commit(connection, account_id)
            plans = plan_changes.plans_of(connection, account_id)
            removed = removal.run(commit_id)
            if plans:
                plan_changes.bring_up_to_date(store, connection, account_id, commit_id, plans)
            if not any(removed.values()):
                commits.drop_commit(connection, account_id, commit_id)
            audit.record(connection, by, _summary(table, keys, removed), account_id=account_id)
        commits.stamp_commits(store, account_id)
    return removed


def _check_there(staging: Staging, table: Table) -> None:
    names = ("key", "other")[: len(table.key)]
    same = " AND ".join(f"o.{name} = m.{key}" for name, key in zip(table.key, names, strict=True))
    absent = staging.rows_as(
        tuple[int, ...],
        f"""
        SELECT {_columns("m", names)} FROM {staging.keys_in(_list(table))} AS m WHERE NOT EXISTS (
            SELECT 1 FROM {table.name} AS o WHERE o.account_id = :account_id AND {same})
        ORDER BY {_columns("m", names)}
        """,
    )
    if absent:
        named = ", ".join("/".join(map(str, key)) for key in absent[:_IDS_NAMED_MAX])
        more = ", …" if len(absent) > _IDS_NAMED_MAX else ""
        word = record_name(table, absent[0]).rpartition(" ")[0]
        raise NotFound(
            f"account {staging.account_id} has no {word} {named}{more}; nothing was removed"
        )


def _summary(table: Table, keys: Sequence[Key], removed: dict[str, int]) -> str:
    named = ", ".join("/".join(map(str, key)) for key in keys[:_IDS_NAMED_MAX])
    more = ", …" if len(keys) > _IDS_NAMED_MAX else ""
    counts = ", ".join(f"{count} of {name}" for name, count in reversed(removed.items()))
    return f"removed {table.name} {named}{more}: {counts}"
