"""The check of a reader's login: limits, silence and decoys in one function.

The interface's operation 3, the entitlements and the readers' pages call it, so none of them tells
more than another (rules, "Login check"; decisions, "Limits of the login check").
"""

from hashlib import md5
from typing import Literal, NamedTuple

from masthead.contract.moments import date_in
from masthead.databases.queries import Query, rows_as
from masthead.errors import NotFound
from masthead.store import logins, passwords
from masthead.store.database import Connection, Store
from masthead.store.login_candidates import LoginCandidates, LoginMatch, login_candidates

_ZIP_DIGITS, _ZIP_PLUS_4_DIGITS = 5, 9
_IGNORED_IN_ZIP = str.maketrans("", "", " -")


class Login(NamedTuple):
    """What a reader typed, and the settings of the account that it is a login of.

    ``login`` is an email or a renewal code, ``password`` a password or a postal code.
    ``time_zone`` decides what today is; ``by_renewal_code`` says whether a code is a login.
    """

    account_id: int
    login: str
    password: str
    time_zone: str
    by_renewal_code: bool

    def __repr__(self) -> str:
        """Return a text that does not contain what the reader typed."""
        return f"<Login of account {self.account_id}>"


def login_of(connection: Connection, account_id: int, login: str, password: str) -> Login:
    """Return what a reader typed as a login of an account, with the account's settings.

    Raises NotFound if there is no such account.
    """
    found = connection.row_as(
        tuple[str, int],
        "SELECT time_zone, renewal_code_login FROM accounts WHERE account_id = :account_id",
        account_id=account_id,
    )
    if found is None:
        raise NotFound(f"there is no account {account_id}", code="unknown_account")
    return Login(account_id, login, password, found[0], bool(found[1]))


def takes_codes() -> Query[bool]:
    """Return whether a renewal code and a postal code sign in to the account."""
    return rows_as(
        tuple[int], "SELECT renewal_code_login FROM accounts WHERE account_id = :account_id"
    ).then(lambda rows: any(code for (code,) in rows))


class CheckedLogin(NamedTuple):
    """The result of a check: whose login it is, or None.

    ``wait_us`` are the microseconds until the next attempt is allowed if the limits refused this
    one. ``is_by_digest``: the password fits a digest of another system.
    """

    match: LoginMatch | None
    wait_us: int = 0
    is_by_digest: bool = False

    @property
    def outcome(self) -> Literal["authenticated", "refused", "limited"]:
        """What the metrics count."""
        if self.match:
            return "authenticated"
        return "limited" if self.wait_us else "refused"


def check_login(
    store: Store,
    connection: Connection,
    limits: logins.Limits,
    login: Login,
    *,
    may_take_long: bool,
) -> CheckedLogin | None:
    """Return whose login it is; count a failure, or note a success.

    Returns None, and counts nothing, if digests have to be compared and ``may_take_long`` is
    False: one comparison takes up to a second. Call it again in a thread that holds a slot then.
    The limits are looked up within the slot, so that guesses sent at the same time are counted
    before the next is checked.

    While many guesses fail, an email that has logged in before still can (rules, "A guarded
    account").
    """
    if not (login.login and login.password):
        return CheckedLogin(None)
    attempt = logins.attempt_of(store.secret, login.account_id, login.login, login.password)
    with store.counters() as counters:
        counters.set_tenant(login.account_id)
        standing = logins.standing_of(counters, limits, attempt, store.clock())
        is_guarded = bool(standing.by_account_us) and attempt.kind == "email"
        if standing.by_login_us or (standing.by_account_us and not is_guarded):
            return CheckedLogin(None, standing.wait_us)
        passes = not is_guarded or logins.may_pass(
            counters, limits, attempt, standing, store.clock()
        )
    candidates = _candidates(connection, login, store.clock())
    if candidates.by_digest and not may_take_long:
        return None
    found = _best_match(candidates, login.password)
    if found is None or not passes:
        with store.counters() as counters:
            counters.set_tenant(login.account_id)
            now = store.clock()
            if is_guarded:
                logins.count_guarded(counters, attempt, now, passes=passes)
                return CheckedLogin(None, standing.by_account_us)
            logins.count_failure(counters, limits, attempt, now)
        return CheckedLogin(None)
    logins.note_success(store, limits, attempt, standing)
    return CheckedLogin(found, is_by_digest=found in candidates.by_digest)


def _candidates(connection: Connection, login: Login, now: int) -> LoginCandidates:
    return login_candidates(
        connection,
        login.account_id,
        login.login,
        password_md5=md5(login.password.encode(), usedforsecurity=False).hexdigest(),
        today=date_in(login.time_zone, now),
        by_renewal_code=login.by_renewal_code,
    )


def _best_match(candidates: LoginCandidates, password: str) -> LoginMatch | None:
    matches = candidates.by_email + [
        match
        for found, fits in ((candidates.by_digest, passwords.fits), (candidates.by_code, _same_zip))
        for match in found
        if fits(password, match.secret) and match.is_meant
    ]
    return min(matches, key=lambda match: (-match.is_current, match.subscriber_id), default=None)


def _same_zip(given: str, stored: str) -> bool:
    ours, theirs = (code.translate(_IGNORED_IN_ZIP).casefold() for code in (stored, given))
    digits = {len(ours), len(theirs)}
    if digits == {_ZIP_DIGITS, _ZIP_PLUS_4_DIGITS} and (ours + theirs).isdecimal():
        ours, theirs = ours[:_ZIP_DIGITS], theirs[:_ZIP_DIGITS]
    return ours == theirs != ""
