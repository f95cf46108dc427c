"""A publisher moves from SQLite to PostgreSQL and back: the same files, and the same answers.

What is asked is taken from the files themselves: their ids, texts and numbers.
"""

from __future__ import annotations

import csv
import re
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.callers import ENTITIES, JSON_BODY, Caller, query_of
from tests.loading.made_up import read_tables
from tests.long import ONLY_LONG
from tests.servers import Store, import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import httpx2

    from tests.loading.made_up import Tables
    from tests.postgres import Databases

pytestmark = ONLY_LONG

AWKWARD = Path(__file__).parents[1] / "api" / "data" / "golden"
SUBSCRIBERS = 300
ACCOUNTS = {1: "made up", 2: "awkward", 3: "master"}
WITH_DATA = (1, 2)
WAY = ("sqlite", "postgresql", "sqlite")

OF_THE_CLOCK = {"date", "masthead-changes-through"}
MODIFIED = re.compile(rb'"modified_date":"[^"]*"')

Parameters = dict[str, object]


@dataclass
class Stop:
    """A database on the way: what was exported from it, and who asks its server, by account."""

    accounts: bytes
    exported: dict[int, dict[str, bytes]]
    folders: dict[int, Path]
    callers: dict[int, Caller]


@dataclass
class Move:
    """The way of the data from one database to the next."""

    stops: list[Stop]

    def tables(self, account_id: int) -> Tables:
        """Return what an account's files hold."""
        return read_tables(self.stops[0].folders[account_id])

    def ask(self, account_id: int, path: str, **more: Any) -> httpx2.Response:
        """Ask every server; return the first answer if all the others are the same."""
        answers = [self._answer(stop.callers[account_id], path, **more) for stop in self.stops]
        first, *others = answers
        for other in others:
            assert essence(other) == essence(first), (path, more)
        return first

    def read(self, account_id: int, path: str, **parameters: object) -> Any:
        """Ask every server for what must be there; return what all of them say."""
        answer = self.ask(account_id, path, **parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def pages(self, account_id: int, path: str, **parameters: object) -> list[Any]:
        """Return all rows of a list, having followed its pages to the end."""
        rows = []
        while True:
            answer = self.ask(account_id, path, **parameters)
            assert answer.status_code == 200, answer.text
            ((_, page),) = answer.json().items()
            rows += page
            if "Link" not in answer.headers:
                return rows
            target = answer.headers["Link"].removeprefix("<").partition(">")[0]
            parameters = dict(query_of(target))

    def _answer(self, caller: Caller, path: str, **more: Any) -> httpx2.Response:
        headers = {"Accept-Encoding": "identity", **more.pop("headers", {})}
        return caller.ask(path, headers=headers, **more)


def essence(answer: httpx2.Response) -> tuple[int, dict[str, str], bytes]:
    """Return all of an answer that does not depend on when the data was loaded."""
    headers = {k: v for k, v in answer.headers.items() if k.lower() not in OF_THE_CLOCK}
    return answer.status_code, headers, MODIFIED.sub(b"", answer.content)


@pytest.fixture(scope="module")
def move(postgres: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Move]:
    """Two publishers and a master account that have moved to another kind of database and back."""
    folder = tmp_path_factory.mktemp("move")
    accounts, data = new_publishers(folder)
    with ExitStack() as stack:
        stops = []
        for number, kind in enumerate(WAY):
            store = Store(kind, folder, postgres if kind == "postgresql" else None)
            database = store.new_database(f"stop-{number}")
            stack.callback(store.drop_database, database)
            import_files(accounts, account_id=None, database=database)
            for account_id, path in data.items():
                import_files(path, account_id=str(account_id), database=database)
            exported = folder / f"from-stop-{number}"
            accounts, data = export(database, exported)
            server = stack.enter_context(serving(database))
            callers = {
                account_id: stack.enter_context(
                    closing(Caller(server, f"key-{account_id}", f"login-{account_id}"))
                )
                for account_id in ACCOUNTS
            }
            files = {account_id: read_files(path) for account_id, path in data.items()}
            stops.append(Stop(accounts.read_bytes(), files, data, callers))
        yield Move(stops)


def new_publishers(folder: Path) -> tuple[Path, dict[int, Path]]:
    """Return a file of accounts, and the files of those that have data."""
    accounts = [
        {
            "account_id": account_id,
            "company_name": f"{name} 😀 \u00c4\u0308",
            "active": True,
            "api_active": "1",
            "api_key": f"key-{account_id}",
            "api_login": f"login-{account_id}",
            "created": "2024-02-29 23:59:59",
            "is_master": name == "master",
        }
        for account_id, name in ACCOUNTS.items()
    ]
    (path,) = write_ndjson(folder, {"accounts": accounts})
    made_up = folder / "made-up"
    masthead("generate", made_up, "--subscribers", SUBSCRIBERS, database="sqlite:///unused.db")
    return path, {1: made_up, 2: AWKWARD}


def export(database: str, folder: Path) -> tuple[Path, dict[int, Path]]:
    """Write everything that a database holds as files."""
    folder.mkdir()
    accounts = folder / "accounts.csv"
    printed = masthead("accounts", "export", database=database).stdout
    accounts.write_text(printed, encoding="utf-8", newline="")
    data = {account_id: folder / str(account_id) for account_id in WITH_DATA}
    for account_id, path in data.items():
        masthead("export", path, "--account", account_id, database=database)
    return accounts, data


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of the data: the feed's window is each database's own."""
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


# The files


def test_exported_again_the_data_are_the_same_bytes(move: Move) -> None:
    first, *others = move.stops
    assert first.exported[1]["subscribers.csv"].count(b"\n") == SUBSCRIBERS + 1
    for stop in others:
        assert stop.exported == first.exported


def test_exported_again_the_accounts_are_the_same_bytes(move: Move) -> None:
    first, *others = move.stops
    rows = csv.DictReader(first.accounts.decode().splitlines())
    assert [row["api_key"] for row in rows] == [f"key-{number}" for number in ACCOUNTS]
    assert all(stop.accounts == first.accounts for stop in others)


# The ten operations


def test_the_accounts_that_each_may_see_are_the_same(move: Move) -> None:
    """Operations 1 and 2."""
    for account_id, name in ACCOUNTS.items():
        count = len(ACCOUNTS) if name == "master" else 1
        assert len(move.read(account_id, "/2/accounts/")["accounts"]) == count
        for other in (*ACCOUNTS, 77):
            may_see = other in ACCOUNTS and (other == account_id or name == "master")
            answer = move.ask(account_id, f"/2/accounts/{other}/")
            assert answer.status_code == (200 if may_see else 404)


def test_every_login_has_the_same_answer(move: Move) -> None:
    """Operation 3: by email and password, by renewal code and postal code, and by neither."""
    tables = move.tables(1)
    zips = {row["subscriber_id"]: row["zip_code"] for row in tables["addresses"]}
    let_in = 0
    for row in tables["subscribers"][::4]:
        number = row["subscriber_id"]
        for login, password in (
            (row["email"], f"password-{number}"),
            (row["email"].upper(), f"password-{number}"),
            (row["renewal_code"].lower(), zips.get(number, "")),
            (row["email"], "wrong"),
        ):
            answer = move.read(1, "/2/subscribers/authenticate/", login=login, password=password)
            let_in += answer["authenticated"]
    assert let_in > SUBSCRIBERS // 8
    email = move.tables(2)["subscribers"][-1]["email"]
    for password in ("p\u00e4ssw\u00f6rd 😀", "pa\u0308sswo\u0308rd 😀"):
        answer = move.read(2, "/2/subscribers/authenticate/", login=email, password=password)
        assert answer["authenticated"] == (password[1] == "\u00e4")


@pytest.mark.parametrize("account_id", WITH_DATA)
def test_the_change_feed_and_the_snapshot_have_the_same_records_in_the_same_order(
    move: Move, account_id: int
) -> None:
    """Operation 4, and the extension /snapshot."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")
    for entities in (*ENTITIES, ",".join(ENTITIES), ",".join(reversed(ENTITIES))):
        changed = move.read(account_id, "/2/cdc", changed_since=yesterday, entities=entities)
        assert all(changed.values())
        snapshot = move.read(account_id, "/snapshot", entities=entities)
        assert {key: len(rows) for key, rows in snapshot.items()} == {
            key: len(rows) for key, rows in changed.items()
        }


