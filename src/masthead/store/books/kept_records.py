"""What a file may not do to readers with books, and to records that operations have added.

An id that an operation gave never means another record of a file: a row with such an id has to name
the record as it is stored. A file does not remove, revive or rename a reader who has issues, money
or orders in the books, or who was merged (decisions, "Ids of files and of the
books"; rules, "Readers whom files leave alone"). All of this applies in mode ``here`` only.
"""

from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.store.books.operation import mode_of
from masthead.store.staging import Staging, has_column

_NAMED_BY = {
    "publications": ("name",),
    "issues": ("name", "publication_id"),
    "subscribers": ("renewal_code", "first_name", "last_name"),
    "addresses": ("subscriber_id",),
    "bundles": ("name",),
    "products": ("name",),
}
"""The tables whose ids operations give too, and the columns that a row must have as stored."""

_OWNER = {
    "addresses": "subscribers",
    "custom_field_answers": "subscribers",
    "bundle_lines": "bundles",
    "renewal_efforts": "publications",
}
"""Tables whose rows belong to a record of such a table, and that table."""

_SUBSCRIBERS = TABLES_BY_NAME["subscribers"]
_PROVEN = "named_as_here"
_MERGED = "merged_subscribers"

HAS_BOOKS = """(
    EXISTS (SELECT 1 FROM subscriptions AS b WHERE b.account_id = :account_id
        AND b.subscriber_id = {subscriber} AND (b.issues <> 0
            OR b.unearned_revenue NOT IN ('', '0', '0.0', '0.00')))
    OR EXISTS (SELECT 1 FROM orders AS b WHERE b.account_id = :account_id
        AND b.subscriber_id = {subscriber} AND b.order_id > (
            SELECT coalesce(k.last_order_before, -1) FROM books AS k
            WHERE k.account_id = :account_id)))"""
"""The condition that a reader has issues left, unearned money, or an order in the books."""


def check_kept(staging: Staging) -> None:
    """Assign rows of merged readers to the kept ones; store a problem for each refused row.

    Runs in the load's transaction, before its rows are checked and after ``erasing.blank_staged``.
    """
    if mode_of(staging.connection, staging.account_id) != "here":
        return
    _follow_merges(staging)
    for name, columns in _NAMED_BY.items():
        if name in staging.tables:
            _check_given_here(staging, TABLES_BY_NAME[name], columns)
    if _SUBSCRIBERS.name in staging.tables:
        _check_readers(staging)
    if "addresses" in staging.tables:
        _check_moves(staging)
    _check_belongings(staging)


def kept_from_removal(staging: Staging, table: Table) -> str:
    """Return the condition that complete files do not remove a stored row ``o`` which they lack.

    It is FALSE if nothing of the table is kept.
    """
    if mode_of(staging.connection, staging.account_id) != "here":
        return "FALSE"
    kept = []
    if table.name in _NAMED_BY:
        kept.append("o.given_here = 1")
    if table.name == _SUBSCRIBERS.name:
        kept.append(HAS_BOOKS.format(subscriber="o.subscriber_id"))
    if owner := _OWNER.get(table.name):
        (key,) = TABLES_BY_NAME[owner].key
        kept.append(
            f"""EXISTS (SELECT 1 FROM {owner} AS w WHERE w.account_id = :account_id
            AND w.{key} = o.{key} AND w.given_here = 1)"""
        )
    return f"({' OR '.join(kept)})" if kept else "FALSE"


def _stored(table: Table) -> str:
    same = " AND ".join(f"o.{name} = s.{name}" for name in table.key)
    return f"SELECT 1 FROM {table.name} AS o WHERE o.account_id = :account_id AND {same}"


def _differs(table: Table, names: tuple[str, ...] = ()) -> str:
    """Return the condition that ``s`` changes one of the columns of ``o``; by default any."""
    names = names or tuple(c.name for c in table.values if c.name != "given_here")
    return "(" + (
        " OR ".join(
            f'({has_column(table, name, "s")} AND o."{name}" IS DISTINCT FROM s."{name}")'
            for name in names
        )
        + ")"
    )


def _is_named(table: Table, columns: tuple[str, ...]) -> str:
    """Return the condition that ``s`` has one of the columns as in ``o``, and none differs."""
    given = " OR ".join(
        f"({has_column(table, name, 's')} AND o.{name} = s.{name})" for name in columns
    )
    return f"(({given}) AND NOT {_differs(table, columns)})"


def _check_given_here(staging: Staging, table: Table, columns: tuple[str, ...]) -> None:
    """Find rows that mean another record than the one to which an operation gave their id."""
    (key,) = table.key
    word = key.removesuffix("_id")
    has = has_column(table, "given_here", "s")
    staging.find(
        table,
        "given_here",
        "'only operations give ids here: leave given_here out'",
        f"""{has} AND (EXISTS ({_stored(table)} AND o.given_here <> s.given_here)
            OR s.given_here = 1 AND NOT EXISTS ({_stored(table)}))""",
    )
    named = " or ".join(columns)
    staging.find(
        table,
        key,
        f"'{word} ' || s.{key} || ' was added here, so this row is taken for another one unless it"
        f" has the same {named}; ids from keys of a mapping never meet those of here'",
        f"""EXISTS ({_stored(table)} AND o.given_here = 1 AND {_differs(table)}
            AND NOT {_is_named(table, columns)})""",
    )


