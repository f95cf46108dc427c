"""PostgreSQL 15, the oldest that is supported, and 16 answer as 18 does, byte for byte."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx2
import pytest

from masthead.contract.operations import OPERATIONS
from masthead.sample_data.generate import generate
from tests.api.callers import next_page
from tests.loading.made_up import read_tables
from tests.long import ONLY_LONG
from tests.postgres import Cluster, is_installed
from tests.postgresql.service import ALL, feed_since, moment, new_database, session
from tests.servers import import_files, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DATA = Path(__file__).parents[1] / "api" / "data"
GOLDEN, MADE_UP = "golden", "one"
ACCOUNTS = {GOLDEN: "1", MADE_UP: "4"}
"""Those of accounts.csv that are filled: one with awkward records, one with made-up ones."""

SUBSCRIBERS = 300
OF_SUBSCRIBERS = ("email", "first_name", "last_name", "renewal_code", "source")


class Life(NamedTuple):
    """What a database gave from its beginning on: answers, exported files, printed lines."""

    answers: dict[str, list[tuple[int, str | None, bytes]]]
    exported: dict[str, bytes]
    status: str


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """Files of a made-up publisher."""
    folder = tmp_path / "made-up"
    generate(folder, subscribers=SUBSCRIBERS, seed=1)
    return folder


@pytest.fixture
def targets(made_up: Path) -> dict[str, list[str]]:
    """What is asked for, by the name of the operation."""
    tables = read_tables(made_up)
    subscribers = tables["subscribers"][:20]
    logins = [
        f"login={row['email']}&password=password-{row['subscriber_id']}"
        for row in subscribers
        if row["email"]
    ]
    searches = [
        f"{name}={row[name]}" for row in subscribers[:5] for name in OF_SUBSCRIBERS if row[name]
    ]
    searches += [f"{name}={start}*" for name in OF_SUBSCRIBERS for start in ("a", "B", "ä")]
    day_ago = moment(days=-1)
    return {
        "list_accounts": ["/2/accounts/"],
        "get_account": [f"/2/accounts/{number}/" for number in ACCOUNTS.values()],
        "authenticate_subscriber": [f"/2/subscribers/authenticate/?{login}" for login in logins],
        "changes": [feed_since(day_ago, entity) for entity in (ALL, *ALL.split(","))],
        "get_custom_field_answers": [
            f"/2/customfields/{row['subscriber_id']}" for row in subscribers
        ],
        "list_custom_fields": ["/2/customfields/"],
        "list_subscriptions": [
            "/2/subscriptions/",
            "/2/subscriptions/?type=Print&min_issues_left=2&limit=7",
            "/2/subscriptions/?campaign_active=true&max_copies=1",
        ],
        "search_subscribers": [f"/2/subscribers/?{search}" for search in searches],
        "get_order": [f"/2/orders/{row['order_id']}" for row in tables["orders"][:20]],
        "download_mailing_list": [
            f"/2/downloadmailinglist/{row['mailing_list_id']}/" for row in tables["list_downloads"]
        ],
        "snapshot": [f"/snapshot?entities={ALL}"],
    }


def live(
    cluster: Cluster,
    targets: Mapping[str, list[str]],
    made_up: Path,
    folder: Path,
    stamped_at: int,
) -> Life:
    """Make a database, load into it, serve it and export it; its changes are stamped alike."""
    database = new_database(cluster, "life")
    with session(database) as connection:
        assert connection.info.server_version // 10_000 == cluster.version
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    import_files(DATA / "golden", account_id=ACCOUNTS[GOLDEN], database=database)
    import_files(made_up, account_id=ACCOUNTS[MADE_UP], database=database)
    with session(database) as connection:
        connection.execute("UPDATE commits SET visible_at = %s + commit_id", [stamped_at])
    with serving(database) as server:
        answers = {
            f"{name} of {account}": ask(server.url, account, asked)
            for account in ACCOUNTS
            for name, asked in targets.items()
        }
        assert "Traceback" not in server.output()
    masthead("export", folder, "--account", ACCOUNTS[MADE_UP], database=database)
    exported = {path.name: path.read_bytes() for path in folder.iterdir()}
    return Life(answers, exported, masthead("database", "status", database=database).stdout)


def ask(url: str, account: str, targets: Sequence[str]) -> list[tuple[int, str | None, bytes]]:
    """Return status, time and body of all pages of the responses."""
    answers = []
    waiting = list(targets)
    keys = (f"key-{account}", f"login-{account}")
    with httpx2.Client(base_url=url, auth=keys) as client:
        while waiting:
            response = client.get(waiting.pop(0))
            through = response.headers.get("Masthead-Changes-Through")
            answers.append((response.status_code, through, response.content))
            if "Link" in response.headers:
                waiting.append(next_page(response))
    return answers


@ONLY_LONG
@pytest.mark.parametrize("older", [15, 16])
def test_a_small_life_gives_the_same_bytes(
    targets: Mapping[str, list[str]], made_up: Path, tmp_path: Path, older: int
) -> None:
    """One test, since the two lives take most of its time."""
    if not is_installed(older):
        pytest.skip(f"needs postgresql-{older}, which `make test-system` installs on Debian 12")
    stamped_at = time.time_ns() // 1_000 - 600_000_000
    lives = {}
    for version in (older, 18):
        with closing(Cluster(version=version)) as cluster:
            folder = tmp_path / str(version)
            lives[version] = live(cluster, targets, made_up, folder, stamped_at)
    for name, of_18 in lives[18].answers.items():
        assert lives[older].answers[name] == of_18, name
        assert {status for status, _, _ in of_18} <= {200, 404}
    for name in targets:
        of_18 = lives[18].answers[f"{name} of {MADE_UP}"]
        assert max(len(body) for status, _, body in of_18 if status == 200) > 100
    assert set(OPERATIONS) <= set(targets)

    assert lives[older].exported == lives[18].exported
    assert lives[18].exported["subscribers.csv"].count(b"\n") > SUBSCRIBERS
    assert lives[older].status == lives[18].status
    assert lives[18].status.endswith("\nup to date\n")
