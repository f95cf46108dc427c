"""The sealing of the bank accounts of mandates with the secret key of the database.

Each is bound to its row (``Secret.seal``). An export has them in clear, since another database has
another key (decisions, "Bank accounts of mandates").
"""

from collections.abc import Iterable, Iterator, Sequence

from masthead.contract.moments import date_in
from masthead.contract.records import TABLES_BY_NAME
from masthead.store.database import Connection, Row, Value
from masthead.store.secret import Secret

MANDATES = "mandates"
_LOST = "the secret key of the database was lost, and the account number with it"


def seal_iban(connection: Connection, account_id: int, mandate_id: int, iban: str) -> str:
    """Return the IBAN as ``mandates.iban`` stores it."""
    return connection.secret.seal(iban, _place(account_id, mandate_id))


def unseal_iban(connection: Connection, account_id: int, mandate_id: int, sealed: str) -> str:
    """Return the IBAN in clear.

    Raises MastheadError if another key or another mandate sealed it.
    """
    return connection.secret.unseal(sealed, _place(account_id, mandate_id))


def unsealed_rows(connection: Connection, account_id: int, rows: Sequence[Row]) -> list[Row]:
    """Return rows of all columns of ``mandates`` with their IBANs in clear."""
    names = [column.name for column in TABLES_BY_NAME[MANDATES].columns]
    key, iban = names.index("mandate_id"), names.index("iban")
    return [
        (*row[:iban], unseal_iban(connection, account_id, row[key], row[iban]), *row[iban + 1 :])
        if row[iban]
        else row
        for row in rows
    ]


def sealed_rows(
    connection: Connection,
    account_id: int,
    columns: Sequence[str],
    rows: Iterable[Sequence[Value]],
) -> Iterator[Sequence[Value]]:
    """Yield rows of ``columns`` of ``mandates`` with their IBANs sealed, as a load stages them."""
    if "iban" not in columns:
        yield from rows
        return
    key, iban = columns.index("mandate_id"), columns.index("iban")
    for row in rows:
        text, mandate_id = row[iban], row[key]
        if isinstance(text, str) and isinstance(mandate_id, int):
            sealed = seal_iban(connection, account_id, mandate_id, text)
            yield (*row[:iban], sealed, *row[iban + 1 :])
        else:
            yield row


def reseal_ibans(connection: Connection, old: Secret | None) -> None:
    """Seal the IBANs of all accounts with the store's key, in the caller's transaction.

    ``old`` is the key that sealed them. If it is None, the key is lost: the IBANs cannot be opened
    any more, so they are removed and the mandates end. Raises MastheadError if ``old`` did not seal
    them.
    """
    if old is None:
        accounts = connection.rows_as(tuple[int, str], "SELECT account_id, time_zone FROM accounts")
        for account_id, time_zone in accounts:
            connection.change(
                """
                UPDATE mandates
                SET iban = NULL, status = 'ended', status_since = :today, reason = :why
                WHERE account_id = :account_id AND iban IS NOT NULL
                """,
                account_id=account_id,
                today=date_in(time_zone, connection.now()),
                why=_LOST,
            )
        return
    rows = connection.rows_as(
        tuple[int, int, str],
        "SELECT account_id, mandate_id, iban FROM mandates WHERE iban IS NOT NULL",
    )
    connection.change_many(
        """
        UPDATE mandates SET iban = :iban
        WHERE account_id = :account_id AND mandate_id = :mandate_id
        """,
        [
            {
                "account_id": account_id,
                "mandate_id": mandate_id,
                "iban": connection.secret.seal(
                    old.unseal(sealed, _place(account_id, mandate_id)),
                    _place(account_id, mandate_id),
                ),
            }
            for account_id, mandate_id, sealed in rows
        ],
    )


def _place(account_id: int, mandate_id: int) -> str:
    return f"mandates {account_id} {mandate_id} iban"
