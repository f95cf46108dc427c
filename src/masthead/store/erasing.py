"""Erase a subscriber: blank the personal data, which stay blank whatever is loaded later.

The contract says which columns are personal (``Table.personal``). Ids, numbers and business dates
stay, since orders and lists refer to them. The table ``erasures`` lists the erased subscribers. A
load blanks their staged rows before any other step, so loading the same file again changes nothing
(decisions, "Personal data: erasing"; rules, "Personal data: later loads"). The records that were
merged into a subscriber's are erased with it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.contract.kinds import Bit
from masthead.contract.records import ERASURES, TABLES, TABLES_BY_NAME, Table
from masthead.contract.shapes import Field
from masthead.errors import no_subscriber
from masthead.store import accounts, audit, commits, logins
from masthead.store.database import Connection, Store, Value
from masthead.store.staging import DERIVED, Staging

PERSONAL = tuple(table for table in TABLES if table.personal)
"""The tables with personal columns."""

_ANSWERS = "custom_field_answers"
_BESIDE_THE_FEED = (
    *("notes", "complaints", "payer_details", "invoices", "payments", "bank_entries", "mandates"),
    *("claims", "reminders", "renewal_consents", "mails", "held_addresses"),
    *("reader_changes", "reader_requests", "qualifications"),
)
_ERASED = "erased_subscribers"
_WITH_MERGED = """account_id = :account_id
    AND (subscriber_id = :subscriber_id OR merged_into = :subscriber_id)"""


class Erasure(NamedTuple):
    """An erased subscriber. ``erased_at`` is ``YYYY-MM-DD hh:mm:ss`` in the account's time zone.

    None means the current time.
    """

    account_id: int
    subscriber_id: int
    erased_at: str | None


def erase(
    store: Store,
    account_id: int,
    subscriber_id: int,
    *,
    leave_traces: bool = False,
    by: audit.Actor | None = None,
) -> dict[str, int]:
    """Blank a subscriber's personal data in one commit; return the number of changed rows by table.

    Use this for an account in mode ``elsewhere``; ``books.erasure.erase`` works for any account.
    Unless ``leave_traces`` is set, the file of an embedded database is then rewritten to remove all
    traces of the data. Raises NotFound if the account or the subscriber does not exist.
    """
    with store.writer() as connection, connection.transaction():
        connection.lock_account(account_id)
        accounts.settings_of(connection, account_id)
        forget_logins(store, connection, account_id, subscriber_id)
        commit_id = commits.begin_commit(connection, account_id)
        merged = merged_into(connection, account_id, subscriber_id)
        blanked = blank_one(connection, account_id, subscriber_id, commit_id)
        if not blanked:
            commits.drop_commit(connection, account_id, commit_id)
        said = summary_of(subscriber_id, merged, blanked)
        audit.record(connection, by, said, account_id=account_id)
    commits.stamp_commits(store, account_id)
    if not leave_traces:
        store.vacuum_after_erase()
    return blanked


def blank_one(
    connection: Connection, account_id: int, subscriber_id: int, commit_id: int
) -> dict[str, int]:
    """Erase like :func:`erase`, in the caller's transaction, which has locked the account.

    Call :func:`forget_logins` first, which checks that the subscriber exists.
    """
    erased = [subscriber_id, *merged_into(connection, account_id, subscriber_id)]
    for each in erased:
        add(connection, Erasure(account_id, each, None))
    return blank(connection, account_id, commit_id, ", ".join(map(str, erased)))


def merged_into(connection: Connection, account_id: int, subscriber_id: int) -> list[int]:
    """Return the ids of the records that were merged into a subscriber's, in ascending order."""
    return connection.column_as(
        int,
        """
        SELECT subscriber_id FROM subscribers
        WHERE account_id = :account_id AND merged_into = :subscriber_id ORDER BY subscriber_id
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
    )


def forget_logins(
    store: Store, connection: Connection, account_id: int, subscriber_id: int
) -> None:
    """Delete the counters of logins with a subscriber's email, or that of a merged record.

    Raises NotFound if the subscriber does not exist, StoreUnavailable if the counters are
    unavailable.
    """
    emails = connection.column_as(
        str,
        f"SELECT coalesce(email, '') FROM subscribers WHERE {_WITH_MERGED}",
        account_id=account_id,
        subscriber_id=subscriber_id,
    )
    if not emails:
        raise no_subscriber(account_id, subscriber_id)
    for email in emails:
        logins.forget_email(store, account_id, email)


def add(connection: Connection, erasure: Erasure) -> bool:
    """Add a subscriber to the list of the erased; return False if the list had it before.

    The account need not have the subscriber. Runs in the caller's transaction, which has locked the
    account.
    """
    return bool(
        connection.change(
            """
            INSERT INTO erasures (account_id, subscriber_id, erased_at)
            VALUES (:account_id, :subscriber_id, :erased_at) ON CONFLICT DO NOTHING
            """,
            account_id=erasure.account_id,
            subscriber_id=erasure.subscriber_id,
            erased_at=erasure.erased_at or accounts.second_of(connection, erasure.account_id),
        )
    )


def erasures(connection: Connection) -> list[Erasure]:
    """Return the erased subscribers of all accounts, by ascending ids."""
    return connection.rows_as(
        Erasure,
        """
        SELECT account_id, subscriber_id, erased_at FROM erasures
        ORDER BY account_id, subscriber_id
        """,
    )


def summary_of(subscriber_id: int, merged: Sequence[int], blanked: dict[str, int]) -> str:
    """Return the audit entry of an erasure; ``merged`` are the records that were erased with it."""
    whom = f"subscriber {subscriber_id}"
    if merged:
        whom += f" and, merged into it, {'subscribers' if len(merged) > 1 else 'subscriber'} "
        whom += ", ".join(map(str, merged))
    rows = ", ".join(f"{count} of {name}" for name, count in blanked.items())
    return f"erased {whom}: {f'blanked {rows}' if rows else 'nothing was left'}"


def blank(
    connection: Connection, account_id: int, commit_id: int, whose: str, **values: Value
) -> dict[str, int]:
    """Blank the personal data of some erased subscribers.

    Returns the number of changed rows by table, without unchanged tables. ``whose`` is the SQL in
    ``IN (…)`` for the subscribers' ids, with the parameters ``values`` and ``:account_id``. Only
    rows of these subscribers are read. Changed rows get the commit's id. Runs in the caller's
    transaction, which has locked the account.
    """
    values = {**values, "account_id": account_id, "commit_id": commit_id}
    blanked = {}
    for table in PERSONAL:
        sets, has_any = _blanks(table), _holds(table)
        if table.name == "subscribers":
            has_any += " OR delete_date IS NULL"
            sets.append(f"delete_date = coalesce(delete_date, {_since('subscribers')})")
        if table.name == "mandates":
            # Without its account, nothing can be collected by it any more.
            ended = f"substr({_since('mandates')}, 1, 10)"
            sets += [
                f"status_since = CASE status WHEN 'ended' THEN status_since ELSE {ended} END",
                "status = 'ended'",
            ]
        where = f"account_id = :account_id AND subscriber_id IN ({whose}) AND ({has_any})"
        if table.name == _ANSWERS:
            connection.change(
                f"""
                UPDATE subscribers SET custom_fields_commit_id = :commit_id
                WHERE account_id = :account_id
                AND subscriber_id IN (SELECT subscriber_id FROM {table.name} WHERE {where})
                """,
                **values,
            )
        elif table.name not in _BESIDE_THE_FEED:
            sets.append("commit_id = :commit_id")
        count = connection.change(
            f"UPDATE {table.name} SET {', '.join(sets)} WHERE {where}", **values
        )
        if count:
            blanked[table.name] = count
    return blanked


def _since(table: str) -> str:
    return f"""(SELECT e.erased_at FROM erasures AS e
        WHERE e.account_id = :account_id AND e.subscriber_id = {table}.subscriber_id)"""


def _personal(table: Table) -> list[Field]:
    return [column for column in table.columns if column.name in table.personal]


def _holds(table: Table) -> str:
    """Return the condition that a row has personal data."""
    return " OR ".join(
        f"{column.name} <> 0" if isinstance(column.kind, Bit) else f"{column.name} IS NOT NULL"
        for column in _personal(table)
    )


def _blanks(table: Table) -> list[str]:
    """Return the assignments that blank a row, including its derived columns."""
    derived = DERIVED.get(table.name, {})
    return [
        *(
            f"{column.name} = {0 if isinstance(column.kind, Bit) else 'NULL'}"
            for column in _personal(table)
        ),
        *(f"{name} = NULL" for name, (source, _) in derived.items() if source in table.personal),
    ]


def blank_staged(staging: Staging) -> int:
    """Blank the staged rows of subscribers who are erased, or whom this load erases.

    Returns the number of rows that had personal data. A blanked row has all personal columns, even
    those that its file lacks, so that no stored row keeps another subscriber's data. Runs in the
    caller's transaction, which has locked the account.
    """
    if not _find_erased(staging):
        return 0
    kept_blank = 0
    for table in PERSONAL:
        if table.name not in staging.tables:
            continue
        erased = staging.is_in(_ERASED, _owner(table))
        staged = staging.rows_of(table.name)
        count = staging.value_as(
            int, f"SELECT count(*) FROM {staged} AS s WHERE ({_holds(table)}) AND {erased}"
        )
        kept_blank += count or 0
        sets = [*_blanks(table), f"present = present | {_bits(table, table.personal)}"]
        staging.change(
            f"""
            UPDATE staged_{table.name} AS s SET {", ".join(sets)}
            WHERE {staging.own(table.name, "s")} AND {erased}
            """
        )
    if "subscribers" in staging.tables:
        _keep_delete_dates(staging)
    return kept_blank


def _find_erased(staging: Staging) -> bool:
    """Store the list of the erased; return whether it has any subscribers."""
    erased = "SELECT subscriber_id AS key, erased_at AS text FROM erasures AS e"
    count = staging.keep(_ERASED, f"{erased} WHERE account_id = :account_id", ("key", "text"))
    if ERASURES.name in staging.tables:
        now = accounts.second_of(staging.connection, staging.account_id)
        staged = staging.rows_of(ERASURES.name)
        count += staging.extend(
            _ERASED,
            f"""
            SELECT subscriber_id AS key, coalesce(min(erased_at), '{now}') AS text
            FROM {staged} AS s WHERE NOT {staging.is_in(_ERASED, "s.subscriber_id")}
            GROUP BY subscriber_id
            """,
            ("key", "text"),
        )
        staging.change(
            f"""
            UPDATE staged_erasures AS s SET present = {_bits(ERASURES, ("erased_at",))} | present,
                erased_at = (SELECT e.text FROM {staging.keys_in(_ERASED)} AS e
                    WHERE e.key = s.subscriber_id)
            WHERE {staging.own(ERASURES.name, "s")}
            """
        )
    return count > 0


def _owner(table: Table) -> str:
    """Return SQL for the subscriber of staged row ``s``, or of the stored row if ``s`` has none."""
    if "subscriber_id" in table.key:
        return "s.subscriber_id"
    same = " AND ".join(f"o.{name} = s.{name}" for name in table.key)
    return f"""CASE WHEN s.present & {_bits(table, ("subscriber_id",))} > 0 THEN s.subscriber_id
        ELSE (SELECT o.subscriber_id FROM {table.name} AS o
            WHERE o.account_id = :account_id AND {same}) END"""


def _bits(table: Table, names: tuple[str, ...]) -> int:
    """Return the mask of these columns (``staging.column_names``)."""
    return sum(1 << n for n, column in enumerate(table.columns) if column.name in names)


def _keep_delete_dates(staging: Staging) -> None:
    """Keep the ``delete_date`` of erased subscribers, whatever the file says."""
    bit = _bits(TABLES_BY_NAME["subscribers"], ("delete_date",))
    erased = f"{staging.keys_in(_ERASED)} AS e"
    staging.change(
        f"""
        UPDATE staged_subscribers AS s SET present = present | {bit},
            delete_date = coalesce(
                (SELECT o.delete_date FROM subscribers AS o
                    WHERE o.account_id = :account_id AND o.subscriber_id = s.subscriber_id),
                s.delete_date,
                (SELECT e.text FROM {erased} WHERE e.key = s.subscriber_id))
        WHERE {staging.own("subscribers", "s")}
            AND {staging.is_in(_ERASED, "s.subscriber_id")}
        """
    )
