"""What only all staged rows together can show: keys that occur twice, references, unique codes.

Each check finds its bad rows with one query over the staged rows and keeps a problem for each.
"""

from masthead.contract.kinds import Missing
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.store.database import Dialect
from masthead.store.staging import Staging

__all__ = ["check"]

_IS_EARLIER = "(e.file, e.line) < (s.file, s.line)"
_OPTIONS: dict[Dialect, str] = {
    "sqlite": "json_each('[' || replace(s.option_ids, '|', ',') || ']') AS j",
    "postgresql": "unnest(CAST(string_to_array(s.option_ids, '|') AS BIGINT[])) AS j (value)",
}


def check(staging: Staging, *, discard: bool) -> None:
    """Find all problems of the staged rows.

    With ``discard`` a row with a problem is dropped at once, so that rows which refer to it have a
    problem too. Without, they do not: one mistake is named once.
    """
    for table in TABLES_BY_NAME.values():
        if table.name in staging.tables:
            _check_table(staging, table, discard=discard)


def _check_table(staging: Staging, table: Table, *, discard: bool) -> None:
    _check_duplicates(staging, table)
    if discard:
        staging.discard(table)
    _check_required(staging, table)
    _check_unique_among_staged(staging, table)
    _check_unique_among_stored(staging, table)
    _check_references(staging, table, discard=discard)
    if table.name == "order_items":
        _check_bundle_or_product(staging, table)
    elif table.name == "custom_field_options":
        _check_field_stays(staging, table)
    elif table.name == "custom_field_answers":
        _check_options(staging, table, discard=discard)
    while discard and staging.discard(table):
        # A row that is dropped no longer frees its unique value, and cannot be referred to.
        _check_unique_among_stored(staging, table)
        if table.name in table.references.values():
            _check_references(staging, table, discard=discard)


def _check_duplicates(staging: Staging, table: Table) -> None:
    keys = ", ".join(table.key)
    twice = f"SELECT {keys} FROM staged_{table.name} GROUP BY {keys} HAVING count(*) > 1"
    same = " AND ".join(f"e.{name} = s.{name}" for name in table.key)
    earlier = f"FROM staged_{table.name} AS e WHERE {same} AND {_IS_EARLIER}"
    value = " || ', ' || ".join(f"s.{name}" for name in table.key)
    staging.find(
        table,
        table.key[-1],
        f"{value} || coalesce(' stands in line ' || "
        f"(SELECT min(e.line) {earlier} AND e.file = s.file) || ' too', "
        "' stands in another file too')",
        f"({keys}) IN ({twice}) AND EXISTS (SELECT 1 {earlier})",
    )


def _check_required(staging: Staging, table: Table) -> None:
    same = " AND ".join(f"o.{name} = s.{name}" for name in table.key)
    for position, column in enumerate(table.columns):
        if column.missing is Missing.NEVER and column.kind.when_missing is None:
            staging.find(
                table,
                column.name,
                "'missing: a new row needs it'",
                f"""(s.present >> {position} & 1) = 0 AND NOT EXISTS (
                    SELECT 1 FROM {table.name} AS o WHERE o.account_id = :account_id AND {same})""",
            )


def _check_unique_among_staged(staging: Staging, table: Table) -> None:
    key = table.key[0]
    for name in table.unique:
        staging.index(table, name, f"lower({name})")
        staging.find(
            table,
            name,
            f"'an earlier row has ' || s.{name} || ' too'",
            f"""EXISTS (SELECT 1 FROM staged_{table.name} AS e
                WHERE lower(e.{name}) = lower(s.{name}) AND e.{key} <> s.{key}
                AND {_IS_EARLIER})""",
        )


def _check_unique_among_stored(staging: Staging, table: Table) -> None:
    key = table.key[0]
    for position, column in enumerate(table.columns):
        name = column.name
        if name not in table.unique:
            continue
        stored = f"""FROM {table.name} AS o
            WHERE o.account_id = :account_id AND o.{name}_lower = lower(s.{name})
            AND o.{key} <> s.{key} AND NOT EXISTS (SELECT 1 FROM staged_{table.name} AS n
                WHERE n.{key} = o.{key} AND (n.present >> {position} & 1) = 1)"""
        owner = f"'{_singular(key)} ' || (SELECT o.{key} {stored})"
        staging.find(
            table,
            name,
            f"{owner} || ' has ' || s.{name} || ' already'",
            f"EXISTS (SELECT 1 {stored})",
        )


def _check_references(staging: Staging, table: Table, *, discard: bool) -> None:
    for name, target in table.references.items():
        (key,) = TABLES_BY_NAME[target].key
        staging.find(
            table,
            name,
            f"'there is no {_singular(key)} ' || s.{name}",
            f"s.{name} IS NOT NULL AND {_unknown(staging, target, f's.{name}', discard=discard)}",
        )


def _unknown(
    staging: Staging, target: str, value: str, *, discard: bool, where: str = "TRUE"
) -> str:
    """Return the condition that no row of ``target`` has ``value`` as its key."""
    (key,) = TABLES_BY_NAME[target].key
    condition = f"""NOT EXISTS (SELECT 1 FROM {target} AS o
        WHERE o.account_id = :account_id AND o.{key} = {value} AND {where})"""
    if target in staging.tables:
        condition += f""" AND NOT EXISTS (
            SELECT 1 FROM staged_{target} AS o WHERE o.{key} = {value} AND {where})"""
    if not discard:
        condition += f""" AND NOT EXISTS (
            SELECT 1 FROM refused_keys AS o WHERE o.name = '{target}' AND o.key = {value})"""
    return condition


def _check_options(staging: Staging, table: Table, *, discard: bool) -> None:
    unknown = _unknown(
        staging,
        "custom_field_options",
        "j.value",
        discard=discard,
        where="o.field_id = s.field_id",
    )
    bad = f"FROM {_OPTIONS[staging.database.dialect]} WHERE {unknown}"
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
    positions = {column.name: position for position, column in enumerate(table.columns)}

    def is_missing(name: str) -> str:
        stored = f"""(SELECT o.{name} FROM order_items AS o
            WHERE o.account_id = :account_id AND o.order_item_id = s.order_item_id)"""
        is_present = f"(s.present >> {positions[name]} & 1) = 1"
        return f"CASE WHEN {is_present} THEN s.{name} ELSE {stored} END IS NULL"

    staging.find(
        table,
        "bundle_id",
        "'an item has either a bundle_id or a product_id: exactly one of them'",
        f"({is_missing('bundle_id')}) = ({is_missing('product_id')})",
    )


def _singular(key: str) -> str:
    return key.removesuffix("_id").replace("_", " ")
