"""The keys that sign entitlements: making, rotation, and what of them is published.

A key is a pair on the curve P-256, for ES256. The private key is sealed with the secret key of the
database and bound to its row. The public key is a JWK (RFC 7517), as ``/.well-known/jwks.json``
shows it (decisions, "Keys of entitlements").

A further key is published :data:`AHEAD_US` before it signs, so that each site has it when the first
token comes. The earlier key stays published until all its tokens have ended.
"""

import json
import secrets
from typing import TYPE_CHECKING, NamedTuple

from masthead.contract.printable import printable
from masthead.errors import BadInput, NotFound
from masthead.store import audit
from masthead.store.database import Connection, Store
from masthead.store.secret import Secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec

TOKEN_S_MAX = 86_400
"""The longest life of a token, in seconds."""

AHEAD_US = 10 * 60 * 1_000_000
"""How long a further key is published before it signs, in microseconds.

It is longer than caches and servers keep the published keys together.
"""

LEEWAY_US = 5 * 60 * 1_000_000
"""How long a key stays published after its last token, in microseconds: clocks differ."""

ISSUER = "masthead"
"""The issuer in tokens, unless the publisher gives another."""

_ISSUER_MAX = 200
_KEY_BYTES = 8
_SUBJECT_BYTES = 32
_NEVER_ENDS = "ends_at IS NULL OR ends_at > :now"


class SigningKey(NamedTuple):
    """The key that signs now; ``private_key`` is PEM, ``subject_key`` makes ids of readers."""

    key_id: str
    issuer: str
    private_key: str
    subject_key: bytes

    def __repr__(self) -> str:
        """Return a text that does not contain the keys."""
        return f"<SigningKey {self.key_id}>"


class PublishedKey(NamedTuple):
    """A key that is published: when it was made and signs (microseconds since 1970), its issuer.

    ``ends_at`` is when it will not be published any more, None for the newest key.
    """

    key_id: str
    issuer: str
    made_at: int
    signs_from: int
    ends_at: int | None


class Rotated(NamedTuple):
    """A new key, and the number of earlier keys that are still published."""

    key: PublishedKey
    earlier: int


def signing_key(connection: Connection, account_id: int) -> SigningKey | None:
    """Return the key that signs now, None if the account has none.

    Raises MastheadError if another secret key sealed it.
    """
    row = connection.row(
        """
        SELECT key_id, issuer, private_key, subject_key FROM entitlement_keys
        WHERE account_id = :account_id
        ORDER BY CASE WHEN signs_from <= :now THEN 0 ELSE 1 END, signs_from DESC, key_id LIMIT 1
        """,
        account_id=account_id,
        now=connection.now(),
    )
    if row is None:
        return None
    key_id, issuer, private_key, subject_key = row
    return SigningKey(
        key_id,
        issuer,
        connection.secret.unseal(private_key, _place(account_id, key_id, "private_key")),
        bytes.fromhex(
            connection.secret.unseal(subject_key, _place(account_id, key_id, "subject_key"))
        ),
    )


def published_jwks(connection: Connection) -> list[dict[str, str]]:
    """Return the JWKs of all accounts that are published now, in order of their ids."""
    if connection.dialect == "postgresql":
        sql = "SELECT public_key FROM published_entitlement_keys(:now)"
    else:
        sql = f"SELECT public_key FROM entitlement_keys WHERE {_NEVER_ENDS} ORDER BY key_id"
    found = connection.column_as(str, sql, now=connection.now())
    return [json.loads(each) for each in found]


def keys_of(connection: Connection, account_id: int) -> list[PublishedKey]:
    """Return an account's keys that are published now, the newest first."""
    return connection.rows_as(
        PublishedKey,
        f"""
        SELECT key_id, issuer, made_at, signs_from, ends_at FROM entitlement_keys
        WHERE account_id = :account_id AND ({_NEVER_ENDS}) ORDER BY signs_from DESC, key_id
        """,
        account_id=account_id,
        now=connection.now(),
    )


