"""Whether the time of a refused login reveals that the login exists.

Sends pairs of requests with a wrong password: for an existing login and for an unknown login, in
alternating order. Does the same with renewal codes, and with the callers' own credentials. Fails if
the medians of logins differ by more than 5 %; the difference of credentials is only shown (rules,
"Wrong credentials").
"""

from base64 import b64encode
from collections.abc import Iterator
from random import Random
from secrets import token_hex
from statistics import median
from urllib.parse import urlencode

from benchmarks.databases import STORES
from benchmarks.processes import Server, serving, timed_get
from benchmarks.publisher import AUTHORIZATION, KEY, Published, published
from benchmarks.report import Scale, table
from masthead.settings import SETTINGS

DIFFERENCE_MAX = 0.05
WARM_UP_PAIRS = 200
WRONG_PASSWORDS = {"email": "wrong password", "renewal_code": "00000"}
CREDENTIALS = "api_key"
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_REFUSED = b'{"authenticated":false}'

Request = tuple[str, str, int]
"""Path, Authorization, expected status."""


def _logins(data: Published, field: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of an existing login and an unknown login of the same form, without end."""
    rows = data.rows("subscribers")
    known = [row[field] for row in rows if row[field] and not row["delete_date"]]
    taken = {login.lower() for login in known}
    random = Random(1)  # the same logins in each run
    while True:
        for login in random.sample(known, len(known)):
            other = login
            while other.lower() in taken:
                head = "".join(random.choice(_LETTERS) for _ in login[:5])
                other = head.lower() + login[5:] if field == "email" else head
            yield login, other


def _pairs(data: Published, field: str) -> Iterator[tuple[Request, Request]]:
    """Yield pairs of refused requests, for existing and unknown logins, without end."""
    if field == CREDENTIALS:
        while True:
            yield _with_key(KEY), _with_key(token_hex(len(KEY))[: len(KEY)])
    for login, other in _logins(data, field):
        yield _login(login, WRONG_PASSWORDS[field]), _login(other, WRONG_PASSWORDS[field])


def _login(login: str, password: str) -> Request:
    query = urlencode({"login": login, "password": password})
    return f"/2/subscribers/authenticate/?{query}", AUTHORIZATION, 200


def _with_key(key: str) -> Request:
    encoded = b64encode(f"{key}:{'0' * len(key)}".encode()).decode()
    return "/2/accounts/", f"Basic {encoded}", 403


def _medians_us(
    server: Server, pairs: Iterator[tuple[Request, Request]], count: int
) -> tuple[float, float]:
    """Return the median microseconds for existing and for unknown logins."""
    connection = server.connect()
    times_us: tuple[list[float], list[float]] = ([], [])
    for number in range(WARM_UP_PAIRS + count):
        both = list(zip(next(pairs), times_us, strict=True))
        for (path, authorization, status), times in both if number % 2 else reversed(both):
            seconds, body = timed_get(connection, path, authorization, status)
            if status == 200 and body != _REFUSED:
                raise SystemExit(f"an unexpected response: {body.decode()}")
            if number >= WARM_UP_PAIRS:
                times.append(1e6 * seconds)
    connection.close()
    return median(times_us[0]), median(times_us[1])


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    unlimited = {SETTINGS["account_failures"].variable: "0"}
    failed = []
    for store in scale.stores:
        rows = []
        with (
            published(store, scale.subscribers) as data,
            serving(data.database, environment=unlimited) as server,
        ):
            for field in (*WRONG_PASSWORDS, CREDENTIALS):
                exists, does_not = _medians_us(server, _pairs(data, field), scale.rounds)
                difference = exists / does_not - 1
                rows.append([field, f"{exists:.1f}", f"{does_not:.1f}", f"{difference:+.1%}"])
                if field != CREDENTIALS and abs(difference) > DIFFERENCE_MAX:
                    failed.append(f"{STORES[store]}, {field}")
        yield table([f"{STORES[store]}, median µs", "exists", "does not", "difference"], rows)
    if failed:
        raise SystemExit(f"medians differ by more than {DIFFERENCE_MAX:.0%}: {'; '.join(failed)}")
