"""A program that sends mails in processes which die at a given statement.

``tests.circulation.dying.Dying`` runs it. A line names the port of a mail server in place of an
operation.
"""

from __future__ import annotations

from contextlib import closing

from masthead.books import mail_sending
from masthead.books.account import Books
from masthead.mail.smtp_url import Server
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting

MODULE = "tests.billing.dying_senders"


def _send_and_die(url: str, now: int, port: str, at: int) -> None:
    with closing(open_store(url, clock=lambda: now)) as store, counting(at, die):
        books = Books(store, 1, Actor("ada", "mail send"))
        mail_sending.send(books, Server("127.0.0.1", int(port), "none"))


if __name__ == "__main__":
    fork_for_each_line(_send_and_die)
