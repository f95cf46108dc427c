"""Partners with pairs of credentials of their own: names, rights, rates, pairs.

The pair of the account itself is in ``accounts``, and it has no partner. A partner's pair is stored
as hashes only: it is returned once, when it is made (decisions, "Partners of an account").
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.contract.operations import EXTENSIONS, OPERATIONS
from masthead.contract.printable import is_name, listed
from masthead.errors import BadInput, NotFound
from masthead.store import accounts, audit
from masthead.store.credentials import (
    ValidCredentials,
    all_credentials_of,
    give_partner_credentials,
)
from masthead.store.database import Connection, Store
from masthead.store.search_filters import ascii_lower

NAMES_OF_OPERATIONS = (*OPERATIONS, *(each.name for each in EXTENSIONS))
"""The operations that a partner can have a right to, in the order of the interface."""

RATE_MAX = 1_000_000
"""The highest limit of a partner, in requests a second."""

_NAME_MAX = 50
_COLUMNS = "account_id, partner_id, name, operations, rate, added_at"


class Partner(NamedTuple):
    """A partner of an account.

    ``operations`` are the names of the operations that the partner may ask for, with spaces between
    them; None for all. ``rate`` is in requests a second; None if only the limit of the server
    counts. ``added_at`` is in microseconds since 1970.
    """

    account_id: int
    partner_id: int
    name: str
    operations: str | None
    rate: int | None
    added_at: int

    @property
    def rights(self) -> str:
        """The operations and the rate in words."""
        what = "all operations"
        if self.operations is not None:
            what = listed(self.operations.split())
        return what if self.rate is None else f"{what}; at most {self.rate} a second"


class PartnerPairs(NamedTuple):
    """A partner with the valid pairs, the current one first."""

    partner: Partner
    pairs: Sequence[ValidCredentials]

    @property
    def used_at(self) -> int | None:
        """The last use of any of the pairs, in microseconds since 1970; None if there is none."""
        return max((each.used_at for each in self.pairs if each.used_at), default=None)


def partners_of(store: Store, account_id: int) -> list[PartnerPairs]:
    """Return the partners of an account by name. Raises NotFound for an unknown account."""
    with store.writer() as connection:
        accounts.zone_and_currency(connection, account_id)
        found = connection.rows_as(
            Partner,
            f"SELECT {_COLUMNS} FROM partners WHERE account_id = :account_id ORDER BY name_lower",
            account_id=account_id,
        )
    pairs = all_credentials_of(store, account_id) if found else {}
    return [PartnerPairs(each, pairs.get(each.partner_id, [])) for each in found]


def count_partners(store: Store) -> int:
    """Return the number of partners of all accounts."""
    with store.writer() as connection:
        return connection.value_as(int, "SELECT count(*) FROM partners") or 0


def add_partner(
    store: Store,
    account_id: int,
    name: str,
    *,
    operations: Sequence[str] | None = None,
    rate: int | None = None,
    by: audit.Actor | None = None,
) -> tuple[str, str]:
    """Add a partner and return the random pair: the only time that anybody sees it.

    ``operations`` None allows all, ``rate`` None sets no limit. Names must differ by more than the
    case of ASCII letters. Raises NotFound for an unknown account, BadInput for a bad or taken
    name, an unknown operation or a bad rate.
    """
    _check_name(name)
    rights, rate = _rights(operations), _checked(rate)
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        accounts.zone_and_currency(connection, account_id)
        if _row(connection, account_id, name):
            raise BadInput(f"there is a partner {name!r} already")
        newest = connection.value_as(
            int,
            "SELECT max(partner_id) FROM partners WHERE account_id = :account_id",
            account_id=account_id,
        )
        added = Partner(account_id, (newest or 0) + 1, name, rights, rate, connection.now())
        connection.change(
            f"""
            INSERT INTO partners ({_COLUMNS}, name_lower) VALUES (
                :account_id, :partner_id, :name, :operations, :rate, :added_at, :name_lower)
            """,
            **added._asdict(),
            name_lower=ascii_lower(name),
        )
        pair = give_partner_credentials(connection, account_id, added.partner_id)
        summary = f"partner {name!r} was added: {added.rights}"
        audit.record(connection, by, summary, account_id=account_id)
    return pair


def set_partner(
    store: Store,
    account_id: int,
    name: str,
    *,
    operations: Sequence[str] | None,
    rate: int | None,
    by: audit.Actor | None = None,
) -> Partner:
    """Change what a partner may do, and return the partner; it counts for the next request.

    Raises NotFound if the partner does not exist, BadInput for an unknown operation or a bad rate.
    """
    rights, rate = _rights(operations), _checked(rate)
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        found = get_partner(connection, account_id, name)._replace(operations=rights, rate=rate)
        connection.change(
            """
            UPDATE partners SET operations = :operations, rate = :rate
            WHERE account_id = :account_id AND partner_id = :partner_id
            """,
            operations=rights,
            rate=rate,
            account_id=account_id,
            partner_id=found.partner_id,
        )
        summary = f"partner {found.name!r} may do this: {found.rights}"
        audit.record(connection, by, summary, account_id=account_id)
    return found


def rotate_partner(
    store: Store, account_id: int, name: str, *, overlap_us: int = 0, by: audit.Actor | None = None
) -> tuple[str, str]:
    """Give a partner a new random pair and return it, which nobody sees again.

    The old pair still works for ``overlap_us`` microseconds. Raises NotFound if the partner does
    not exist.
    """
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        found = get_partner(connection, account_id, name)
        pair = give_partner_credentials(
            connection, account_id, found.partner_id, overlap_us=overlap_us
        )
        until = f"work for {overlap_us // 1_000_000} seconds more" if overlap_us else "end"
        summary = f"new credentials for partner {found.name!r}; those before {until}"
        audit.record(connection, by, summary, account_id=account_id)
    return pair


def remove_partner(
    store: Store, account_id: int, name: str, *, by: audit.Actor | None = None
) -> Partner:
    """Remove a partner and all pairs of it at once, and return what it was.

    The counts of its requests stay for their 30 days. Raises NotFound if it does not exist.
    """
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        found = get_partner(connection, account_id, name)
        for table in ("credentials", "partners"):
            connection.change(
                f"""
                DELETE FROM {table}
                WHERE account_id = :account_id AND partner_id = :partner_id
                """,
                account_id=account_id,
                partner_id=found.partner_id,
            )
        summary = f"partner {found.name!r} was removed"
        audit.record(connection, by, summary, account_id=account_id)
    return found


def get_partner(connection: Connection, account_id: int, name: str) -> Partner:
    """Return a partner by name, in any case of ASCII letters. Raises NotFound without one."""
    accounts.zone_and_currency(connection, account_id)
    found = _row(connection, account_id, name)
    if found is None:
        raise NotFound(f"account {account_id} has no partner {name!r}", code="unknown_partner")
    return found


def _row(connection: Connection, account_id: int, name: str) -> Partner | None:
    return connection.row_as(
        Partner,
        f"""
        SELECT {_COLUMNS} FROM partners
        WHERE account_id = :account_id AND name_lower = :name_lower
        """,
        account_id=account_id,
        name_lower=ascii_lower(name),
    )


def _check_name(name: str) -> None:
    if name != name.strip() or not is_name(name, _NAME_MAX):
        raise BadInput(
            f"{name!r} is no name of a partner: it has 1 to {_NAME_MAX} characters, without "
            "spaces at its ends"
        )


def _rights(operations: Sequence[str] | None) -> str | None:
    """Return operations as they are stored, each once and in order; raise BadInput if unknown."""
    if operations is None:
        return None
    for each in operations:
        if each not in NAMES_OF_OPERATIONS:
            raise BadInput(
                f"{each!r} is no operation: the operations are {', '.join(NAMES_OF_OPERATIONS)}"
            )
    if not operations:
        raise BadInput("a partner needs an operation: name one, or allow all")
    return " ".join(each for each in NAMES_OF_OPERATIONS if each in operations)


def _checked(rate: int | None) -> int | None:
    if rate is not None and not 0 < rate <= RATE_MAX:
        raise BadInput(f"{rate} is no rate: it is 1 to {RATE_MAX} requests a second")
    return rate
