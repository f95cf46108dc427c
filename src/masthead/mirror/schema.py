"""The tables of a copy's database: CREATE statements with comments, and the names to expect."""

from collections.abc import Iterator, Mapping

from masthead.mirror import amounts
from masthead.mirror.comments import of_columns, of_table
from masthead.mirror.dialects import DIALECTS, Dialect
from masthead.mirror.tables import (
    CHANGED_AT,
    ENDED_AT,
    SET_ASIDE,
    TABLES,
    UNEARNED,
    Table,
    not_null,
)
from masthead.mirror.versions import history_of

STATE_TABLE = "mirror"
STATE_COLUMNS = ("id", "base_url", "account_id", "changed_since", "lacking", "entities", CHANGED_AT)

BUNDLES = "bundle_publications"
_BUNDLES_COLUMNS = ("bundle_id", "publication_id")
BUNDLES_QUERY = """
    SELECT DISTINCT last_purchase_bundle_id AS bundle_id, publication_id
    FROM subscriptions WHERE last_purchase_bundle_id IS NOT NULL
"""
"""The publications of each bundle that a subscription was last bought with."""


def columns_of(table: Table, dialect: Dialect) -> list[str]:
    """Return the names of a table's columns in a database, in order."""
    added = amounts.added_columns(table.columns) if dialect.has_amounts else ()
    return [*(field.name for field in table.columns), *added, CHANGED_AT]


def expected(dialect: Dialect, *, history: bool, unearned: bool) -> dict[str, list[str]]:
    """Return the columns of each table and view, by their names."""
    tables = (*TABLES, UNEARNED) if unearned else TABLES
    found = {table.name: columns_of(table, dialect) for table in tables}
    if history:
        found |= {history_of(t): [*found[t.name], ENDED_AT] for t in tables}
    found[SET_ASIDE.name] = columns_of(SET_ASIDE, dialect)
    return found | {STATE_TABLE: list(STATE_COLUMNS), BUNDLES: list(_BUNDLES_COLUMNS)}


def described(name: str) -> Mapping[str, str]:
    """Return what each column of a table of files means; nothing for another table."""
    for table in (*TABLES, UNEARNED, SET_ASIDE):
        columns = columns_of(table, DIALECTS["duckdb"])
        if name == table.name:
            return of_columns(table, columns)
        if name == history_of(table):
            return of_columns(table, [*columns, ENDED_AT])
    return {}


def script(dialect: Dialect, *, history: bool, unearned: bool) -> str:
    """Return the statements that create what is missing."""
    created = [
        f"""
        CREATE TABLE IF NOT EXISTS {STATE_TABLE} (id INTEGER PRIMARY KEY, base_url TEXT,
            account_id BIGINT, changed_since TEXT, lacking TEXT, entities TEXT, {CHANGED_AT} TEXT);
        """
    ]
    for table in (*TABLES, UNEARNED) if unearned else TABLES:
        created += _table(table, dialect)
        if history:
            created += _table(table, dialect, is_history=True)
    created += _table(SET_ASIDE, dialect)
    created.append(f"{dialect.create_view} {BUNDLES} AS {BUNDLES_QUERY};")
    return "\n".join(created)


def _table(table: Table, dialect: Dialect, *, is_history: bool = False) -> Iterator[str]:
    """Yield the statements for a table, with comments in the form that the database keeps."""
    name = history_of(table) if is_history else table.name
    time = dialect.time_type
    types = {
        field.name: f"{dialect.column_type(field.kind)}{not_null(field)}" for field in table.columns
    }
    types |= {n: "SMALLINT" for n in columns_of(table, dialect) if n not in types}
    types[CHANGED_AT] = time
    key = [field.name for field in table.columns[: table.key]]
    if is_history:
        types[ENDED_AT] = f"{time} NOT NULL"
        key.append(CHANGED_AT)
    meanings = of_columns(table, list(types))
    lines = [f'"{column}" {kind}' for column, kind in types.items()]
    if dialect.has_indexes:
        lines.append(f"PRIMARY KEY ({', '.join(key)})")
    if dialect.has_comments:
        yield f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(lines)}){dialect.table_options};"
        yield f"COMMENT ON TABLE {name} IS {_text(of_table(table))};"
        for column, meaning in meanings.items():
            yield f'COMMENT ON COLUMN {name}."{column}" IS {_text(meaning)};'
        return
    commented = [
        f"    {line}{',' * (number < len(lines))}{f' -- {meaning}' if meaning else ''}"
        for number, (line, meaning) in enumerate(
            zip(lines, [*meanings.values(), ""], strict=True), start=1
        )
    ]
    body = "\n".join([f"    -- {of_table(table)}", *commented])
    yield f"CREATE TABLE IF NOT EXISTS {name} (\n{body}\n){dialect.table_options};"


def _text(value: str) -> str:
    quoted = value.replace("'", "''")
    return f"'{quoted}'"
