"""The time of one request with 10,000 to 10,000,000 subscriptions.

Each size of publisher is served and requested over one connection; the sizes take turns within each
round. Up to a million subscriptions, ``masthead import`` loads them. Beyond that, the database
multiplies the rows, with new ids, email addresses and renewal codes.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

from benchmarks.databases import (
    STORES,
    Home,
    columns,
    connected,
    home_of,
    is_postgresql,
    new_database,
    rows,
    settle,
)
from benchmarks.feed import ENTITY_NAMES
from benchmarks.machine import SERVER_CORE
from benchmarks.processes import Server, serving, timed_get
from benchmarks.publisher import ACCOUNT_ID, AUTHORIZATION, add_account, load, make_files
from benchmarks.report import Budget, Figures, Scale, add, ratio, table
from masthead.contract.records import TABLES
from masthead.sample_data.generate_values import password

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
LOADED_MAX = 1_000_000
SUBSCRIBERS_PER_SUBSCRIPTION = 0.87
SAMPLES = 200
CHANGED = 10
LIST_ID, ENTRIES = 990_000, 1_000
LAST_COPIES, SPREAD_COPIES = 77, 88
"""Copies that only the last ten subscriptions have, and copies that 200 across the account have."""

LOOK_UP, FILTER = Budget(at_most=1.5), Budget(at_most=2)
FILTERS = (
    "subscriptions/?publication_id=1",
    "subscriptions/?type=Both",
    "subscriptions/?campaign_active=true",
    "subscriptions/?copies=1",
    "subscriptions/?copies=25",
    "subscriptions/?min_copies=10",
    "subscriptions/?max_copies=1",
    "subscriptions/?issues_left=-1",
    "subscriptions/?issues_left=17",
    "subscriptions/?min_issues_left=40",
    "subscriptions/?max_issues_left=2",
    "subscriptions/?publication_id=2&type=Print&campaign_active=true",
    "subscriptions/?copies=25&publication_id=5",
    "subscriptions/?copies=25&issues_left=7",
    "subscriptions/?min_copies=5&max_issues_left=0&campaign_active=true",
    f"subscriptions/?copies={SPREAD_COPIES}",
    f"subscriptions/?copies={LAST_COPIES}",
    f"subscriptions/?min_copies={LAST_COPIES}&type=Print",
    "subscriptions/?copies=9999",
    "subscriptions/?min_copies=5&max_copies=4",
    "subscribers/?email=a*",
    "subscribers/?email=anna.s*",
    "subscribers/?last_name=smith",
    "subscribers/?last_name=s*",
    "subscribers/?last_name=sc*",
    "subscribers/?first_name=anna&last_name=smith",
    "subscribers/?first_name=a*&last_name=s*",
    "subscribers/?source=web",
    "subscribers/?source=nowhere*&last_name=s*",
    "subscribers/?renewal_code=abc*",
)
_IDS = {
    "subscriber_id": "subscribers",
    "address_id": "addresses",
    "mailing_address_id": "addresses",
    "billing_address_id": "addresses",
    "shipping_address_id": "addresses",
    "subscription_id": "subscriptions",
    "order_id": "orders",
    "order_item_id": "order_items",
    "purchase_id": "purchases",
    "last_purchase_id": "purchases",
}
"""Id columns to multiply, and the table whose first id they use."""

_FAST = {
    "sqlite": "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000",
    "postgresql": "SET session_replication_role = replica; SET maintenance_work_mem = '1GB'",
}
_INDEXES = {
    "sqlite": "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    "postgresql": """
        SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema
        AND indexname NOT IN (SELECT conname FROM pg_constraint)
        """,
}


def fill(url: str, size: int, folder: Path) -> None:
    """Make a publisher of ``size`` subscriptions."""
    loaded = min(size, LOADED_MAX)
    files = folder / f"files-{loaded}"
    if not files.exists():
        make_files(files, int(loaded * SUBSCRIBERS_PER_SUBSCRIPTION))
    add_account(url)
    load(url, files)
    if size > loaded:
        multiply(url, size // loaded)
    plant(url)
    settle(url)


def multiply(url: str, times: int) -> None:
    """Multiply the rows, without indexes until the end, which is faster."""
    dialect = "postgresql" if is_postgresql(url) else "sqlite"
    shifts = {column: _last_id(url, table) for column, table in _IDS.items()}
    with connected(url) as connection:
        connection.execute(_FAST[dialect])
        indexes = connection.execute(_INDEXES[dialect]).fetchall()
        if dialect == "sqlite":
            connection.execute("CREATE TEMP TABLE stat AS SELECT * FROM sqlite_stat1")
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        for each in TABLES:
            key = next((name for name in each.key if name in _IDS), None)
            if key is None:
                continue
            names = columns(url, each.name)
            for number in range(1, times):
                values = ", ".join(_shifted(name, number, shifts) for name in names)
                connection.execute(
                    f"INSERT INTO {each.name} ({', '.join(map(_quoted, names))}) SELECT {values} "
                    f"FROM {each.name} WHERE {key} <= {shifts[key]} ORDER BY {key}"
                )
        for _, sql in indexes:
            connection.execute(sql)
        if dialect == "sqlite":
            connection.execute(
                "DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 SELECT * FROM stat"
            )


def _last_id(url: str, table: str) -> int:
    key = next(name for name, of in _IDS.items() if of == table)
    return int(rows(url, f"SELECT max({key}) FROM {table}")[0][0])


def _quoted(name: str) -> str:
    return f'"{name}"'


def _shifted(name: str, number: int, shifts: dict[str, int]) -> str:
    if name in shifts:
        return f"{name} + {number * shifts[name]}"
    others = {
        "email": f"replace(email, '@', '+{number}@')",
        "renewal_code": f"renewal_code || '-{number}'",
    }
    return others.get(name, _quoted(name))


def plant(url: str) -> None:
    """Load what every size has: a mailing list of 1,000, and subscriptions with rare copies."""
    last = _last_id(url, "subscriptions")
    step = last // SAMPLES
    load_lines(
        url,
        subscriptions=[
            "subscription_id,copies",
            *(f"{id_},{SPREAD_COPIES}" for id_ in range(step, last, step)),
        ],
        list_downloads=["mailing_list_id,name", f"{LIST_ID},Planted"],
        mailing_list_entries=[
            "mailing_list_id,subscription_id,copies",
            *(f"{LIST_ID},{1 + number * (last // ENTRIES)},1" for number in range(ENTRIES)),
        ],
    )
    head = "subscription_id,subscriber_id,publication_id,issues,copies,type"
    new = range(last + 1, last + 11)
    lines = [head, *(f"{id_},1,1,4,{LAST_COPIES},Print" for id_ in new)]
    load_lines(url, subscriptions=lines)


def load_lines(url: str, **tables: list[str]) -> None:
    """Import files with these lines."""
    with TemporaryDirectory() as folder:
        for name, lines in tables.items():
            (Path(folder) / f"{name}.csv").write_text("\n".join([*lines, ""]))
        load(url, Path(folder))


def paths_of(url: str, server: Server) -> dict[str, list[str]]:
    """Return the requested paths, by title."""
    subscribers = _sample(url, "subscribers", "subscriber_id")
    base = min(max(subscribers), int(LOADED_MAX * SUBSCRIBERS_PER_SUBSCRIPTION))
    emails, codes = [], []
    for id_ in subscribers:
        email, code, has_password, zip_code = _logins(url, id_)
        if email and has_password:
            secret = password((id_ - 1) % base + 1)
            emails.append({"login": email, "password": secret})
        if code and zip_code:
            codes.append({"login": code, "password": zip_code})
    login = "/2/subscribers/authenticate/?"
    found_nothing, found_rows = _polls(url, server, subscribers[:CHANGED])
    return {
        "order": [f"/2/orders/{id_}" for id_ in _sample(url, "orders", "order_id")],
        "account": [f"/2/accounts/{ACCOUNT_ID}/"],
        "custom field answers": [f"/2/customfields/{id_}" for id_ in subscribers],
        "login by email": [login + urlencode(pair) for pair in emails],
        "login by renewal code": [login + urlencode(pair) for pair in codes],
        "list of 100": [
            f"/2/subscriptions/?after={id_}"
            for id_ in _sample(url, "subscriptions", "subscription_id")
        ],
        "of a subscriber": [f"/2/subscriptions/?subscriber_id={id_}" for id_ in subscribers],
        "search by email": [f"/2/subscribers/?email={quote(pair['login'])}" for pair in emails],
        f"mailing list of {ENTRIES:,}": [f"/2/downloadmailinglist/{LIST_ID}/"],
        f"poll that finds {CHANGED} rows": [found_rows],
        "poll that finds nothing": [found_nothing],
        **{f"`{query}`": [f"/2/{query}"] for query in FILTERS},
    }


def _polls(url: str, server: Server, subscribers: list[int]) -> tuple[str, str]:
    """Return a poll without results, and a poll with changes of these subscribers."""
    since = f"/2/cdc?entities={ENTITY_NAMES}&changed_since="
    before, source = _changes_through(server), f"Source {time.time_ns()}"
    load_lines(url, subscribers=["subscriber_id,source", *(f"{i},{source}" for i in subscribers)])
    if server.get(since + before).count(source.encode()) != CHANGED:
        raise SystemExit(f"the poll does not find the {CHANGED} rows that changed")
    # Every poll returns a commit without a stamp.
    while source.encode() in server.get(since + (after := _changes_through(server))):
        time.sleep(0.1)
    return since + after, since + before


def _changes_through(server: Server) -> str:
    connection = server.connect()
    path = "/snapshot?entities=listdownloads"
    connection.request("GET", path, headers={"Authorization": AUTHORIZATION})
    response = connection.getresponse()
    response.read()
    connection.close()
    return quote(str(response.headers["Masthead-Changes-Through"]))


def _sample(url: str, table: str, key: str) -> list[int]:
    """Return up to 200 ids, evenly spread."""
    last = _last_id(url, table)
    condition = f"account_id = {ACCOUNT_ID} AND {key} >= "
    wanted = range(1, last + 1, max(1, last // SAMPLES))
    found = (rows(url, f"SELECT min({key}) FROM {table} WHERE {condition}{id_}") for id_ in wanted)
    return [id_ for ((id_,),) in found if id_ is not None]


def _logins(url: str, subscriber_id: int) -> tuple[Any, ...]:
    """Return a subscriber's email address, renewal code, password digest and postal code."""
    its = f"account_id = {ACCOUNT_ID} AND subscriber_id = {subscriber_id}"
    zip_code = f"(SELECT max(zip_code) FROM addresses WHERE {its})"
    found = rows(
        url,
        f"SELECT email, renewal_code, password_md5, {zip_code} FROM subscribers "
        f"WHERE {its} AND delete_date IS NULL",
    )
    return found[0] if found else (None, None, None, None)


