"""The servers that the wire form is judged on: started once each, filled by the real import."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.callers import Caller, Feed
from tests.api.other_servers import SERVERS, Served, served
from tests.servers import (
    CommandFailedError,
    Server,
    Store,
    import_files,
    masthead,
    serving,
    write_ndjson,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Tests of what fits a login fail as often as they like.
NO_LIMITS = ("--login-failures", "0", "--account-failures", "0")

NO_LIMITS_IN_THE_ENVIRONMENT = {
    "MASTHEAD_LOGIN_FAILURES": "0",
    "MASTHEAD_ACCOUNT_FAILURES": "0",
}
MASTHEAD = "masthead"
EVERY_SERVER = pytest.mark.parametrize("served_by", [MASTHEAD, *SERVERS], indirect=True)
"""Marks tests that say the same of the app on any ASGI server."""

DATA = Path(__file__).parent / "data"


@dataclass
class House:
    """One database with a server before it, and a caller for each account that was loaded."""

    database: str
    server: Server
    callers: dict[tuple[str, str], Caller] = field(default_factory=dict)
    others: dict[str, Served] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)
    failures: dict[str, CommandFailedError] = field(default_factory=dict)

    def caller(self, name: str, served_by: str = MASTHEAD) -> Caller:
        """Return the caller whose credentials are ``key-NAME`` and ``login-NAME``."""
        self.must_have_loaded(name)
        if (name, served_by) not in self.callers:
            server = self.server if served_by == MASTHEAD else self.other(served_by)
            self.callers[name, served_by] = Caller(server, f"key-{name}", f"login-{name}")
        return self.callers[name, served_by]

    def other(self, name: str) -> Served:
        """Return another server of the same database, started once."""
        if name not in self.others:
            serving_it = served(self.database, name, NO_LIMITS_IN_THE_ENVIRONMENT)
            self.others[name] = self.stack.enter_context(serving_it)
        return self.others[name]

    def must_have_loaded(self, name: str) -> None:
        """Raise the failure of the load of that name, if it failed."""
        if name in self.failures:
            raise self.failures[name]

    def load(self, name: str, account_id: str | None, *paths: Path) -> None:
        """Load the paths into an account; a refusal fails only the tests that call as it."""
        try:
            import_files(*paths, account_id=account_id, database=self.database)
        except CommandFailedError as failure:
            self.failures[name] = failure

    def close(self) -> None:
        """Close every caller's connections."""
        for caller in self.callers.values():
            caller.close()
        self.stack.close()


@pytest.fixture
def served_by(request: pytest.FixtureRequest) -> str:
    """The server of a test: that of ``masthead serve``, unless a test is parametrised."""
    name: str = getattr(request, "param", MASTHEAD)
    return name


@pytest.fixture(scope="session")
def today() -> str:
    """The day in UTC on which the data of the logins that depend on it was made."""
    return datetime.now(UTC).date().isoformat()


