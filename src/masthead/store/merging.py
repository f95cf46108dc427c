"""Merging staged rows into an account's data, and marking what that changes for the change feed.

A row is new, changed (a value differs) or unchanged. New and changed rows of the feed's entities
take the id of the load's commit; so does a record that only shows what changed: an order whose
item differs, a subscriber's record of custom fields when an answer, a field or an option that it
shows differs (design, "The change feed").
"""

from collections.abc import Callable
from typing import NamedTuple

from masthead.contract.kinds import Missing
from masthead.contract.records import ERASURES, TABLES_BY_NAME, Table
from masthead.store import commits, erasing
from masthead.store.database import Database, Dialect
from masthead.store.staging import Staging, column_names

__all__ = ["Counts", "merge"]

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
"""Lets the planner walk the staged rows, not the stored ones, of which there may be many more."""

_ANALYZED_ROWS_MIN = 10_000


class Counts(NamedTuple):
    """How many rows of a table a load inserted, changed and found unchanged."""

    inserted: int
    changed: int
    unchanged: int


def merge(staging: Staging, tell: Callable[[str], None]) -> dict[str, Counts]:
    """Write all staged rows, inside the caller's transaction; return the counts of each table.

    Where nothing is new or changed there is no commit either. ``tell`` hears what is being done.
    """
    database, account_id = staging.database, staging.account_id
    commit_id = commits.begin_commit(database, account_id)
    counts = {}
    for table in TABLES_BY_NAME.values():
        if table.name in staging.tables:
            tell(f"writing {table.name}")
            counts[table.name] = _Merge(staging, table, commit_id).run()
    if "subscriptions" in staging.tables:
        _keep_kinds(database, account_id, commit_id)
    if ERASURES.name in counts and counts[ERASURES.name].inserted:
        whose = f"SELECT subscriber_id FROM staged_{ERASURES.name}"
        for name, blanked in erasing.blank(database, account_id, commit_id, whose).items():
            before = counts.get(name, Counts(0, 0, 0))
            counts[name] = before._replace(changed=before.changed + blanked)
    if not any(count.inserted or count.changed for count in counts.values()):
        commits.drop_commit(database, account_id, commit_id)
    return counts


def _keep_kinds(database: Database, account_id: int, commit_id: int) -> None:
    """Add the kinds of subscriptions that the commit brings to those that the account has."""
    kind = "account_id, publication_id, type, copies, issues, renew_campaign_active"
    database.change(
        f"""
        INSERT INTO subscription_kinds ({kind})
        SELECT {kind} FROM subscriptions
        WHERE account_id = :account_id AND commit_id = :commit_id
        EXCEPT SELECT {kind} FROM subscription_kinds WHERE account_id = :account_id
        """,
        account_id=account_id,
        commit_id=commit_id,
    )


