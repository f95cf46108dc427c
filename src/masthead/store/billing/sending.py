"""How mails of the outbox are taken and marked by the process that sends them (billing, "E-mail").

Each function runs in a transaction of its own on a writer's connection, which locks the account:
two senders never have the same mail. A mail that a sender has is queued with a ``due_at`` to come;
``tries`` tells whose it is. A sender that was killed gives it back by that time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from masthead.store.billing.outbox import MailKind
from masthead.store.database import Connection

UNCERTAIN = (
    "the sender ended, or the connection broke, before the mail server had answered: it may have "
    "the mail"
)
"""The error of a mail while it is handed over, and after a sender ended just then."""

ERASED = "the payer was erased"
LINK_ENDED = "its link does not work any more"


class Mail(NamedTuple):
    """A mail of the outbox, as a sender gets it."""

    mail_id: int
    subscriber_id: int | None
    address: str | None
    kind: MailKind
    subject: str | None
    text: str | None
    invoice_id: int | None
    reminder_id: int | None
    subscription_id: int | None
    queued_at: str
    tries: int
    message_id: str | None


COLUMNS = ", ".join(Mail._fields)
"""The columns of :class:`Mail`."""


class Outbox:
    """The mails of an account on the connection of a sender."""

    def __init__(self, connection: Connection, account_id: int) -> None:
        self._connection = connection
        self._account_id = account_id

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._connection.transaction():
            self._connection.lock_account(self._account_id)
            yield

    def take(self, now: str, until: str, message_id: str) -> Mail | None:
        """Take the first mail that is due for this sender, until a time; None if none is due.

        The mail has one more try. ``message_id`` becomes its own, unless it has one.
        """
        with self._locked():
            found = self._connection.row_as(
                Mail,
                f"""
                SELECT {COLUMNS} FROM mails
                WHERE account_id = :account_id AND status = 'queued' AND due_at <= :now
                ORDER BY due_at, mail_id LIMIT 1
                """,
                account_id=self._account_id,
                now=now,
            )
            if found is None:
                return None
            mail = found._replace(tries=found.tries + 1, message_id=found.message_id or message_id)
            self._connection.change(
                """
                UPDATE mails SET tries = :tries, due_at = :until, message_id = :message_id
                WHERE account_id = :account_id AND mail_id = :mail_id
                """,
                account_id=self._account_id,
                mail_id=mail.mail_id,
                tries=mail.tries,
                until=until,
                message_id=mail.message_id,
            )
        return mail

    def give_back(self, mail: Mail, now: str) -> None:
        """Give back a mail that was not tried: it is due again."""
        self._mark(
            mail,
            "tries = tries - 1, due_at = :now",
            now=now,
        )

    def begin_end(self, mail: Mail, until: str) -> bool:
        """Note that the server gets the end of a mail now; return False if it is not to be sent.

        It is not if it was cancelled, put on hold or taken by another sender meanwhile.
        """
        return self._mark(
            mail,
            "status = 'failed', error = :error, due_at = :until",
            error=UNCERTAIN,
            until=until,
        )

    def sent(self, mail: Mail, now: str) -> None:
        """Note that the server has a mail."""
        self._mark(
            mail,
            "status = 'sent', sent_at = :now, error = NULL",
            now=now,
        )

    def later(self, mail: Mail, error: str, due_at: str) -> None:
        """Note that a mail is to be sent again, not before a time."""
        self._mark(
            mail,
            "status = 'queued', error = :error, due_at = :due_at",
            error=error,
            due_at=due_at,
        )

    def failed(self, mail: Mail, error: str, now: str) -> None:
        """Note that a mail will not be sent."""
        self._mark(
            mail,
            "status = 'failed', error = :error, due_at = :now",
            error=error,
            now=now,
        )

    def cancelled(self, mail: Mail, error: str, now: str) -> None:
        """Note that a mail is not to be sent any more."""
        self._mark(
            mail,
            "status = 'cancelled', error = :error, due_at = :now",
            error=error,
            now=now,
        )

    def sent_since(self, time: str) -> int:
        """Return how many mails were sent since a time."""
        return (
            self._connection.value_as(
                int,
                """
                SELECT count(*) FROM mails
                WHERE account_id = :account_id AND sent_at > :time
                """,
                account_id=self._account_id,
                time=time,
            )
            or 0
        )

    def _mark(self, mail: Mail, changes: str, **values: str) -> bool:
        """Change a mail that this sender still has; return whether it has it."""
        with self._locked():
            return bool(
                self._connection.change(
                    f"""
                    UPDATE mails SET {changes}
                    WHERE account_id = :account_id AND mail_id = :mail_id AND tries = :tries
                        AND (status = 'queued' OR (status = 'failed' AND error = :uncertain))
                    """,
                    account_id=self._account_id,
                    mail_id=mail.mail_id,
                    tries=mail.tries,
                    uncertain=UNCERTAIN,
                    **values,
                )
            )
