"""Write staged rows to an account's data, and mark changed records for the change feed.

A row is new, changed (a value differs) or unchanged. New and changed rows of the feed's entities
get the id of the load's commit. So do records that contain a changed row of another table, such as
an order with a changed item, or a subscriber's custom fields with a changed answer, field or option
(architecture, "The change feed").
"""

from collections.abc import Callable
from typing import NamedTuple

from masthead.contract.records import ERASURES, TABLES_BY_NAME, Table
from masthead.store import commits, erasing, removing
from masthead.store.database import Connection, Dialect
from masthead.store.feed_marks import mark
from masthead.store.staging import Staging, column_names, has_column, option_ids_of

_HAVE_COMMIT = {
    "subscribers",
    "addresses",
    "subscriptions",
    "orders",
    "purchases",
    "list_downloads",
}
_HAVE_DEPENDENTS = {
    "order_items",
    "custom_field_answers",
    "custom_fields",
    "custom_field_options",
    "mailing_list_entries",
}
_SHOWN_OF_OPTION = ("value", "display_as", "order")
_SCANNED: dict[Dialect, str] = {"sqlite": " NOT INDEXED", "postgresql": ""}
"""Makes the planner scan the staged rows instead of the stored rows, which may be many more."""

_OWNER: dict[Dialect, str] = {"sqlite": ":account_id", "postgresql": "s.account_id"}
"""The account of a new row. On a distributed database, rows stay on their node if this is a column
of the staged row."""

GIVEN_HERE = "given_here"
"""The column that marks ids which operations of the books gave; a load gives none."""

_SAME_DIGEST = (
    "(o.password_hash_loaded IS NOT DISTINCT FROM s.password_hash_loaded"
    " OR o.password_hash IS NOT DISTINCT FROM s.password_hash)"
)
"""A digest is the same if it was loaded before, even if a login has replaced it since."""

_OF_DIGEST = ("password_hash", "password_hash_loaded")
_ANALYZED_ROWS_MIN = 100
_ANALYZED_PART_MIN = 10
"""Statistics are collected after at least this many new or changed rows, if they are at least a
tenth of the account's rows. Until PostgreSQL collects statistics automatically, it may scan all
rows of the account for each row of the next load, and a list can take seconds."""


class Counts(NamedTuple):
    """The numbers of a table's rows that a load inserted, changed, left unchanged and removed."""

    inserted: int
    changed: int
    unchanged: int
    removed: int = 0

    @property
    def has_changes(self) -> bool:
        """Whether any row was inserted, changed or removed."""
        return bool(self.inserted or self.changed or self.removed)


class Merged(NamedTuple):
    """The counts by table, the tables whose statistics should be collected now, and the commit.

    ``commit_id`` is None if nothing is new, changed or removed.
    """

    counts: dict[str, Counts]
    grown: list[str]
    commit_id: int | None


def merge(
    staging: Staging, tell: Callable[[str], None], removal: removing.Removal | None = None
) -> Merged:
    """Write all staged rows in the caller's transaction; then remove the rows of ``removal``.

    If nothing is new, changed or removed, no commit is added. ``tell`` is called with each step's
    name. Raises BadInput if something refers to a row that would be removed.
    """
    connection, account_id = staging.connection, staging.account_id
    commit_id = commits.begin_commit(connection, account_id)
    counts = {}
    grown = []
    for table in TABLES_BY_NAME.values():
        if table.name in staging.tables:
            tell(f"writing {table.name}")
            merging = TableMerge(staging, table, commit_id)
            counts[table.name] = merging.run()
            if merging.has_grown:
                grown.append(table.name)
    if (
        "subscriptions" in staging.tables
        and _add_combinations(connection, account_id, commit_id) >= _ANALYZED_ROWS_MIN
    ):
        grown.append("subscription_kinds")
    if ERASURES.name in counts and counts[ERASURES.name].inserted:
        whose = f"SELECT subscriber_id FROM {staging.rows_of(ERASURES.name)} AS e"
        for name, blanked in erasing.blank(connection, account_id, commit_id, whose).items():
            before = counts.get(name, Counts(0, 0, 0))
            counts[name] = before._replace(changed=before.changed + blanked)
    if removal:
        tell("removing rows")
        for name, removed in removal.run(commit_id).items():
            counts[name] = counts.get(name, Counts(0, 0, 0))._replace(removed=removed)
    if not any(count.has_changes for count in counts.values()):
        commits.drop_commit(connection, account_id, commit_id)
        return Merged(counts, grown, None)
    return Merged(counts, grown, commit_id)