def test_a_poll_after_all_is_read_is_empty_everywhere(move: Move) -> None:
    """Operation 4: each server's own time leads on from its answer."""
    for stop in move.stops:
        caller = stop.callers[1]
        through = caller.ask("/snapshot", entities="orders").headers["Masthead-Changes-Through"]
        answer = caller.ask("/2/cdc", changed_since=through, entities=",".join(ENTITIES))
        assert not any(answer.json().values())


@pytest.mark.parametrize("account_id", WITH_DATA)
def test_the_custom_fields_and_the_answers_of_each_subscriber_are_the_same(
    move: Move, account_id: int
) -> None:
    """Operations 5 and 6."""
    tables = move.tables(account_id)
    fields = move.read(account_id, "/2/customfields/")
    assert len(fields) == len(tables["custom_fields"])
    given = 0
    for row in tables["subscribers"][:: 3 if account_id == 1 else 1]:
        answers = move.read(account_id, f"/2/customfields/{row['subscriber_id']}")
        given += any(answer["values"] or answer["text_value"] for answer in answers)
    assert given


def subscription_filters(rows: Sequence[dict[str, str]]) -> Iterator[Parameters]:
    """Yield filters of operation 7, alone and together, with the values of these rows."""
    yield {}
    for column, names in {
        "publication_id": ["publication_id"],
        "type": ["type"],
        "copies": ["copies", "min_copies", "max_copies"],
        "issues": ["issues_left", "min_issues_left", "max_issues_left"],
        "renew_campaign_active": ["campaign_active"],
    }.items():
        values = sorted({row[column] for row in rows if row[column]})
        for name in names:
            for value in values[:: max(1, len(values) // 5)]:
                yield {name: value}
    for row in rows[:: max(1, len(rows) // 8)]:
        yield {"subscriber_id": row["subscriber_id"]}
        yield {"publication_id": row["publication_id"], "type": row["type"].lower()}
        yield {"min_copies": 1, "max_issues_left": row["issues"], "campaign_active": "true"}
    yield {"min_issues_left": 1, "max_issues_left": 5}
    yield {"copies": 999_999}


@pytest.mark.parametrize("account_id", WITH_DATA)
def test_every_page_of_every_list_of_subscriptions_is_the_same(move: Move, account_id: int) -> None:
    """Operation 7."""
    rows = move.tables(account_id)["subscriptions"]
    lengths = set()
    for filters in subscription_filters(rows):
        lengths.add(len(move.pages(account_id, "/2/subscriptions/", **filters)))
    assert lengths >= {0, 1, len(rows)}
    everything = move.pages(account_id, "/2/subscriptions/", limit=70)
    assert [row["subscription_id"] for row in everything] == [
        row["subscription_id"] for row in rows
    ]


def searches(rows: Sequence[dict[str, str]]) -> Iterator[Parameters]:
    """Yield filters of operation 8, alone and together, with the values of these rows."""
    yield {}
    for name in ("email", "first_name", "last_name", "renewal_code", "source"):
        yield {name: ""}
        yield {name: "*"}
        values = sorted({row[name] for row in rows if row[name]})
        for value in values[:: max(1, len(values) // 6)]:
            yield {name: value}
            yield {name: value.swapcase()}
            yield {name: value[:1] + "*"}
            yield {name: value[: len(value) // 2 + 1].upper() + "*"}
            yield {name: value[:-1]}
    for row in rows[:: max(1, len(rows) // 6)]:
        yield {"first_name": row["first_name"], "last_name": row["last_name"][:2] + "*"}
        yield {"email": row["email"], "source": row["source"]}


@pytest.mark.parametrize("account_id", WITH_DATA)
def test_every_page_of_every_search_is_the_same(move: Move, account_id: int) -> None:
    """Operation 8."""
    rows = move.tables(account_id)["subscribers"]
    living = [row["subscriber_id"] for row in rows if not row["delete_date"]]
    lengths = set()
    for filters in searches(rows):
        lengths.add(len(move.pages(account_id, "/2/subscribers/", **filters)))
    assert lengths >= {0, 1, len(living)}
    everybody = move.pages(account_id, "/2/subscribers/", limit=70)
    assert [row["subscriber_id"] for row in everybody] == living


@pytest.mark.parametrize("account_id", WITH_DATA)
def test_every_order_is_the_same(move: Move, account_id: int) -> None:
    """Operation 9."""
    tables = move.tables(account_id)
    items = 0
    for row in tables["orders"]:
        items += len(move.read(account_id, f"/2/orders/{row['order_id']}")["order_items"])
    assert items == len(tables["order_items"])


@pytest.mark.parametrize("account_id", WITH_DATA)
def test_every_mailing_list_is_the_same(move: Move, account_id: int) -> None:
    """Operation 10."""
    tables = move.tables(account_id)
    entries = 0
    for row in tables["list_downloads"]:
        path = f"/2/downloadmailinglist/{row['mailing_list_id']}/"
        entries += len(move.read(account_id, path))
        answer = move.ask(account_id, path, download="true")
        assert "attachment" in answer.headers["Content-Disposition"]
    assert entries == len(tables["mailing_list_entries"])


# What is refused

REFUSED: list[tuple[int, str, dict[str, Any]]] = [
    (404, "/2/orders/987654321", {}),
    (404, "/2/orders/9223372036854775808", {}),
    (404, "/2/customfields/987654321", {}),
    (404, "/2/downloadmailinglist/987654321/", {}),
    (404, "/2/nothing", {}),
    (404, "/3/accounts/", {}),
    (400, "/2/subscriptions/", {"limit": "0"}),
    (400, "/2/subscriptions/", {"copies": "many"}),
    (400, "/2/subscriptions/", {"copies": "9223372036854775808"}),
    (400, "/2/subscriptions/", {"type": "Paper"}),
    (400, "/2/subscribers/", {"emial": "a@example.org"}),
    (400, "/2/subscribers/", {"email": "a\x00b"}),
    (400, "/2/subscribers/", {"after": "-1"}),
    (400, "/2/subscribers/", {"body": b'{"email":"\\ud800"}', "headers": JSON_BODY}),
    (400, "/2/subscribers/", {"body": b"{", "headers": JSON_BODY}),
    (400, "/2/subscribers/authenticate/", {"login": "a\x00", "password": "b"}),
    (400, "/2/cdc", {"entities": "orders"}),
    (400, "/2/cdc", {"changed_since": "today", "entities": "orders"}),
    (400, "/2/cdc", {"changed_since": "2026-01-01T00:00:00Z", "entities": "readers"}),
    (400, "/snapshot", {}),
    (405, "/2/accounts/", {"method": "POST"}),
    (413, "/2/subscribers/", {"body": b"x" * 20_000, "headers": JSON_BODY}),
]


@pytest.mark.parametrize(("status", "path", "more"), REFUSED)
def test_what_is_refused_is_refused_in_the_same_words(
    move: Move, status: int, path: str, more: dict[str, Any]
) -> None:
    assert move.ask(1, path, **more).status_code == status


def test_wrong_credentials_have_the_same_answer(move: Move) -> None:
    for key, login in (("key-1", "login-2"), ("key-1", ""), ("", "login-1"), ("k\u00e9y", "😀")):
        answers = []
        for stop in move.stops:
            with closing(Caller(stop.callers[1].server, key, login)) as stranger:
                answers.append(stranger.ask("/2/accounts/"))
        assert answers[0].status_code == 403
        assert len({answer.content for answer in answers}) == 1
