"""Checks between rows: repeated keys, references to missing rows, unique codes.

Each check finds its bad rows with one query over the staged rows and stores a problem for each. No
check compares all pairs of rows, so a load's time grows with the number of rows and not with its
square (rules, "The time that a load takes").
"""

from masthead.contract.passwords import FILE_COLUMNS
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.store.staging import (
    DERIVED,
    NUMBERS_PER_FILE,
    Staging,
    has_column,
    option_ids_of,
    refused,
)

_DISAGREE = "rows of one record have to agree, or need a key that tells their records apart"


def check(staging: Staging, *, discard: bool) -> None:
    """Find all problems of the staged rows.

    With ``discard``, a row with a problem is deleted at once, so rows that refer to it have a
    problem too. Without ``discard``, they have none, so one mistake causes one problem.
    """
    for table in TABLES_BY_NAME.values():
        if table.name in staging.tables:
            _check_table(staging, table, discard=discard)


def _check_table(staging: Staging, table: Table, *, discard: bool) -> None:
    have_repeats = table.name in staging.mapped_tables and _drop_repeated(staging, table)
    _check_duplicates(staging, table)
    # Needed even without ``discard``: the checks below rely on unique keys.
    if staging.discard(table) or have_repeats:
        staging.renew(table)
    _check_required(staging, table)
    _check_unique_among_staged(staging, table)
    _check_unique_among_stored(staging, table)
    _check_unique_together(staging, table)
    _check_references(staging, table, discard=discard)
    if table.name == "order_items":
        _check_bundle_or_product(staging, table)
    elif table.name == "custom_field_options":
        _check_field_stays(staging, table)
    elif table.name == "custom_field_answers":
        _check_options(staging, table, discard=discard)
    if discard and staging.discard(table):
        _check_dependents(staging, table)
        staging.discard(table)


def _drop_repeated(staging: Staging, table: Table) -> bool:
    """Make one record of the repeated records of mapped files; return whether there were any.

    It has the columns of all of them (rules, "Flat rows"). Repeats that differ in a column are
    deleted, and are problems.
    """
    keys = ", ".join(table.key)
    staged = f"{staging.rows_of(table.name)} AS t WHERE t.file % {NUMBERS_PER_FILE} > 0"
    twice = f"SELECT {keys} FROM {staged} GROUP BY {keys} HAVING count(*) > 1"
    if not staging.rows(f"{twice} LIMIT 1"):
        return False
    repeated = f"{staged} AND ({keys}) IN ({twice})"
    _drop_same(staging, table, repeated)
    if not staging.rows(f"{twice} LIMIT 1"):
        return True
    for column in table.values:
        name = f'"{column.name}"'
        here, there = (f"coalesce('''' || s.{of} || '''', 'nothing')" for of in (name, "other"))
        is_secret = column.name in FILE_COLUMNS
        shown = "'differs from that'" if is_secret else f"{here} || ' here, and ' || {there}"
        staging.find(
            table,
            column.name,
            f"""{shown} || ' in line ' || s.first_line
                || CASE WHEN s.file / {NUMBERS_PER_FILE} = s.first_file / {NUMBERS_PER_FILE}
                    THEN '' ELSE ' of another file' END
                || ': {_DISAGREE}'""",
            f"{_compared(column.name, name)} IS DISTINCT FROM {_compared(column.name, 'other')}",
            rows=f"""
                SELECT file, line, {name}, first_value({name}) OVER w AS other,
                    first_value(line) OVER w AS first_line, first_value(file) OVER w AS first_file
                FROM {repeated} AND {has_column(table, column.name, "t")}
                WINDOW w AS (PARTITION BY {keys} ORDER BY file, line)""",
        )
    staging.discard(table)
    if staging.rows(f"{twice} LIMIT 1"):
        _join(staging, table, repeated)
        _drop_same(staging, table, repeated)
    return True


def _drop_same(staging: Staging, table: Table, repeated: str) -> None:
    """Delete all but the first of the repeated records that have the same columns and values."""
    names = [_compared(column.name, f'"{column.name}"') for column in table.columns]
    staging.change(
        f"""
        DELETE FROM staged_{table.name} AS s WHERE {staging.own(table.name, "s")}
            AND (s.file, s.line) IN (
                SELECT u.file, u.line FROM (
                    SELECT file, line, row_number() OVER (
                        PARTITION BY {", ".join(names)}, present ORDER BY file, line) AS nth
                    FROM {repeated}) AS u
                WHERE u.nth > 1)
        """
    )


