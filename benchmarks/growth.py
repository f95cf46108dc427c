"""How the time of one request grows with the database: 10 thousand to 10 million subscriptions.

A publisher of each size is made on each store (``grown.py``). All of a store are served, and each
is asked over one connection, in rounds in which the sizes take turns.
"""

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlencode

from benchmarks.databases import STORES, Place, fresh, is_postgresql, place
from benchmarks.grown import (
    AT_THE_END,
    CHANGED,
    ENTRIES,
    LIST_ID,
    LOADED_MAX,
    SAMPLES,
    SPREAD,
    SUBSCRIBERS_A_SUBSCRIPTION,
    fill,
    load,
)
from benchmarks.machine import SERVER_CORE
from benchmarks.processes import serving
from benchmarks.publisher import ACCOUNT_ID, AUTHORIZATION
from benchmarks.questions import ENTITY_NAMES
from benchmarks.report import Aim, Figures, Found, Scale, grid
from masthead.sample_data.generate_values import password
from masthead.store import Connection, find_store

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
COMPARED_TO = 100_000
AIM = Aim(at_most=1.5)
LOAD = "`masthead import`, ms a thousand subscriptions"
FILTERS = (
    "publication_id=1",
    "type=Both",
    "campaign_active=true",
    "copies=1",
    "copies=25",
    "min_copies=10",
    "max_copies=1",
    "issues_left=-1",
    "issues_left=17",
    "min_issues_left=40",
    "max_issues_left=2",
    "publication_id=2&type=Print&campaign_active=true",
    "copies=25&publication_id=5",
    "copies=25&issues_left=7",
    "min_copies=5&max_issues_left=0&campaign_active=true",
    f"copies={SPREAD}",
    f"copies={AT_THE_END}",
    f"min_copies={AT_THE_END}&type=Print",
    "copies=9999",
    "min_copies=5&max_copies=4",
)
SEARCHES = (
    "email=a*",
    "email=anna.s*",
    "last_name=smith",
    "last_name=s*",
    "last_name=sc*",
    "first_name=anna&last_name=smith",
    "first_name=a*&last_name=s*",
    "source=web",
    "source=nowhere*&last_name=s*",
    "renewal_code=abc*",
)


def questions(url: str, port: int, folder: Path) -> dict[str, list[str]]:
    """Return the paths to ask for, by what is measured."""
    with find_store(url).writer() as database:
        subscribers = _sample(database, "subscribers", "subscriber_id")
        orders = _sample(database, "orders", "order_id")
        lists = _sample(database, "subscriptions", "subscription_id")
        base = min(max(subscribers), int(LOADED_MAX * SUBSCRIBERS_A_SUBSCRIPTION))
        of_each = [_logins(database, each, base) for each in subscribers]
    emails, codes = ([pair for pair in pairs if pair] for pairs in zip(*of_each, strict=True))
    logins = "/2/subscribers/authenticate/?"
    found = {
        "order": [f"/2/orders/{each}" for each in orders],
        "account": [f"/2/accounts/{ACCOUNT_ID}/"],
        "custom field answers": [f"/2/customfields/{each}" for each in subscribers],
        "login by email": [logins + urlencode(pair) for pair in emails],
        "login by renewal code": [logins + urlencode(pair) for pair in codes],
        "list of 100": [f"/2/subscriptions/?after={each}" for each in lists],
        "of a subscriber": [f"/2/subscriptions/?subscriber_id={each}" for each in subscribers],
        **{f"`{asked}`": [f"/2/subscriptions/?{asked}"] for asked in FILTERS},
        "search by email": [f"/2/subscribers/?email={quote(pair['login'])}" for pair in emails],
        **{f"search `{asked}`": [f"/2/subscribers/?{asked}"] for asked in SEARCHES},
        f"mailing list of {ENTRIES:,}": [f"/2/downloadmailinglist/{LIST_ID}/"],
    }
    before = _through(port)
    stamp = f"Source {time.time_ns()}"
    changed = [f"{each},{stamp}" for each in subscribers[:CHANGED]]
    load(url, folder, subscribers=["subscriber_id,source", *changed])
    since = f"/2/cdc?entities={ENTITY_NAMES}&changed_since="
    found[f"poll that finds {CHANGED} rows"] = [since + before]
    # The time that is handed out lags behind for as long as a load may still be under way.
    while len(asked(port, since + (after := _through(port))).split(stamp.encode())) > 1:
        time.sleep(0.1)
    found["poll that finds nothing"] = [since + after]
    if asked(port, since + before).count(stamp.encode()) != CHANGED:
        raise SystemExit(f"the poll does not find the {CHANGED} rows that changed")
    return found