class _Merge:
    """The merge of one table."""

    def __init__(self, staging: Staging, table: Table, commit_id: int) -> None:
        self.staging = staging
        self.database = staging.database
        self.table = table
        self.values = {"account_id": staging.account_id, "commit_id": commit_id}
        self._account = {"account_id": staging.account_id}
        self.same_key = " AND ".join(f"o.{name} = s.{name}" for name in table.key)

    def run(self) -> Counts:
        name, staged = self.table.name, self.staging.count(self.table)
        has_rows = self.database.row(
            # In order, so that the planner takes the index, however many rows it thinks there are.
            f"""
            SELECT 1 FROM {name} WHERE account_id = :account_id
            ORDER BY {self.table.key[0]} LIMIT 1
            """,
            **self._account,
        )
        groups = [(m, column_names(self.table, m)) for m in self.staging.masks(self.table)]
        for mask, columns in groups:
            self._mark_dependents(mask, columns)
        changed = 0
        if has_rows:
            for mask, columns in groups:
                self._make_way(mask, columns)
            changed = sum(self._update(mask, columns) for mask, columns in groups)
        inserted = sum(self._insert(mask, columns) for mask, columns in groups)
        if inserted + changed >= _ANALYZED_ROWS_MIN:
            self.database.analyze(name)
        return Counts(inserted, changed, staged - inserted - changed)

    def _update(self, mask: int, columns: list[str]) -> int:
        values = [name for name in columns if name not in self.table.key]
        if not values:
            return 0
        sets = [f'"{name}" = s."{name}"' for name in values]
        if self.table.name in _HAVE_COMMIT:
            sets.append("commit_id = :commit_id")
        return self._change(
            f"""
            UPDATE {self.table.name} AS o SET {", ".join(sets)}
            FROM staged_{self.table.name} AS s{_SCANNED[self.database.dialect]}
            WHERE o.account_id = :account_id AND {self.same_key} AND s.present = {mask}
            AND ({_differ(values)})
            """
        )

    def _make_way(self, mask: int, columns: list[str]) -> None:
        """Give rows whose unique value changes one that nobody has, so that two can swap theirs."""
        key = self.table.key[0]
        for name in set(self.table.unique).intersection(columns):
            self._change(
                f"""
                UPDATE {self.table.name} AS o SET {name} = '\x01' || o.{key}
                FROM staged_{self.table.name} AS s{_SCANNED[self.database.dialect]}
                WHERE o.account_id = :account_id AND {self.same_key} AND s.present = {mask}
                AND ({_differ([name])})
                """
            )

    def _insert(self, mask: int, columns: list[str]) -> int:
        required = {
            column.name
            for column in self.table.columns
            if column.missing is Missing.NEVER and column.kind.when_missing is None
        }
        if not required <= set(columns):
            return 0
        into = ", ".join(f'"{name}"' for name in columns)
        commit_columns = ""
        if self.table.name in _HAVE_COMMIT:
            commit_columns = ", commit_id"
        if self.table.name == "subscribers":
            commit_columns += ", custom_fields_commit_id"
        commit_values = ", :commit_id" * commit_columns.count(",")
        return self._change(
            f"""
            INSERT INTO {self.table.name} (account_id, {into}{commit_columns})
            SELECT :account_id, {into}{commit_values} FROM staged_{self.table.name} AS s
            WHERE s.present = {mask} AND NOT EXISTS (
                SELECT 1 FROM {self.table.name} AS o
                WHERE o.account_id = :account_id AND {self.same_key})
            ORDER BY {", ".join(f"s.{name}" for name in self.table.key)}
            """
        )

    def _mark_dependents(self, mask: int, columns: list[str]) -> None:
        """Mark the records that show rows of this table which are new or will change."""
        if self.table.name not in _HAVE_DEPENDENTS:
            return
        values = [name for name in columns if name not in self.table.key]
        if self.table.name == "custom_field_options":
            values = [name for name in values if name in _SHOWN_OF_OPTION]
        changed = self._changed_rows(mask, values)
        if not self.database.row(f"SELECT 1 {changed} LIMIT 1", **self._account):
            return
        if self.table.name == "order_items":
            self._mark(
                "orders",
                "commit_id",
                f"order_id IN (SELECT s.order_id {changed} UNION SELECT o.order_id {changed})",
            )
        elif self.table.name == "mailing_list_entries":
            # The feed does not show entries: this tells who keeps them to download the list again.
            self._mark(
                "list_downloads",
                "commit_id",
                f"mailing_list_id IN (SELECT s.mailing_list_id {changed})",
            )
        elif self.table.name == "custom_field_answers":
            self._mark_answers(f"subscriber_id IN (SELECT s.subscriber_id {changed})")
        elif self.table.name == "custom_fields":
            self._mark_answers("TRUE")
        elif self.table.name == "custom_field_options":
            self._mark_answers(
                f"""
                subscriber_id IN (
                    WITH n AS MATERIALIZED (
                        SELECT o.option_id, o.field_id {changed} AND o.option_id IS NOT NULL)
                    SELECT a.subscriber_id FROM n CROSS JOIN custom_field_answers AS a
                    WHERE a.account_id = :account_id AND a.field_id = n.field_id
                        AND '|' || a.option_ids || '|' LIKE '%|' || n.option_id || '|%')
                """
            )

    def _changed_rows(self, mask: int, values: list[str]) -> str:
        """Return FROM and WHERE of the staged rows ``s`` that are new or differ from ``o``."""
        return f"""FROM staged_{self.table.name} AS s LEFT JOIN {self.table.name} AS o
            ON o.account_id = :account_id AND {self.same_key}
            WHERE s.present = {mask} AND (o.account_id IS NULL OR {_differ(values)})"""

    def _mark_answers(self, condition: str) -> None:
        self._mark("subscribers", "custom_fields_commit_id", condition)

    def _mark(self, name: str, column: str, condition: str) -> None:
        older = f"account_id = :account_id AND {column} < :commit_id"
        if self.database.row(
            f"SELECT 1 FROM {name} WHERE {older} ORDER BY {column} LIMIT 1", **self.values
        ):
            self._change(f"UPDATE {name} SET {column} = :commit_id WHERE {older} AND {condition}")

    def _change(self, sql: str) -> int:
        values = {name: value for name, value in self.values.items() if f":{name}" in sql}
        return self.database.change(sql, **values)


def _differ(names: list[str]) -> str:
    return " OR ".join(f'o."{name}" IS DISTINCT FROM s."{name}"' for name in names) or "FALSE"
