"""Mark records for the change feed with the id of the commit that changed what they show.

The caller's transaction must have locked the account.
"""

from masthead.store.staging import Staging


def mark(
    staging: Staging,
    commit_id: int,
    name: str,
    column: str,
    *,
    keys: str | None = None,
    kept: str = "marked",
) -> None:
    """Set ``column`` of the table ``name`` to the commit's id in the rows that ``keys`` selects.

    ``keys`` is a query whose column ``key`` has the table's ids; None marks all rows. The keys are
    first stored as the list ``kept``. Otherwise the planner guesses how many keys the query finds,
    and a wrong guess makes it run the query for each row.
    """
    values = {"account_id": staging.account_id, "commit_id": commit_id}
    connection = staging.connection
    older = f"account_id = :account_id AND {column} < :commit_id"
    if not connection.row(
        f"SELECT 1 FROM {name} WHERE {older} ORDER BY {column} LIMIT 1", **values
    ):
        return
    condition = "TRUE"
    if keys:
        key = _KEYS[name]
        staging.keep(kept, f"SELECT DISTINCT key FROM ({keys}) AS k WHERE key IS NOT NULL")
        condition = f"{key} IN (SELECT m.key FROM {staging.keys_in(kept)} AS m)"
    connection.change(
        f"UPDATE {name} SET {column} = :commit_id WHERE {older} AND {condition}", **values
    )


_KEYS = {"orders": "order_id", "list_downloads": "mailing_list_id", "subscribers": "subscriber_id"}
"""The tables whose records show rows of other tables, with their keys."""
