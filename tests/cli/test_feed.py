"""``masthead feed new-epoch``, and ``masthead serve --feed-overlap``."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.cli.running import holds_nothing, lines_until, running
from tests.servers import import_files, masthead, run, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

HEADER = "Masthead-Changes-Through"
MICROSECOND = timedelta(microseconds=1)
DAY_S = 86_400

_numbers = itertools.count()


def new_database(store: Store, folder: Path, *account_ids: int) -> str:
    """Return a database whose accounts have a subscriber each."""
    database = store.new_database(f"feed-{next(_numbers)}")
    accounts = [
        {"account_id": number, "api_key": f"key-{number}", "api_login": "login", "api_active": "1"}
        for number in account_ids
    ]
    import_files(
        *write_ndjson(folder / "accounts", {"accounts": accounts}),
        account_id=None,
        database=database,
    )
    for number in account_ids:
        add_subscriber(database, folder, 1, account_id=number)
    return database


def add_subscriber(database: str, folder: Path, number: int, *, account_id: int = 1) -> None:
    files = write_ndjson(folder / "load", {"subscribers": [{"subscriber_id": number}]})
    import_files(*files, account_id=str(account_id), database=database)


def ask(
    url: str, path: str = "/2/cdc", *, since: datetime | None = None, account_id: int = 1
) -> httpx2.Response:
    """Ask for an account's subscribers."""
    parameters = {"entities": "subscribers"}
    if since is not None:
        parameters["changed_since"] = since.isoformat(timespec="microseconds")
    return httpx2.get(
        url + path,
        params=parameters,
        auth=(f"key-{account_id}", "login"),
        verify=False,  # plain HTTP: reading all certificates would take longer than the answer
    )


def subscribers(answer: httpx2.Response) -> list[str]:
    """Return the ids of the subscribers in an answer that must be 200."""
    assert answer.status_code == 200, answer.text
    return [row["subscriber_id"] for row in answer.json()["subscribers"]]


def refusal(answer: httpx2.Response, status: int) -> str:
    """Return the sentence of an error answer."""
    assert answer.status_code == status, answer.text
    assert HEADER not in answer.headers
    ((key, sentence),) = answer.json().items()
    assert key == "error"
    assert isinstance(sentence, str)
    return sentence


def through(answer: httpx2.Response) -> datetime:
    """Return the time that an answer tells to go on from."""
    assert answer.status_code == 200, answer.text
    return datetime.fromisoformat(answer.headers[HEADER])


def begin_epoch(database: str) -> str:
    """Start a new epoch; return what the command said."""
    done = masthead("feed", "new-epoch", database=database)
    assert done.stderr == ""
    return done.stdout


# A new epoch