def rotate(
    store: Store,
    account_id: int,
    *,
    issuer: str | None = None,
    at_once: bool = False,
    by: audit.Actor | None = None,
) -> Rotated:
    """Make a key for an account; the first one signs at once, a further one after ten minutes.

    ``issuer`` is what tokens have as ``iss``; None keeps that of the earlier key. With ``at_once``,
    for a key that was stolen, the earlier keys and their tokens end, and the new key signs now.
    Ids of readers stay the same. Raises NotFound if the account does not exist, BadInput if the
    issuer is empty, too long or not printable.
    """
    if issuer is not None:
        _check_issuer(issuer)
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        _check_account(connection, account_id)
        earlier = signing_key(connection, account_id)
        now = connection.now()
        signs_from = now if earlier is None or at_once else now + AHEAD_US
        which = "" if at_once else " AND ends_at <= :now"
        connection.change(
            f"DELETE FROM entitlement_keys WHERE account_id = :account_id{which}",
            account_id=account_id,
            **({} if at_once else {"now": now}),
        )
        connection.change(
            """
            UPDATE entitlement_keys SET ends_at = :ends_at
            WHERE account_id = :account_id AND ends_at IS NULL
            """,
            account_id=account_id,
            ends_at=signs_from + TOKEN_S_MAX * 1_000_000 + LEEWAY_US,
        )
        subject_key = earlier.subject_key if earlier else secrets.token_bytes(_SUBJECT_BYTES)
        issuer = issuer or (earlier.issuer if earlier else ISSUER)
        key = PublishedKey(secrets.token_hex(_KEY_BYTES), issuer, now, signs_from, None)
        _add(connection, account_id, key, subject_key)
        kept = len(keys_of(connection, account_id)) - 1
        audit.record(
            connection,
            by,
            f"new key of entitlements {key.key_id}"
            + (", those before end" if at_once and earlier else ""),
            account_id=account_id,
        )
    return Rotated(key, kept)


def stop(store: Store, account_id: int, *, by: audit.Actor | None = None) -> int:
    """Delete an account's keys, so that it answers no entitlements; return their number.

    Keys that are made later give readers other ids. Raises NotFound if the account does not exist.
    """
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        _check_account(connection, account_id)
        count = connection.change(
            "DELETE FROM entitlement_keys WHERE account_id = :account_id", account_id=account_id
        )
        if count:
            audit.record(connection, by, "keys of entitlements deleted", account_id=account_id)
    return count


def reseal_keys(connection: Connection, old: Secret | None) -> None:
    """Seal the keys of all accounts with the store's secret key, in the caller's transaction.

    ``old`` is the secret key that sealed them. If it is None, it is lost, and these keys with it:
    they are deleted. Raises MastheadError if ``old`` did not seal them.
    """
    if old is None:
        connection.change("DELETE FROM entitlement_keys")
        return
    rows = connection.rows_as(
        tuple[int, str, str, str],
        "SELECT account_id, key_id, private_key, subject_key FROM entitlement_keys",
    )
    for account_id, key_id, *sealed in rows:
        names = ("private_key", "subject_key")
        places = [_place(account_id, key_id, name) for name in names]
        values = {
            name: connection.secret.seal(old.unseal(text, place), place)
            for name, text, place in zip(names, sealed, places, strict=True)
        }
        connection.change(
            """
            UPDATE entitlement_keys SET private_key = :private_key, subject_key = :subject_key
            WHERE account_id = :account_id AND key_id = :key_id
            """,
            account_id=account_id,
            key_id=key_id,
            **values,
        )


def _add(connection: Connection, account_id: int, key: PublishedKey, subject_key: bytes) -> None:
    # Imported late, as in masthead.store.secret.
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    private_key = ec.generate_private_key(ec.SECP256R1())
    pem = private_key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    sealed = {
        name: connection.secret.seal(text, _place(account_id, key.key_id, name))
        for name, text in (("private_key", pem), ("subject_key", subject_key.hex()))
    }
    connection.change(
        """
        INSERT INTO entitlement_keys (account_id, key_id, issuer, public_key, private_key,
            subject_key, made_at, signs_from, ends_at)
        VALUES (:account_id, :key_id, :issuer, :public_key, :private_key, :subject_key, :made_at,
            :signs_from, NULL)
        """,
        account_id=account_id,
        public_key=_jwk(private_key.public_key(), key.key_id),
        key_id=key.key_id,
        issuer=key.issuer,
        made_at=key.made_at,
        signs_from=key.signs_from,
        **sealed,
    )


def _jwk(public_key: "ec.EllipticCurvePublicKey", key_id: str) -> str:
    from jwt.algorithms import ECAlgorithm  # noqa: PLC0415 - takes a twentieth of a second

    jwk = ECAlgorithm.to_jwk(public_key, as_dict=True)
    return json.dumps({"kid": key_id, "use": "sig", "alg": "ES256", **jwk})


def _check_account(connection: Connection, account_id: int) -> None:
    if not connection.row(
        "SELECT 1 FROM accounts WHERE account_id = :account_id", account_id=account_id
    ):
        raise NotFound(f"there is no account {account_id}", code="unknown_account")


def _check_issuer(issuer: str) -> None:
    if not 0 < len(issuer.strip()) == len(issuer) <= _ISSUER_MAX or printable(issuer) != issuer:
        raise BadInput(
            f"the issuer has 1 to {_ISSUER_MAX} printable characters, such as "
            "https://subscriptions.example"
        )


def _place(account_id: int, key_id: str, name: str) -> str:
    return f"entitlement_keys {account_id} {key_id} {name}"