@pytest.fixture(scope="session")
def house(store: Store, today: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A database of some ten accounts, each with data of its own, that no test changes."""
    database = store.new_database("house")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    with serving(database, *NO_LIMITS) as server:
        house = House(database, server)
        for account_id, name in (
            ("1", "golden"),
            ("2", "neighbour"),
            ("4", "one"),
            ("5", "sparse"),
            ("6", "lists"),
            ("7", "people"),
            ("8", "logins"),
            ("9", "hidden"),
        ):
            house.load(name, account_id, DATA / name)
        house.load("logins", "8", *expiring(tmp_path_factory.mktemp("expiring"), today))
        house.load("sparse account", None, DATA / "accounts_sparse" / "accounts.csv")
        masthead("accounts", "set", "9", "--hide-password-md5", database=database)
        yield house
        house.close()


def expiring(folder: Path, today: str) -> list[Path]:
    """Write subscriptions of which one expired yesterday and one expires today."""
    yesterday = (datetime.fromisoformat(today) - timedelta(days=1)).date().isoformat()
    common = {"publication_id": 1, "issues": 1, "copies": 1, "type": "Print"}
    return write_ndjson(
        folder,
        {
            "subscriptions": [
                {"subscription_id": 311, "subscriber_id": 31, "date_expired": yesterday, **common},
                {"subscription_id": 321, "subscriber_id": 32, "date_expired": today, **common},
            ]
        },
    )


@pytest.fixture
def golden(house: House, served_by: str) -> Caller:
    """The account whose records are full or awkward."""
    return house.caller("golden", served_by)


@pytest.fixture
def sparse(house: House, served_by: str) -> Caller:
    """The account whose records hold their ids and nothing else."""
    return house.caller("sparse", served_by)


@pytest.fixture
def empty(house: House, served_by: str) -> Caller:
    """The account that has no record at all."""
    return house.caller("empty", served_by)


@pytest.fixture
def one(house: House, served_by: str) -> Caller:
    """The account that has one record of each kind."""
    return house.caller("one", served_by)


@pytest.fixture
def neighbour(house: House, served_by: str) -> Caller:
    """Another tenant, whose records have the ids of the golden account's."""
    return house.caller("neighbour", served_by)


@pytest.fixture(scope="session")
def lists(house: House) -> Caller:
    """The account with more than two hundred subscriptions."""
    return house.caller("lists")


@pytest.fixture(scope="session")
def people(house: House) -> Caller:
    """The account whose subscribers try the search."""
    return house.caller("people")


@pytest.fixture
def logins(house: House, served_by: str) -> Caller:
    """The account whose subscribers try the login check."""
    return house.caller("logins", served_by)


@pytest.fixture
def hidden(house: House, served_by: str) -> Caller:
    """The account that hides its subscribers' password_md5."""
    return house.caller("hidden", served_by)


@pytest.fixture(scope="session")
def gate(store: Store) -> Iterator[House]:
    """A database that holds accounts and nothing else: open, closed, asleep, and a master."""
    database = store.new_database("gate")
    import_files(DATA / "accounts" / "accounts.csv", account_id=None, database=database)
    with serving(database) as server:
        gate = House(database, server)
        yield gate
        gate.close()


@dataclass
class Publisher:
    """An account of its own, which a test may change, and its feed."""

    account_id: str
    database: str
    folder: Path
    feed: Feed
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def caller(self) -> Caller:
        """The account's caller."""
        return self.feed.caller

    def load(self, **files: Sequence[Mapping[str, Any]]) -> None:
        """Load records, named by their kind."""
        folder = self.folder / f"load-{next(self._numbers)}"
        import_files(
            *write_ndjson(folder, files), account_id=self.account_id, database=self.database
        )

    def changes(self, **files: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """Load records and return what the feed then says, keys without a change left out."""
        self.load(**files)
        return {key: rows for key, rows in self.feed.poll().items() if rows}


class Publishers:
    """Accounts for tests that change data, made ahead and handed out one at a time."""

    def __init__(self, database: str, server: Server, folder: Path) -> None:
        """Make the accounts."""
        self._database = database
        self._server = server
        self._folder = folder
        self._numbers = iter(range(1, 41))
        self._callers: list[Caller] = []
        accounts = [
            {
                "account_id": number,
                "company_name": f"Publisher {number}",
                "active": True,
                "api_active": "1",
                "api_key": f"key-{number}",
                "api_login": f"login-{number}",
                "plan": "Standard",
                "created": "2026-01-01 00:00:00",
            }
            for number in range(1, 41)
        ]
        paths = write_ndjson(folder, {"accounts": accounts})
        import_files(*paths, account_id=None, database=database)

    def new(self) -> Publisher:
        """Return an account with the data of ``data/feed``, its feed read up to now."""
        number = next(self._numbers)
        import_files(DATA / "feed", account_id=str(number), database=self._database)
        caller = Caller(self._server, f"key-{number}", f"login-{number}")
        self._callers.append(caller)
        long_enough_ago = datetime.now(UTC) - timedelta(days=1)
        feed = Feed(caller, long_enough_ago.isoformat(timespec="seconds"))
        feed.poll()
        return Publisher(str(number), self._database, self._folder / str(number), feed)

    def close(self) -> None:
        """Close every caller's connections."""
        for caller in self._callers:
            caller.close()


@pytest.fixture(scope="session")
def publishers(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publishers]:
    """A database whose accounts tests may change, while its server runs."""
    database = store.new_database("changing")
    with serving(database) as server:
        publishers = Publishers(database, server, tmp_path_factory.mktemp("publishers"))
        yield publishers
        publishers.close()


@pytest.fixture
def publisher(publishers: Publishers) -> Publisher:
    """An account of the test's own."""
    return publishers.new()


@pytest.fixture(scope="session")
def shared_publisher(publishers: Publishers) -> Publisher:
    """An account for tests that each change records which no other test changes."""
    return publishers.new()


@pytest.fixture
def feed_of_shared(shared_publisher: Publisher) -> Publisher:
    """The shared account, its feed read up to now."""
    shared_publisher.feed.poll()
    return shared_publisher