def _join(staging: Staging, table: Table, repeated: str) -> None:
    """Give each of the repeated records the columns of all of them, which agree."""
    names = [*(column.name for column in table.values), *DERIVED.get(table.name, {})]
    bits = " + ".join(f"max(present & {1 << n})" for n in range(len(table.columns)))
    staging.change(
        f"""
        UPDATE staged_{table.name} AS s
        SET present = m.present, {", ".join(f'"{name}" = m."{name}"' for name in names)}
        FROM (
            SELECT {", ".join(table.key)}, {bits} AS present,
                {", ".join(f'max("{name}") AS "{name}"' for name in names)}
            FROM {repeated} GROUP BY {", ".join(table.key)}) AS m
        WHERE {staging.own(table.name, "s")} AND s.file % {NUMBERS_PER_FILE} > 0
            AND {" AND ".join(f"s.{name} = m.{name}" for name in table.key)}
        """
    )


def _compared(column: str, value: str) -> str:
    """Return an expression for a value of a column that is the same in records that agree."""
    return f"lower({value})" if column == "email" else value


def _check_duplicates(staging: Staging, table: Table) -> None:
    keys = ", ".join(table.key)
    staged = f"{staging.rows_of(table.name)} AS t"
    twice = f"SELECT {keys} FROM {staged} GROUP BY {keys} HAVING count(*) > 1"
    value = " || ', ' || ".join(f"s.{name}" for name in table.key)
    staging.find(
        table,
        table.key[-1],
        f"""{value} || CASE WHEN s.first_line < s.line
            THEN ' stands in line ' || s.first_line || ' too'
            ELSE ' stands in another file too' END""",
        "s.nth > 1",
        rows=f"""
            SELECT file, line, {keys},
                row_number() OVER (PARTITION BY {keys} ORDER BY file, line) AS nth,
                min(line) OVER (PARTITION BY {keys}, file) AS first_line
            FROM {staged} WHERE ({keys}) IN ({twice})""",
    )


def _check_required(staging: Staging, table: Table) -> None:
    same = " AND ".join(f"o.{name} = s.{name}" for name in table.key)
    for column in table.columns:
        if column.is_required:
            staging.find(
                table,
                column.name,
                "'missing: a new row needs it'",
                f"""NOT ({has_column(table, column.name, "s")}) AND NOT EXISTS (
                    SELECT 1 FROM {table.name} AS o WHERE o.account_id = :account_id AND {same})""",
            )


def _check_unique_among_staged(staging: Staging, table: Table) -> None:
    for name in table.unique:
        staging.find(
            table,
            name,
            f"'an earlier row has ' || s.{name} || ' too'",
            "s.nth > 1",
            rows=f"""
                SELECT file, line, {name},
                    row_number() OVER (PARTITION BY lower({name}) ORDER BY file, line) AS nth
                FROM {staging.rows_of(table.name)} AS t WHERE {name} IS NOT NULL""",
        )


def _check_unique_among_stored(staging: Staging, table: Table) -> None:
    for name in table.unique:
        owner = _owner(table, name)
        same = f"n.{table.key[0]} = o.{table.key[0]}"
        replaced = staging.has(table.name, "n", f"{same} AND {has_column(table, name, 'n')}")
        staging.find(
            table,
            name,
            _is_taken(table, name),
            f"EXISTS (SELECT 1 FROM {owner} AND NOT {replaced})",
        )


def _check_unique_together(staging: Staging, table: Table) -> None:
    """Find rows with the values of an earlier row.

    Stored rows are not compared: tables with such columns are loaded only into an account without
    any of their rows (``books.ownership``).
    """
    names = table.together
    if not names:
        return
    columns = ", ".join(names)
    values = " || ', ' || ".join(f"s.{name}" for name in names)
    staging.find(
        table,
        names[-1],
        f"'an earlier row has ' || {values} || ' too'",
        "s.nth > 1",
        rows=f"""
            SELECT file, line, {columns},
                row_number() OVER (PARTITION BY {columns} ORDER BY file, line) AS nth
            FROM {staging.rows_of(table.name)} AS t
            WHERE {" AND ".join(f"{name} IS NOT NULL" for name in names)}""",
    )


def _owner(table: Table, name: str) -> str:
    """Return FROM and WHERE for ``o``, another row that has the value of ``s``."""
    key = table.key[0]
    return f"""{table.name} AS o
        WHERE o.account_id = :account_id AND o.{name}_lower = lower(s.{name})
        AND o.{key} <> s.{key}"""


def _is_taken(table: Table, name: str) -> str:
    key = table.key[0]
    owner = f"'{_singular(key)} ' || (SELECT o.{key} FROM {_owner(table, name)})"
    return f"{owner} || ' has ' || s.{name} || ' already'"


def _check_dependents(staging: Staging, table: Table) -> None:
    """Find rows that cannot be loaded because other staged rows of their table were deleted.

    A row depends on the row that gives up the unique value that it takes, and on a row of the same
    table that it refers to. That row may depend on a third row.
    """
    key = table.key[0]
    for name in table.unique:
        _check_chains(
            staging,
            table,
            name,
            f"""SELECT s.{key} AS key, o.{key} AS other
                FROM {staging.rows_of(table.name)} AS s, {_owner(table, name)}""",
            stands=has_column(table, name, "n"),
            sentence=_is_taken(table, name),
        )
    for name, target in table.references.items():
        if target == table.name:
            _check_chains(
                staging,
                table,
                name,
                f"""SELECT s.{key} AS key, s.{name} AS other FROM {staging.rows_of(table.name)} AS s
                    WHERE s.{name} IS NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM {target} AS o
                        WHERE o.account_id = :account_id AND o.{key} = s.{name})""",
                stands="TRUE",
                sentence=_is_missing(name, _singular(key)),
            )