@pytest.fixture(scope="module")
def restored(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A database with the accounts 1 and 2, in which tests begin epochs, and its server's URL."""
    database = new_database(store, tmp_path_factory.mktemp("restored"), 1, 2)
    with serving(database) as server:
        yield database, server.url


def test_a_new_epoch_turns_every_client_away_at_once_and_leads_it_on(
    restored: tuple[str, str],
) -> None:
    """rules, "Change feed": in all accounts of a running server."""
    database, url = restored
    held = {number: ask(url, "/snapshot", account_id=number) for number in (1, 2)}
    for number, answer in held.items():
        assert subscribers(ask(url, since=through(answer), account_id=number)) == []

    assert begin_epoch(database) == "a new epoch began in 2 accounts\n"

    for number, answer in held.items():
        sentence = refusal(ask(url, since=through(answer), account_id=number), 410)
        anew = ask(url, "/snapshot", account_id=number)
        assert subscribers(anew) == subscribers(answer)
        began = through(anew) - MICROSECOND
        assert began.isoformat(timespec="microseconds") in sentence
        assert "/snapshot?entities=" in sentence
        assert HEADER in sentence
        again = ask(url, since=through(anew), account_id=number)
        assert subscribers(again) == []
        assert through(again) == through(anew)


def test_what_changes_in_the_new_epoch_is_in_the_feed(
    restored: tuple[str, str], tmp_path: Path
) -> None:
    """rules, "Change feed": for the client that floors its time as well."""
    database, url = restored
    begin_epoch(database)
    began_through = through(ask(url, "/snapshot"))
    add_subscriber(database, tmp_path, 2)
    for since in (began_through, began_through.replace(microsecond=0)):
        answer = ask(url, since=since)
        assert subscribers(answer) == ["2"]
        assert through(answer) > began_through
        assert subscribers(ask(url, since=through(answer))) == []


def test_a_second_epoch_turns_away_the_clients_of_the_first(restored: tuple[str, str]) -> None:
    """rules, "Change feed": even where both begin within one second."""
    database, url = restored
    begin_epoch(database)
    first = through(ask(url, "/snapshot"))
    begin_epoch(database)
    assert refusal(ask(url, since=first), 410)
    second = through(ask(url, "/snapshot"))
    assert second > first
    for since in (second, second.replace(microsecond=0)):
        assert subscribers(ask(url, since=since)) == []


def test_an_epoch_starts_at_a_whole_second_and_includes_it(store: Store, tmp_path: Path) -> None:
    """rules, "Change feed": so that a client that floors its time to the second gets on."""
    database = new_database(store, tmp_path, 1)
    assert begin_epoch(database) == "a new epoch began in 1 account\n"
    with serving(database) as server:
        header = through(ask(server.url, "/snapshot"))
        began = header - MICROSECOND
        assert began.microsecond == 0
        assert began < datetime.now(UTC) + timedelta(seconds=1)
        assert subscribers(ask(server.url, since=header.replace(microsecond=0))) == []
        refusal(ask(server.url, since=began - MICROSECOND), 410)
        refusal(ask(server.url, since=began - timedelta(seconds=1)), 410)
        # Of a time that is older than the window, the answer tells that instead.
        sentence = refusal(ask(server.url, since=began - timedelta(days=6)), 410)
        assert "5 days" in sentence
        assert "/snapshot?entities=" in sentence


def test_a_database_without_accounts_begins_no_epoch(database: str) -> None:
    """rules, "Change feed": and an account that comes later is in no epoch."""
    masthead("database", "migrate", database=database)
    assert begin_epoch(database) == "a new epoch began in 0 accounts\n"
    masthead("accounts", "add", 1, "--api-key=key-1", "--api-login=login", database=database)
    with serving(database) as server:
        yesterday = datetime.now(UTC) - timedelta(days=1)
        assert subscribers(ask(server.url, since=yesterday)) == []


def test_its_help_says_when_to_call_it_and_what_it_does(database: str) -> None:
    group = masthead("feed", "--help", database=database).stdout
    assert "new-epoch" in group
    text = masthead("feed", "new-epoch", "--help", database=database).stdout
    for word in ("backup", "410", "running server", "--database", "MASTHEAD_DATABASE"):
        assert word in text


# An overlap


@pytest.fixture(scope="module")
def loaded(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database that no test changes."""
    return new_database(store, tmp_path_factory.mktemp("overlap"), 1)


def stamp(url: str) -> datetime:
    """Return when the newest change became visible."""
    return through(ask(url, "/snapshot")) - MICROSECOND


def assert_sent(url: str, *, until: timedelta) -> None:
    """Assert that a change is sent to requests with a time up to this much after it."""
    last = stamp(url) + until
    assert subscribers(ask(url, since=last)) == ["1"]
    assert subscribers(ask(url, since=last + MICROSECOND)) == []


def test_without_an_overlap_the_feed_begins_where_it_is_asked_to(loaded: str) -> None:
    """rules, "Change feed"."""
    with serving(loaded) as server:
        assert_sent(server.url, until=timedelta(0))


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one process", "two workers"])
def test_with_an_overlap_it_begins_earlier(loaded: str, options: tuple[str, ...]) -> None:
    """rules, "Change feed"; the header stays the newest stamp."""
    with serving(loaded, "--feed-overlap", "60", *options) as server:
        assert_sent(server.url, until=timedelta(seconds=60))
        answer = ask(server.url, since=stamp(server.url))
        assert through(answer) == stamp(server.url) + MICROSECOND


def test_an_overlap_can_be_set_in_the_environment(loaded: str) -> None:
    """decisions, "Settings"; rules, "Change feed"."""
    settings = {"MASTHEAD_FEED_OVERLAP": "30", "MASTHEAD_PORT": "0"}
    with running("serve", database=loaded, settings=settings) as process:
        line = lines_until(process, "Masthead serves on")[-1]
        url = line.removeprefix("Masthead serves on ")
        assert_sent(url, until=timedelta(seconds=30))


def test_an_overlap_moves_neither_the_window_nor_the_epoch(store: Store, tmp_path: Path) -> None:
    """rules, "Change feed": but it reaches behind the epoch, as behind any other time."""
    database = new_database(store, tmp_path, 1)
    with serving(database, "--feed-overlap", str(DAY_S)) as server:
        now = datetime.now(UTC)
        assert subscribers(ask(server.url, since=now - timedelta(days=5, minutes=59))) == ["1"]
        refusal(ask(server.url, since=now - timedelta(days=5, minutes=61)), 410)
        refusal(ask(server.url, since=now + timedelta(minutes=6)), 400)

        begin_epoch(database)
        began = stamp(server.url)
        refusal(ask(server.url, since=began - MICROSECOND), 410)
        assert subscribers(ask(server.url, since=began)) == ["1"]


@pytest.mark.parametrize("value", ["-1", "86401", "90000", "abc"])
def test_an_overlap_of_less_than_none_or_more_than_a_day_is_refused(
    store: Store, tmp_path: Path, value: str
) -> None:
    """rules, "Exit statuses": 2, and a sentence that names the option and the value."""
    database = store.empty_database("refused")
    done = run("serve", f"--feed-overlap={value}", database=database, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--feed-overlap" in done.stderr
    assert value in done.stderr
    assert "Traceback" not in done.stderr
    assert holds_nothing(database)