def _sample(database: Connection, table: str, key: str) -> list[int]:
    """Return ids from the whole table."""
    first, last = database.rows(f"SELECT min({key}), max({key}) FROM {table}")[0]
    wanted = range(first, last + 1, max(1, (last + 1 - first) // SAMPLES))
    sql = f"SELECT {key} FROM {table} WHERE account_id = 1 AND {key} >= :id ORDER BY {key} LIMIT 1"
    return [id_ for each in wanted for (id_,) in database.rows(sql, id=each)]


def _logins(database: Connection, subscriber_id: int, base: int) -> list[dict[str, str] | None]:
    """Return the two logins of a subscriber, of which either may be missing."""
    email, code, digest, zip_code = database.rows(
        """
        SELECT email, renewal_code, password_md5, (
            SELECT max(zip_code) FROM addresses AS a
            WHERE a.account_id = s.account_id AND a.subscriber_id = s.subscriber_id)
        FROM subscribers AS s WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            AND delete_date IS NULL
        UNION ALL SELECT NULL, NULL, NULL, NULL
        """,
        account_id=ACCOUNT_ID,
        subscriber_id=subscriber_id,
    )[0]
    secret = password((subscriber_id - 1) % base + 1)
    return [
        {"login": email, "password": secret} if email and digest else None,
        {"login": code, "password": zip_code} if code and zip_code else None,
    ]


def asked(port: int, path: str) -> bytes:
    """Return the answer to a path."""
    connection = HTTPConnection("127.0.0.1", port)
    try:
        return milliseconds(connection, path)[1]
    finally:
        connection.close()


def milliseconds(connection: HTTPConnection, path: str) -> tuple[float, bytes]:
    """Return how long an answer takes, which must be one, and its body."""
    start = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": AUTHORIZATION})
    answer = connection.getresponse()
    body = answer.read()
    taken = (time.perf_counter() - start) * 1_000
    if answer.status != 200 or body == b'{"authenticated":false}':
        raise SystemExit(f"{path}: {answer.status} {body[:200].decode()}")
    return taken, body


def _through(port: int) -> str:
    connection = HTTPConnection("127.0.0.1", port)
    path = "/snapshot?entities=listdownloads"
    connection.request("GET", path, headers={"Authorization": AUTHORIZATION})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return quote(str(answer.headers["Masthead-Changes-Through"]))


def _databases(home: Place, sizes: list[int], folder: Path, stack: ExitStack) -> Iterator[str]:
    """Yield the URL of the database of each size, which need not exist yet."""
    for size in sizes:
        if isinstance(home, Path):
            yield f"sqlite:///{folder / f'{size}.db'}"
        else:
            yield stack.enter_context(fresh(home, f"growth{size}"))


def of_store(store: str, sizes: list[int], rounds: int, folder: Path) -> dict[str, Figures]:
    """Return the milliseconds of each round, by title and size."""
    found: dict[str, Figures] = {}
    with ExitStack() as stack:
        home = stack.enter_context(place(store))
        asking = {}
        for size, url in zip(sizes, _databases(home, sizes, folder, stack), strict=True):
            made = folder / f"{size}.made"
            if is_postgresql(url) or not made.exists():
                seconds = fill(url, size, folder)
                if not is_postgresql(url):
                    made.touch()
                if seconds is not None:
                    found.setdefault(LOAD, {})[str(size)] = [seconds / size * 1_000_000]
            log = folder / f"{store}-{size}.log"
            server = stack.enter_context(serving(url, log, core=SERVER_CORE))
            connection = HTTPConnection("127.0.0.1", server.port)
            paths = questions(url, server.port, folder)
            asking[size] = connection, {title: cycle(each) for title, each in paths.items()}
        titles = list(next(iter(asking.values()))[1])
        for number in range(rounds + 1):
            for title in titles:
                for size, (connection, paths_of) in asking.items():
                    taken, _ = milliseconds(connection, next(paths_of[title]))
                    if number:  # the first one warms up
                        found.setdefault(title, {}).setdefault(str(size), []).append(taken)
    return found


def measure(scale: Scale) -> Found:
    """Return ``{store: {title: {size: [milliseconds of each round]}}}`` of the sizes there are.

    The largest has as many subscriptions as the scale says. ``folder`` of the scale keeps files and
    SQLite's databases for the next time.
    """
    sizes = sorted({*(size for size in SIZES if size < scale.subscribers), scale.subscribers})
    with TemporaryDirectory() as name:
        into = scale.folder or Path(name)
        into.mkdir(parents=True, exist_ok=True)
        found = {store: of_store(store, sizes, scale.rounds, into) for store in scale.stores}
    tables = [_table(store, figures, sizes) for store, figures in found.items()]
    return Found(tables, found, {})


def _table(store: str, found: dict[str, Figures], sizes: list[int]) -> str:
    """Return a store's table: medians, and how many times that of 100,000 the largest's is."""
    rows = {}
    for title, figures in found.items():
        medians = {size: statistics.median(taken) for size, taken in figures.items()}
        cells = [f"{medians[str(size)]:.2f}" if str(size) in medians else "" for size in sizes]
        largest, base = medians.get(str(max(sizes))), medians.get(str(COMPARED_TO))
        growth = largest / base if largest and base else None
        told = f"{growth:.2f}" if growth else ""
        if growth and title != LOAD:
            told += f" ({AIM}: {'met' if AIM.is_met(growth) else 'missed'})"
        rows[title] = [*cells, told]
    return grid(f"{STORES[store]}, ms: median", [*(f"{size:,}" for size in sizes), "growth"], rows)