def _check_chains(
    staging: Staging, table: Table, name: str, links: str, *, stands: str, sentence: str
) -> None:
    """Find rows that depend, directly or through other rows, on a row that is not staged.

    ``links`` selects the key of a row and the key of the row that it depends on. ``stands`` is the
    condition that others can depend on staged row ``n``. Each step doubles the length of the chain
    that a link spans. So the number of steps is the logarithm of the number of links, even with
    cycles.
    """
    key, links_name = table.key[0], f"{name}_links"
    found = staging.keep(links_name, links, ("key", "other"))
    for _ in range(found.bit_length()):
        if not staging.change(
            f"""
            UPDATE staged_keys AS l SET other = (
                SELECT n.other FROM {staging.keys_in(links_name)} AS n WHERE n.key = l.other)
            WHERE {staging.own("keys", "l")} AND l.list = '{links_name}'
                AND {staging.is_in(links_name, "l.other", "k.other <> l.other")}
            """
        ):
            break
    stays = staging.has(table.name, "n", f"n.{key} = k.other AND {stands}")
    staging.find(
        table,
        name,
        sentence,
        staging.is_in(links_name, f"s.{key}", f"NOT {stays}"),
    )


def _check_references(staging: Staging, table: Table, *, discard: bool) -> None:
    for name, target in table.references.items():
        (key,) = TABLES_BY_NAME[target].key
        staging.find(
            table,
            name,
            _is_missing(name, _noun(target, key)),
            f"s.{name} IS NOT NULL AND {_unknown(staging, target, f's.{name}', discard=discard)}",
        )


def _is_missing(name: str, noun: str) -> str:
    return f"'there is no {noun} ' || s.{name}"


def _unknown(
    staging: Staging, target: str, value: str, *, discard: bool, where: str = "TRUE"
) -> str:
    """Return the condition that no row of ``target`` has the key ``value``."""
    (key,) = TABLES_BY_NAME[target].key
    condition = f"""NOT EXISTS (SELECT 1 FROM {target} AS o
        WHERE o.account_id = :account_id AND o.{key} = {value} AND {where})"""
    if target in staging.tables:
        condition += f" AND NOT {staging.has(target, 'o', f'o.{key} = {value} AND {where}')}"
    if not discard:
        condition += f" AND NOT {staging.is_in(refused(target), value)}"
    return condition


def _check_options(staging: Staging, table: Table, *, discard: bool) -> None:
    unknown = _unknown(
        staging,
        "custom_field_options",
        "j.value",
        discard=discard,
        where="o.field_id = s.field_id",
    )
    bad = f"FROM {option_ids_of('s', staging.connection.dialect)} WHERE {unknown}"
    staging.find(
        table,
        "option_ids",
        f"'field ' || s.field_id || ' has no option ' || (SELECT j.value {bad} LIMIT 1)",
        f"s.option_ids IS NOT NULL AND EXISTS (SELECT 1 {bad})",
    )


def _check_field_stays(staging: Staging, table: Table) -> None:
    other = """FROM custom_field_options AS o WHERE o.account_id = :account_id
        AND o.option_id = s.option_id AND o.field_id <> s.field_id"""
    staging.find(
        table,
        "field_id",
        f"'option ' || s.option_id || ' belongs to field ' || (SELECT o.field_id {other}) || "
        "' already, and an option does not move'",
        f"EXISTS (SELECT 1 {other})",
    )


def _check_bundle_or_product(staging: Staging, table: Table) -> None:
    def is_missing(name: str) -> str:
        stored = f"""(SELECT o.{name} FROM order_items AS o
            WHERE o.account_id = :account_id AND o.order_item_id = s.order_item_id)"""
        return f"CASE WHEN {has_column(table, name, 's')} THEN s.{name} ELSE {stored} END IS NULL"

    staging.find(
        table,
        "bundle_id",
        "'an item has either a bundle_id or a product_id: exactly one of them'",
        f"({is_missing('bundle_id')}) = ({is_missing('product_id')})",
    )


def _noun(target: str, key: str) -> str:
    """Return what a row of a table is called, by its key or by the record to which it belongs."""
    noun = _singular(key)
    owner = next(each.name for each in TABLES_BY_NAME.values() if each.key == (key,))
    return noun if owner == target else f"{target.removesuffix('s').replace('_', ' ')} of {noun}"


def _singular(key: str) -> str:
    return key.removesuffix("_id").replace("_", " ")