def _timed_ms(connection: HTTPConnection, path: str) -> float:
    seconds, body = timed_get(connection, path)
    if body == b'{"authenticated":false}':
        raise SystemExit(f"{path}: refused")
    return 1e3 * seconds


def _databases(home: Home, sizes: list[int], folder: Path, stack: ExitStack) -> Iterator[str]:
    """Yield the database URL of each size; fill the databases that the folder lacks."""
    for size in sizes:
        if isinstance(home, Path):
            url, made = f"sqlite:///{folder / f'{size}.db'}", folder / f"{size}.made"
            if not made.exists():
                fill(url, size, folder)
                made.touch()
        else:
            url = stack.enter_context(new_database(home, f"growth{size}"))
            fill(url, size, folder)
        yield url


def _measured(store: str, sizes: list[int], rounds: int, folder: Path) -> dict[int, Figures]:
    """Return the milliseconds of each round, by size and title."""
    found: dict[int, Figures] = {size: {} for size in sizes}
    with ExitStack() as stack:
        home = stack.enter_context(home_of(store))
        asked = {}
        for size, url in zip(sizes, _databases(home, sizes, folder, stack), strict=True):
            server = stack.enter_context(serving(url, core=SERVER_CORE))
            paths = {title: cycle(each) for title, each in paths_of(url, server).items()}
            asked[size] = server.connect(), paths
        for number in range(rounds + 1):
            for title in asked[sizes[0]][1]:
                for size, (connection, paths) in asked.items():
                    taken_ms = _timed_ms(connection, next(paths[title]))
                    if number:  # the first round warms up
                        add(found[size], {title: taken_ms})
    return found


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store, up to the scale's number of subscribers."""
    largest = round(scale.subscribers / SUBSCRIBERS_PER_SUBSCRIPTION)
    sizes = sorted({*(size for size in SIZES if size < largest), largest})
    with TemporaryDirectory() as temporary:
        folder = Path(scale.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for store in scale.stores:
            found = _measured(store, sizes, scale.rounds, folder)
            base_size = 100_000 if 100_000 in found else sizes[0]
            base = found[base_size]
            yield table(
                [
                    f"{STORES[store]}, ms",
                    *(f"{size:,}" for size in sizes),
                    f"growth from {base_size:,}",
                ],
                [
                    [
                        title,
                        *(f"{median(found[size][title]):.2f}" for size in sizes),
                        ratio(times, base[title], FILTER if title[0] == "`" else LOOK_UP),
                    ]
                    for title, times in found[sizes[-1]].items()
                ],
            )