def _add_combinations(connection: Connection, account_id: int, commit_id: int) -> int:
    """Add new combinations of values from the commit's subscriptions; return their number."""
    columns = "account_id, publication_id, type, copies, issues, renew_campaign_active"
    return connection.change(
        f"""
        INSERT INTO subscription_kinds ({columns})
        SELECT {columns} FROM subscriptions
        WHERE account_id = :account_id AND commit_id = :commit_id
        EXCEPT SELECT {columns} FROM subscription_kinds WHERE account_id = :account_id
        """,
        account_id=account_id,
        commit_id=commit_id,
    )


class TableMerge:
    """The merge of one table. Each step is one statement, whichever columns the rows have.

    ``staged`` is the FROM item of the staged rows; ``columns`` are all columns that any row has.
    ``same_key`` is the condition that staged row ``s`` and stored row ``o`` have the same key.
    """

    def __init__(self, staging: Staging, table: Table, commit_id: int) -> None:
        self.staging = staging
        self.connection = staging.connection
        self.table = table
        self.has_grown = False
        self.staged = staging.rows_of(table.name)
        self.values = {"account_id": staging.account_id, "commit_id": commit_id}
        self._account = {"account_id": staging.account_id}
        self.same_key = " AND ".join(f"o.{name} = s.{name}" for name in table.key)
        always, ever = staging.masks(table)
        self._always = set(column_names(table, always))
        self.columns = column_names(table, ever)
        self._when_missing = {column.name: column.kind.when_missing for column in table.columns}

    def run(self) -> Counts:
        """Mark what the rows change, update stored rows and insert new ones; return the counts."""
        staged = self.staging.count(self.table)
        if not staged:
            return Counts(0, 0, 0)
        has_rows = self._has_more_rows_than(0)
        self._mark_dependents()
        changed = 0
        if has_rows:
            self._make_way()
            changed = self._update()
        inserted = self._insert()
        written = inserted + changed
        self.has_grown = written >= _ANALYZED_ROWS_MIN and not (
            has_rows and self._has_more_rows_than(written * _ANALYZED_PART_MIN)
        )
        return Counts(inserted, changed, staged - inserted - changed)

    def _has_more_rows_than(self, count: int) -> bool:
        # ORDER BY makes the planner use the index even if its statistics are wrong.
        return bool(
            self.connection.row(
                f"""
                SELECT 1 FROM {self.table.name} WHERE account_id = :account_id
                ORDER BY {self.table.key[0]} LIMIT 1 OFFSET :count
                """,
                **self._account,
                count=count,
            )
        )

    def _update(self) -> int:
        values = [name for name in self.columns if name not in self.table.key]
        if not values:
            return 0
        sets = [f'"{name}" = {self.new_value(name)}' for name in values]
        if self.table.name in _HAVE_COMMIT:
            sets.append("commit_id = :commit_id")
        return self._change(
            f"""
            UPDATE {self.table.name} AS o SET {", ".join(sets)}
            FROM {self.staged} AS s{_SCANNED[self.connection.dialect]}
            WHERE o.account_id = :account_id AND {self.same_key} AND ({self.differ(values)})
            """
        )

    def _make_way(self) -> None:
        """Replace changing unique values with unused ones, so that two rows can swap values."""
        key = self.table.key[0]
        for name in set(self.table.unique).intersection(self.columns):
            self._change(
                f"""
                UPDATE {self.table.name} AS o SET {name} = '\x01' || o.{key}
                FROM {self.staged} AS s{_SCANNED[self.connection.dialect]}
                WHERE o.account_id = :account_id AND {self.same_key} AND ({self.differ([name])})
                """
            )

    def _insert(self) -> int:
        required = {column.name for column in self.table.columns if column.is_required}
        if not required <= set(self.columns):
            return 0
        into = ", ".join(f'"{name}"' for name in self.columns)
        values = ", ".join(map(self.first_value, self.columns))
        commit_columns = ""
        if self.table.name in _HAVE_COMMIT:
            commit_columns = ", commit_id"
        if self.table.name == "subscribers":
            commit_columns += ", custom_fields_commit_id"
        commit_values = ", :commit_id" * commit_columns.count(",")
        if GIVEN_HERE in self._when_missing and GIVEN_HERE not in self.columns:
            commit_columns += f", {GIVEN_HERE}"
            commit_values += ", 0"
        return self._change(
            f"""
            INSERT INTO {self.table.name} (account_id, {into}{commit_columns})
            SELECT {_OWNER[self.connection.dialect]}, {values}{commit_values}
            FROM {self.staged} AS s
            WHERE NOT EXISTS (
                SELECT 1 FROM {self.table.name} AS o
                WHERE o.account_id = :account_id AND {self.same_key})
            ORDER BY {", ".join(f"s.{name}" for name in self.table.key)}
            """
        )

    def _has(self, name: str) -> str:
        """Return the condition that a staged row has the column, or "" if all rows have it."""
        return "" if name in self._always else has_column(self.table, name, "s")

    def new_value(self, name: str) -> str:
        """Return the new value in stored row ``o``: the value of ``s``, or its own if missing."""
        changes = [self._has(name), f"NOT {_SAME_DIGEST}" if name in _OF_DIGEST else ""]
        if condition := " AND ".join(filter(None, changes)):
            return f'CASE WHEN {condition} THEN s."{name}" ELSE o."{name}" END'
        return f's."{name}"'

    def first_value(self, name: str) -> str:
        """Return the column's value in a new row; the file may lack the column."""
        when_missing = self._when_missing.get(name)  # None for a derived column
        if self._has(name) and when_missing is not None:
            return f'coalesce(s."{name}", {when_missing!r})'
        return f's."{name}"'

    def differ(self, names: list[str]) -> str:
        """Return the condition that ``s`` differs from ``o`` in one of the columns."""
        differing = []
        for name in names:
            differs = f'o."{name}" IS DISTINCT FROM s."{name}"'
            if name in _OF_DIGEST:
                differs = f"NOT {_SAME_DIGEST}"
            has = self._has(name)
            differing.append(f"{has} AND {differs}" if has else differs)
        return " OR ".join(differing) or "FALSE"

    def _mark_dependents(self) -> None:
        """Mark the records that contain new or changed rows of this table."""
        if self.table.name not in _HAVE_DEPENDENTS:
            return
        values = [name for name in self.columns if name not in self.table.key]
        if self.table.name == "custom_field_options":
            values = [name for name in values if name in _SHOWN_OF_OPTION]
        changed = f"""FROM {self.staged} AS s LEFT JOIN {self.table.name} AS o
            ON o.account_id = :account_id AND {self.same_key}
            WHERE (o.account_id IS NULL OR {self.differ(values)})"""
        if not self.staging.rows(f"SELECT 1 {changed} LIMIT 1"):
            return
        if self.table.name == "order_items":
            keys = f"SELECT s.order_id AS key {changed} UNION SELECT o.order_id {changed}"
            self._mark("orders", "commit_id", keys)
        elif self.table.name == "mailing_list_entries":
            # The feed has no entries: a changed list download makes clients download it again.
            keys = f"SELECT s.mailing_list_id AS key {changed}"
            self._mark("list_downloads", "commit_id", keys)
        elif self.table.name == "custom_field_answers":
            self._mark_answers(f"SELECT s.subscriber_id AS key {changed}")
        elif self.table.name == "custom_fields":
            self._mark_answers(None)
        elif self.table.name == "custom_field_options":
            self.staging.keep(
                "changed_options",
                f"""SELECT o.option_id AS key, o.field_id AS other
                    {changed} AND o.option_id IS NOT NULL""",
                ("key", "other"),
            )
            # IS TRUE stops PostgreSQL from joining the few fields.
            fields = f"SELECT c.other FROM {self.staging.keys_in('changed_options')} AS c"
            self._mark_answers(
                f"""
                SELECT a.subscriber_id AS key FROM custom_field_answers AS a
                CROSS JOIN {option_ids_of("a", self.connection.dialect)}
                WHERE a.account_id = :account_id AND (a.field_id IN ({fields})) IS TRUE
                    AND {self.staging.is_in("changed_options", "j.value")}
                """
            )

    def _mark_answers(self, keys: str | None) -> None:
        self._mark("subscribers", "custom_fields_commit_id", keys)

    def _mark(self, name: str, column: str, keys: str | None) -> None:
        kept = f"marked_by_{self.table.name}"
        mark(self.staging, self.values["commit_id"], name, column, keys=keys, kept=kept)

    def _change(self, sql: str) -> int:
        values = {name: value for name, value in self.values.items() if f":{name}" in sql}
        return self.connection.change(sql, **values)
