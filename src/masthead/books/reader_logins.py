"""The logins of a reader: what they are, and giving new ones (decisions, "A reader's new login").

Each operation raises NotFound if there is no such reader. Operations that change the login raise
BadInput if the reader was deleted.
"""

from hashlib import md5
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.reader_rules import refused
from masthead.errors import BadInput
from masthead.store import passwords
from masthead.store.books import reader_changes, reader_logins
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation
from masthead.store.books.reader_logins import Login

__all__ = [
    "Login",
    "NewCode",
    "NewPassword",
    "OwnPassword",
    "renew_code",
    "set_own_password",
    "set_password",
    "show",
]


class NewCode(NamedTuple):
    """A reader's new renewal code. The sentence, which the log keeps, does not have it."""

    subscriber_id: int
    code: str

    @property
    def sentence(self) -> str:
        """What changed, without the code."""
        return f"subscriber {self.subscriber_id} got a new renewal code; the old one ends"


class NewPassword(NamedTuple):
    """A reader's new password. The sentence, which the log keeps, does not have it."""

    subscriber_id: int
    password: str

    @property
    def sentence(self) -> str:
        """What changed, without the password."""
        return f"subscriber {self.subscriber_id} got a new password; the old one ends"


class OwnPassword(NamedTuple):
    """A password that a reader chose. It is nowhere but in the reader's hands."""

    subscriber_id: int

    @property
    def sentence(self) -> str:
        """What changed, without the password."""
        return f"subscriber {self.subscriber_id} chose a new password; the old one ends"


def show(books: Books, subscriber_id: int) -> Login:
    """Return the login of a reader."""
    with books.read() as reading:
        return reader_logins.login_of(reading, subscriber_id)


def renew_code(books: Books, subscriber_id: int) -> NewCode:
    """Give a reader another renewal code, which is the login together with a postal code.

    The code before it no longer works, and letters that were sent still name it.
    """
    with books.change() as change:
        _current(change, subscriber_id)
        done = NewCode(subscriber_id, reader_logins.renew_code(change, subscriber_id))
        change.say(done.sentence)
    return done


def set_password(books: Books, subscriber_id: int) -> NewPassword:
    """Give a reader another password, which is the login together with the email address.

    It is returned once: only its digest is stored. Raises BadInput if the reader has no email
    address.
    """
    password, digest = reader_logins.new_password()
    with books.change() as change:
        if not _current(change, subscriber_id).email:
            raise BadInput(
                f"{reader_named(change, subscriber_id)} has no email address, which a password "
                "goes with"
            )
        reader_logins.set_password(change, subscriber_id, digest)
        done = NewPassword(subscriber_id, password)
        change.say(done.sentence)
    return done


def set_own_password(books: Books, subscriber_id: int, password: str) -> OwnPassword:
    """Set the password that a reader chose. Only its digest of Argon2id is stored.

    If the account has ``keep_password_md5``, its MD5 digest is stored too, which partners read.
    Raises BadInput, with a code of ``circulation.reader_rules.REFUSALS``, if the password is easy
    to guess by the rules for operators, or if the reader has no email address or was deleted.
    """
    login = show(books, subscriber_id)
    match passwords.weakness_of(password, login.email or ""):
        case "length":
            least, most = passwords.LENGTH_MIN, passwords.LENGTH_MAX
            raise refused("password_length", field="password", least=least, most=most)
        case "characters":
            raise refused("password_simple", field="password", least=passwords.CHARACTERS_MIN)
        case "login":
            raise refused("password_is_email", field="password")
    digest = passwords.HASHER.hash(password)
    with books.change() as change:
        now = reader_logins.login_of(change, subscriber_id)
        if not now.email or now.delete_date is not None:
            raise refused("write_to_us")
        md5_digest = md5(password.encode(), usedforsecurity=False).hexdigest()
        reader_logins.set_own_password(change, subscriber_id, digest, md5_digest)
        reader_changes.add(change, subscriber_id, "password", None, {}, {})
        done = OwnPassword(subscriber_id)
        change.say(done.sentence)
    return done


def _current(change: Operation, subscriber_id: int) -> Login:
    found = reader_logins.login_of(change, subscriber_id)
    if found.delete_date is not None:
        raise BadInput(
            f"{reader_named(change, subscriber_id)} was deleted on {found.delete_date[:10]}"
        )
    return found
