"""Publishers of any size, in which the same few rows are rare.

Up to a million subscriptions ``masthead import`` loads what ``masthead generate`` makes. Beyond
that these rows are multiplied inside the database: with other ids, emails and renewal codes, all
else as it is.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.databases import settle
from benchmarks.plainly import SAME
from benchmarks.publisher import ACCOUNT_ID, add_account, make_files, masthead
from masthead.contract.records import TABLES
from masthead.store import Connection, find_store
from masthead.store.staging import DERIVED

LOADED_MAX = 1_000_000
SUBSCRIBERS_A_SUBSCRIPTION = 0.87
SAMPLES = 200
LIST_ID, ENTRIES = 990_000, 1_000
AT_THE_END, SPREAD = 77, 88
"""Copies that only the last ten subscriptions have, and that a few all over the account have."""

CHANGED = 10
_IDS = {
    "subscriber_id": ("subscribers", "subscriber_id"),
    "address_id": ("addresses", "address_id"),
    "mailing_address_id": ("addresses", "address_id"),
    "billing_address_id": ("addresses", "address_id"),
    "shipping_address_id": ("addresses", "address_id"),
    "subscription_id": ("subscriptions", "subscription_id"),
    "order_id": ("orders", "order_id"),
    "order_item_id": ("order_items", "order_item_id"),
    "purchase_id": ("purchases", "purchase_id"),
    "last_purchase_id": ("purchases", "purchase_id"),
}
"""The columns of ids of which there are more in a larger publisher, and where each is a key."""

_QUICKLY = {
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


def _scalar(database: Connection, sql: str) -> Any:
    ((value,),) = database.rows(sql)
    return value


def fill(url: str, size: int, folder: Path) -> float | None:
    """Make the publisher; return the seconds that its load took, None where it was multiplied."""
    loaded = min(size, LOADED_MAX)
    files = folder / f"files-{loaded}"
    if not files.exists():
        make_files(files, int(loaded * SUBSCRIBERS_A_SUBSCRIPTION))
    add_account(url)
    start = time.perf_counter()
    masthead("import", str(files), "--account", str(ACCOUNT_ID), database=url)
    seconds = time.perf_counter() - start
    if size > loaded:
        multiply(url, size // loaded)
    plant(url, folder)
    settle(url)
    return seconds if size == loaded else None


def multiply(url: str, times: int) -> None:
    """Let there be so many times the rows; indexes are made anew, which is faster."""
    store = find_store(url)
    with store.writer() as database:
        database.script(_QUICKLY[database.dialect])
        shifts = {
            column: _scalar(database, f"SELECT max({key}) FROM {table}")
            for column, (table, key) in _IDS.items()
        }
        indexes = database.rows(_INDEXES[database.dialect])
        if database.dialect == "sqlite":
            database.script("CREATE TEMP TABLE stat AS SELECT * FROM sqlite_stat1")
        for name, _ in indexes:
            database.script(f"DROP INDEX {name}")
        for table in TABLES:
            if table.key[-1] not in _IDS and table.key[0] not in _IDS:
                continue
            same = [column for column, names in SAME.items() if table.name in names]
            names = [*same, *(c.name for c in table.columns), *DERIVED.get(table.name, {})]
            own = next(name for name in table.key if name in _IDS)
            for number in range(1, times):
                values = ", ".join(_other(name, number, shifts) for name in names)
                database.change(
                    f"INSERT INTO {table.name} ({', '.join(map(_quoted, names))}) SELECT {values} "
                    f"FROM {table.name} WHERE {own} <= {shifts[own]} ORDER BY {own}"
                )
        for _, sql in indexes:
            database.script(sql)
        if database.dialect == "sqlite":
            database.script("DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 SELECT * FROM stat")
    store.close()


def _quoted(name: str) -> str:
    return f'"{name}"'


def _other(name: str, number: int, shifts: dict[str, int]) -> str:
    if name in shifts:
        return f"{name} + {number * shifts[name]}"
    others = {
        "email": f"replace(email, '@', '+{number}@')",
        "renewal_code": f"renewal_code || '-{number}'",
    }
    return others.get(name, _quoted(name))


def plant(url: str, folder: Path) -> None:
    """Load what is looked for at every size: a mailing list, and subscriptions that are rare."""
    with find_store(url).writer() as database:
        last = _scalar(database, "SELECT max(subscription_id) FROM subscriptions")
    step = last // SAMPLES
    spread = range(step, last, step)
    new = range(last + 1, last + 1 + CHANGED)
    load(
        url,
        folder,
        subscriptions=["subscription_id,copies", *(f"{each},{SPREAD}" for each in spread)],
        list_downloads=["mailing_list_id,name", f"{LIST_ID},Planted"],
        mailing_list_entries=[
            "mailing_list_id,subscription_id,copies",
            *(f"{LIST_ID},{1 + each * (last // ENTRIES)},1" for each in range(ENTRIES)),
        ],
    )
    head = "subscription_id,subscriber_id,publication_id,issues,copies,type"
    load(url, folder, subscriptions=[head, *(f"{i},1,1,4,{AT_THE_END},Print" for i in new)])


def load(url: str, folder: Path, **lines: list[str]) -> None:
    """Import files of these lines."""
    with TemporaryDirectory(dir=folder) as name:
        for table, content in lines.items():
            (Path(name) / f"{table}.csv").write_text("\n".join([*content, ""]))
        masthead("import", name, "--account", str(ACCOUNT_ID), database=url)