def _check_readers(staging: Staging) -> None:
    """Find the rows that would remove, revive or rename a reader who must stay unchanged."""
    table = _SUBSCRIBERS
    erased = """EXISTS (SELECT 1 FROM erasures AS e WHERE e.account_id = :account_id
        AND e.subscriber_id = s.subscriber_id)"""
    has_books = f"NOT {erased} AND {HAS_BOOKS.format(subscriber='o.subscriber_id')}"
    why = "who has issues, money or orders here"
    staging.find(
        table,
        "subscriber_id",
        "'subscriber ' || s.subscriber_id || ' was merged into ' || (SELECT o.merged_into FROM "
        "subscribers AS o WHERE o.account_id = :account_id AND o.subscriber_id = s.subscriber_id) "
        "|| ', and what was merged stays merged: give the other one'",
        f"EXISTS ({_stored(table)} AND o.merged_into IS NOT NULL AND {_differs(table)})",
    )
    not_merged = f"{_stored(table)} AND o.merged_into IS NULL"
    names = ("first_name", "last_name")
    staging.find(
        table,
        "last_name",
        f"'no file renames subscriber ' || s.subscriber_id || ', {why}: leave the name out, and "
        "change it in the console'",
        f"""EXISTS ({not_merged} AND o.given_here = 0 AND {_differs(table, names)}
            AND {has_books})""",
    )
    staging.find(
        table,
        "delete_date",
        f"'no file removes subscriber ' || s.subscriber_id || ', {why}'",
        f"""s.delete_date IS NOT NULL AND EXISTS ({not_merged} AND o.delete_date IS NULL
            AND {_differs(table, ("delete_date",))} AND {has_books})""",
    )
    staging.find(
        table,
        "delete_date",
        f"'no file revives subscriber ' || s.subscriber_id || ', {why}'",
        f"""EXISTS ({not_merged} AND o.delete_date IS NOT NULL
            AND {_differs(table, ("delete_date",))} AND {has_books})""",
    )


def _check_moves(staging: Staging) -> None:
    """Find the addresses that would move away from a reader who has books."""
    table = TABLES_BY_NAME["addresses"]
    staging.find(
        table,
        "subscriber_id",
        "'address ' || s.address_id || ' is that of subscriber ' || (SELECT o.subscriber_id FROM "
        "addresses AS o WHERE o.account_id = :account_id AND o.address_id = s.address_id) || "
        "', who has issues, money or orders here, and does not move'",
        f"""EXISTS ({_stored(table)} AND o.given_here = 0
            AND {_differs(table, ("subscriber_id",))}
            AND {HAS_BOOKS.format(subscriber="o.subscriber_id")})""",
    )


def _check_belongings(staging: Staging) -> None:
    """Find rows of a reader added by an operation that come without the reader's own row.

    The reader's own row says who is meant.
    """
    staging.keep(
        _PROVEN,
        f"""SELECT s.subscriber_id AS key FROM {staging.rows_of(_SUBSCRIBERS.name)} AS s
        WHERE EXISTS ({_stored(_SUBSCRIBERS)}
            AND {_is_named(_SUBSCRIBERS, _NAMED_BY[_SUBSCRIBERS.name])})"""
        if _SUBSCRIBERS.name in staging.tables
        else "SELECT 0 AS key WHERE FALSE",
    )
    for name, owner in _OWNER.items():
        if name not in staging.tables or owner != _SUBSCRIBERS.name:
            continue
        table = TABLES_BY_NAME[name]
        staging.find(
            table,
            "subscriber_id",
            "'subscriber ' || s.subscriber_id || ' was added here: load this together with that "
            "reader''s row of subscribers, with the same renewal_code or name'",
            f"""EXISTS (SELECT 1 FROM subscribers AS w WHERE w.account_id = :account_id
                AND w.subscriber_id = s.subscriber_id AND w.given_here = 1)
            AND NOT {staging.is_in(_PROVEN, "s.subscriber_id")}
            AND NOT EXISTS ({_stored(table)} AND NOT {_differs(table)})""",
        )


def _follow_merges(staging: Staging) -> None:
    """Assign addresses and answers of merged readers to the readers who are kept.

    An answer is dropped if the kept reader has answered the question, as in merging.
    """
    found = staging.keep(
        _MERGED,
        """SELECT subscriber_id AS key, merged_into AS other FROM subscribers
        WHERE account_id = :account_id AND merged_into IS NOT NULL""",
        ("key", "other"),
    )
    if not found:
        return
    kept = f"(SELECT m.other FROM {staging.keys_in(_MERGED)} AS m WHERE m.key = s.subscriber_id)"
    is_merged = staging.is_in(_MERGED, "s.subscriber_id")
    if "custom_field_answers" in staging.tables:
        staging.change(
            f"""
            DELETE FROM staged_custom_field_answers AS s
            WHERE {staging.own("custom_field_answers", "s")} AND {is_merged} AND (
                EXISTS (SELECT 1 FROM custom_field_answers AS o WHERE o.account_id = :account_id
                    AND o.subscriber_id = {kept} AND o.field_id = s.field_id)
                OR {
                staging.has(
                    "custom_field_answers",
                    "n",
                    f"n.subscriber_id = {kept} AND n.field_id = s.field_id",
                )
            })
            """
        )
    for name in ("addresses", "custom_field_answers"):
        if name in staging.tables:
            staging.change(
                f"""
                UPDATE staged_{name} AS s SET subscriber_id = {kept}
                WHERE {staging.own(name, "s")} AND {is_merged}
                """
            )
