"""What a server does with the credentials of partners: rights, rates, log, metrics and counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import httpx2
import pytest

from tests.cli.test_metrics import metrics_url
from tests.servers import Server, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store

Pair = tuple[str, str]
OWN = ("own-key", "own-login")


class Served(NamedTuple):
    """A server whose account has three partners."""

    server: Server
    database: str
    all: Pair
    orders: Pair
    slow: Pair

    def ask(self, path: str, pair: Pair) -> httpx2.Response:
        return httpx2.get(f"{self.server.url}{path}", auth=pair)


def pair_in(printed: str) -> Pair:
    found = dict(re.findall(r"^(api_\w+): (\w+)$", printed, re.MULTILINE))
    return found["api_key"], found["api_login"]


@pytest.fixture
def served(store: Store) -> Iterator[Served]:
    url = store.new_database("partners")
    key, login = OWN
    masthead("accounts", "add", 1, f"--api-key={key}", f"--api-login={login}", database=url)
    pairs = [
        pair_in(masthead("partners", "add", *words, "--account=1", database=url).stdout)
        for words in (
            ("All",),
            ("Orders", "--operations=get_order,list_accounts"),
            ("Slow", "--rate=1"),
        )
    ]
    try:
        with serving(url, "--metrics-port=0", "--rate-limit=1000") as server:
            yield Served(server, url, *pairs)
    finally:
        store.drop_database(url)


def until_429(served: Served) -> list[httpx2.Response]:
    """Return what a partner with a limit gets, up to the first refusal by it."""
    found = [served.ask("/2/orders/7", served.slow)]
    while found[-1].status_code != 429:
        found.append(served.ask("/2/orders/7", served.slow))
    return found


def test_partners_are_told_apart(served: Served) -> None:
    """decisions, "Partners of an account"."""
    # What they may.
    assert served.ask("/2/orders/7", served.orders).status_code == 404
    (account,) = served.ask("/2/accounts/", served.orders).json()["accounts"]
    assert (account["api_key"], account["api_login"]) == served.orders
    refused = served.ask("/2/subscribers/?email=a", served.orders)
    assert (refused.status_code, refused.json()) == (
        403,
        {"error": "these credentials may not ask for this operation: the publisher can allow it"},
    )
    assert served.ask("/2/subscribers/?email=a", served.all).status_code == 200
    masthead(
        "partners", "set", "Orders", "--operations=all", "--account=1", database=served.database
    )
    assert served.ask("/2/subscribers/?email=a", served.orders).status_code == 200

    # How often, beside the limit of the account.
    first, *others, last = until_429(served)
    assert {each.status_code for each in (first, *others)} == {404}
    assert last.json() == {
        "error": "more than these credentials may ask, which is 1 a second: wait a second"
    }
    assert last.headers["Retry-After"] == "1"
    assert first.headers["RateLimit-Policy"] == '"partner";q=1;w=1, "account";q=1000;w=1'
    own = served.ask("/2/orders/7", OWN)
    assert own.headers["RateLimit-Policy"] == '"account";q=1000;w=1'

    slow = len(others) + 2
    for _ in range(slow):
        served.ask("/2/orders/7", served.orders)

    # Their names in the metrics.
    metrics = httpx2.get(metrics_url(served.server)).text
    for partner, result, count in (
        ("Orders", "refused", slow + 2),
        ("Orders", "answered", 2),
        ("All", "answered", 1),
        ("Slow", "refused", slow),
    ):
        labels = f'account="1",partner="{partner}",result="{result}"'
        assert f"masthead_partner_requests_total{{{labels}}} {count}.0" in metrics

    # In the log, with the program.
    served.server.stop()
    lines = [x for x in served.server.output().splitlines() if "event='request'" in x]
    named = [re.search(r"status=(\d+) reason=(\S+.*?) dur.* partner=(\S+)", x) for x in lines]
    shown = [(*found.groups(),) for found in named if found]
    assert ("403", "'no right'", "'Orders'") in shown
    assert ("429", "'rate limit'", "'Slow'") in shown
    assert ("404", "'no such id'", "None") in shown
    assert all(re.search(r" user_agent='python-httpx2?/[0-9.]+' ", x) for x in lines)

    # And in the counts.
    said = masthead("partners", "requests", "--day=today", "--account=1", database=served.database)
    assert re.fullmatch(
        rf"partner 'Orders' failed most on [-0-9]{{10}} \(UTC\): {slow + 2} of {slow + 4}, .* %\n"
        "partner\toperation\trequests\terrors\tof the server\tshare\n"
        rf"Orders\tget_order\t{slow + 1}\t{slow + 1}\t0\t100.0 %\n"
        "Orders\tsearch_subscribers\t2\t1\t0\t50.0 %\n"
        "Orders\tlist_accounts\t1\t0\t0\t0.0 %\n"
        r"\(the account's own\)\tget_order\t1\t1\t0\t100.0 %"
        "\n"
        "All\tsearch_subscribers\t1\t0\t0\t0.0 %\n",
        said.stdout.replace(f"Slow\tget_order\t{slow}\t{slow}\t0\t100.0 %\n", ""),
    )
    for secret in (*OWN, *served.all, *served.orders, *served.slow):
        assert secret not in served.server.output() + metrics
