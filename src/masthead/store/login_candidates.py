"""Who may have a login: the query of operation 3, with decoys for a login that does not exist."""

from typing import NamedTuple

from masthead.store.database import Connection
from masthead.store.search_filters import ascii_lower

DIGESTS_MAX = 3
"""The maximum number of subscribers with one email whose digests are checked in a login."""

_LISTED_MAX = 10
_LETTERS = str.maketrans("0123456789abcdef", "abcdeghiklmnrstw")


class LoginMatch(NamedTuple):
    """A subscriber who may match a login (the first five fields as in AuthenticatedSubscriber).

    ``is_current`` is 1 if a subscription of the subscriber has not expired. ``secret`` is what the
    caller compares the password with: a postal code (a match by renewal code has a row for each
    address), or the digest of another system. ``is_meant`` is 0 for a decoy. The caller compares a
    decoy too, so that the time of the comparison does not show whether the login exists.
    """

    subscriber_id: int
    renewal_code: str | None
    email: str | None
    first_name: str | None
    last_name: str | None
    is_current: int
    secret: str
    is_meant: int


class LoginCandidates(NamedTuple):
    """Subscribers who may match a login, each list with the best match first.

    Those of ``by_email`` have the email and the password. Those of ``by_digest`` have the email and
    the digest of another system; those of ``by_code`` have the renewal code.
    """

    by_email: list[LoginMatch]
    by_digest: list[LoginMatch]
    by_code: list[LoginMatch]


_MATCH = """
    s.subscriber_id, s.renewal_code, s.email, s.first_name, s.last_name, EXISTS (
        SELECT 1 FROM subscriptions AS n
        WHERE n.account_id = :account_id AND n.subscriber_id = s.subscriber_id
        AND (n.date_expired IS NULL OR n.date_expired >= :today)) AS is_current
    """
_BY_EMAIL = f"""
    SELECT * FROM (
        SELECT CASE WHEN s.password_hash IS NULL THEN 'email' ELSE 'digest' END AS how, {_MATCH},
            s.password_hash AS secret, TRUE AS is_meant
        FROM subscribers AS s
        WHERE s.account_id = :account_id AND s.email_lower = :login AND s.delete_date IS NULL
            AND (s.password_md5 = :password_md5 OR s.password_hash IS NOT NULL)
        ORDER BY s.password_hash IS NOT NULL, is_current DESC, s.subscriber_id LIMIT {_LISTED_MAX}
    ) AS best
    """
_FIRST_EMAIL = """
    SELECT o.email_lower FROM subscribers AS o
    WHERE o.account_id = :account_id AND o.email_lower >= {} AND o.delete_date IS NULL
    ORDER BY o.email_lower LIMIT 1
    """
# With coalesce outside of a SELECT, PostgreSQL's policies let no index be used.
_DECOYS = f"""
    SELECT * FROM (
        SELECT CASE WHEN EXISTS (
                SELECT 1 FROM subscribers AS k WHERE k.account_id = :account_id
                AND k.email_lower = :login AND k.delete_date IS NULL)
            THEN 'unused decoy' ELSE 'decoy' END, {_MATCH}, s.password_hash, FALSE
        FROM subscribers AS s
        WHERE s.account_id = :account_id AND s.email_lower = (SELECT coalesce(
                ({_FIRST_EMAIL.format(":other")}), ({_FIRST_EMAIL.format("''")})))
            AND s.password_hash IS NOT NULL AND s.delete_date IS NULL
        ORDER BY is_current DESC, s.subscriber_id LIMIT {DIGESTS_MAX}
    ) AS best
    """
_BY_CODE = f"""
    SELECT 'code', {_MATCH}, a.zip_code, s.renewal_code_lower = :login AND s.delete_date IS NULL
    FROM subscribers AS s
    JOIN addresses AS a ON a.account_id = s.account_id AND a.subscriber_id = s.subscriber_id
    WHERE s.account_id = :account_id AND a.zip_code IS NOT NULL AND s.subscriber_id = (
        SELECT subscriber_id FROM subscribers
        WHERE account_id = :account_id AND renewal_code_lower >= :login
        ORDER BY renewal_code_lower LIMIT 1)
    """


def login_candidates(
    connection: Connection,
    account_id: int,
    login: str,
    *,
    password_md5: str,
    today: str,
    by_renewal_code: bool = True,
) -> LoginCandidates:
    """Return the subscribers who may have this login.

    Without ``by_renewal_code``, that list is empty. If the code does not exist, that list has the
    decoy with the next code; if the email does not exist, ``by_digest`` has those of another one,
    which may be none (rules, "The same response for an unknown login"). The best match comes first:
    a subscriber with a subscription that has not expired on ``today``, then the lowest id.
    """
    login = ascii_lower(login)
    parts = [_BY_EMAIL]
    values = {}
    if "@" in login:  # what is no email needs no decoy
        parts.append(_DECOYS)
        values["other"] = _other_email(connection, account_id, login)
    if by_renewal_code:
        parts.append(_BY_CODE)
    found = connection.rows(
        " UNION ALL ".join(parts),
        account_id=account_id,
        login=login,
        today=today,
        password_md5=password_md5,
        **values,
    )

    def of(how: str) -> list[LoginMatch]:
        return [LoginMatch(*match) for found_by, *match in found if found_by == how]

    digests = (of("digest") or of("decoy"))[:DIGESTS_MAX]
    return LoginCandidates(of("email"), digests, of("code"))


def _other_email(connection: Connection, account_id: int, login: str) -> str:
    """Return where to look for the decoy of an email: always the same place for the same email.

    It begins as the email does, since some letters begin many emails and others few. The rest is
    random to callers: if the decoy were the next email, an email that exists could be told by a
    time that differs from that of the emails just before it.
    """
    return login[0] + connection.secret.fingerprint("decoy", account_id, login).translate(_LETTERS)
