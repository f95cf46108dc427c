"""Two publishers with the same ids: neither learns so much as a byte of the other's.

A server that holds both is compared with one that has never heard of the neighbour: for each key,
operation and filter, with the values of either's data, the answers are the same, byte by byte.
"""

from __future__ import annotations

import csv
import json
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import pytest

from masthead.contract.operations import OPERATIONS
from tests.api.callers import ENTITIES, Caller
from tests.api.conftest import DATA, NO_LIMITS
from tests.servers import import_files, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.contract.operations import Operation
    from tests.servers import Store

PUBLISHERS = {"golden": "1", "neighbour": "2"}
BEFORE = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")
OF_NOBODY = "424242"
FEEDS = "/2/cdc", "/snapshot", "/digest", "/deletions"
# What tells when something was loaded, and nothing else.
MODIFIED = re.compile(rb'"modified_date":"[^"]*"')
TIMES = {"date", "masthead-changes-through"}
FILES = {"list_subscriptions": "subscriptions", "search_subscribers": "subscribers"}


class Answer(NamedTuple):
    """What a caller can see of an answer, but for the times."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Servers(NamedTuple):
    """One server that has both publishers, and one that has the golden one alone."""

    shared: dict[str, Caller]
    alone: dict[str, Caller]


@pytest.fixture(scope="module")
def servers(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """The golden account's data, beside the neighbour's and alone."""
    shared, alone = store.new_database("shared"), store.new_database("alone")
    rows = (DATA / "accounts.csv").read_text().splitlines(keepends=True)
    one_account = tmp_path_factory.mktemp("one") / "accounts.csv"
    one_account.write_text("".join(rows[:2]))
    import_files(DATA / "accounts.csv", account_id=None, database=shared)
    import_files(one_account, account_id=None, database=alone)
    import_files(DATA / "golden", account_id="1", database=alone)
    # The neighbour's before and after, so that neither the first nor the last rows are one's own.
    import_files(DATA / "neighbour", account_id="2", database=shared)
    import_files(DATA / "golden", account_id="1", database=shared)
    import_files(DATA / "neighbour", account_id="2", database=shared)
    with serving(shared, *NO_LIMITS) as one, serving(alone, *NO_LIMITS) as other:
        found = Servers(
            *(
                {name: Caller(server, f"key-{name}", f"login-{name}") for name in PUBLISHERS}
                for server in (one, other)
            )
        )
        yield found
        for callers in found:
            for caller in callers.values():
                caller.close()


def column(publisher: str, file: str, name: str) -> set[str]:
    """Return the values that a publisher's import file has in a column."""
    (path,) = (DATA / publisher).glob(f"{file}.*")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines) if path.suffix == ".csv" else map(json.loads, lines)
        found = {row.get(name) for row in rows}
    return {str(value) for value in found if value is not None}


def values(operation: str, parameter: str) -> list[str]:
    """Return what to ask for: either publisher's values, their beginnings, and nobody's."""
    if parameter in {"limit", "after"}:
        return ["1", "76"]
    if parameter in {"campaign_active", "download"}:
        return ["true", "false"]
    if "issues_left" in parameter:
        return ["-1", "0", "1", "5"]
    name = parameter.removeprefix("min_").removeprefix("max_")
    found = set().union(*(column(each, FILES[operation], name) for each in PUBLISHERS))
    if operation == "search_subscribers":
        found |= {f"{value[:2]}*" for value in found}
    found.discard("")
    assert column("golden", FILES[operation], name) & found
    assert column("neighbour", FILES[operation], name) & found
    return sorted({*found, OF_NOBODY if parameter != "type" else "Both"})


def ids(publisher: str) -> dict[str, set[str]]:
    """Return the ids in paths that a publisher's data have."""
    return {
        "account_id": {PUBLISHERS[publisher]},
        "subscriber_id": column(publisher, "subscribers", "subscriber_id"),
        "order_id": column(publisher, "orders", "order_id"),
        "mailing_list_id": column(publisher, "list_downloads", "mailing_list_id"),
    }


def logins() -> Iterator[tuple[str, str]]:
    """Yield either publisher's logins with the passwords of either."""
    every = set().union(*(column(each, "subscribers", "email") for each in PUBLISHERS))
    every |= set().union(*(column(each, "subscribers", "renewal_code") for each in PUBLISHERS))
    secrets = set().union(*(column(each, "subscribers", "password") for each in PUBLISHERS))
    secrets |= set().union(*(column(each, "addresses", "zip_code") for each in PUBLISHERS))
    for login in sorted(every):
        for password in sorted(secrets):
            yield login, password


def queries(operation: Operation) -> Iterator[dict[str, str]]:
    """Yield each filter of an operation with each of its values, and no filter at all."""
    if operation.name == "authenticate_subscriber":
        for login, password in logins():
            yield {"login": login, "password": password}
    elif operation.name == "changes":
        for entity in ENTITIES:
            yield {"changed_since": BEFORE, "entities": entity}
    else:
        yield {}
        for parameter in operation.parameters:
            for value in values(operation.name, parameter.name):
                yield {parameter.name: value}


def paths(operation: Operation) -> list[str]:
    """Return the path of an operation, with each id that either publisher has and nobody's."""
    placeholder = re.search(r"\{(\w+)\}", operation.path)
    if not placeholder:
        return [operation.path]
    known = ids("golden")[placeholder[1]] | ids("neighbour")[placeholder[1]]
    return [
        operation.path.replace(placeholder[0], number) for number in sorted({*known, OF_NOBODY})
    ]


MATRIX = [
    (path, query)
    for operation in OPERATIONS.values()
    for path in paths(operation)
    for query in queries(operation)
]
MATRIX += [(path, {"entities": ",".join(ENTITIES)}) for path in FEEDS[1:3]]
MATRIX += [("/deletions", {"entities": ",".join(ENTITIES), "changed_since": BEFORE})]


def seen(caller: Caller, path: str, query: dict[str, str]) -> Answer:
    answer = caller.ask(path, *query.items())
    headers = [(name, value) for name, value in answer.headers.multi_items() if name not in TIMES]
    return Answer(answer.status_code, headers, MODIFIED.sub(b"", answer.content))


def test_a_neighbour_changes_no_byte_of_any_answer(servers: Servers) -> None:
    """decisions, "Callers and tenants": nor does one's id differ from an id that nobody has."""
    for path, query in MATRIX:
        shared = seen(servers.shared["golden"], path, query)
        alone = seen(servers.alone["golden"], path, query)
        if path.startswith(FEEDS):
            # How long a body is depends on how its times are compressed.
            shared, alone = (
                found._replace(headers=[h for h in found.headers if h[0] != "content-length"])
                for found in (shared, alone)
            )
        assert shared == alone, (path, query)


def test_an_id_of_another_account_is_like_an_unknown_id(servers: Servers) -> None:
    """decisions, "Callers and tenants"."""
    golden = servers.shared["golden"]
    foreign = 0
    for operation in OPERATIONS.values():
        if placeholder := re.search(r"\{(\w+)\}", operation.path):
            for number in ids("neighbour")[placeholder[1]] - ids("golden")[placeholder[1]]:
                # As long as the other one, so that the lengths are the same as well.
                nobodys = {1: "0", 2: "95"}[len(number)]
                found, missing = (
                    seen(golden, operation.path.replace(placeholder[0], each), {})
                    for each in (number, nobodys)
                )
                assert found.status == 404
                assert missing == found._replace(
                    body=found.body.replace(number.encode(), nobodys.encode())
                )
                foreign += 1
    assert foreign == 4  # account, subscriber, order and mailing list


def test_the_neighbour_has_what_is_not_shown_to_others(servers: Servers) -> None:
    """Else the comparison would say nothing."""
    different = {
        path
        for path, query in MATRIX
        if seen(servers.shared["neighbour"], path, query)
        != seen(servers.shared["golden"], path, query)
    }
    for operation in OPERATIONS.values():
        beginning = operation.path.partition("{")[0]
        assert any(path.startswith(beginning) for path in different), operation.name


@pytest.mark.parametrize(
    ("key", "login"),
    [
        ("key-golden", "login-neighbour"),
        ("login-neighbour", "key-golden"),
        ("key-neighbour", "login-golden"),
        ("key-golden", "key-neighbour"),
        ("key-golden", "key-golden"),
        ("key-neighbour", "key-neighbour"),
    ],
)
def test_credentials_of_two_accounts_open_neither(servers: Servers, key: str, login: str) -> None:
    """rules, "Wrong credentials": the response is that to unknown credentials."""
    server = servers.shared["golden"].server
    with (
        closing(Caller(server, key, login)) as mixed,
        closing(Caller(server, "key-nobody", "login-nobody")) as nobody,
    ):
        for path in ("/2/accounts/", "/2/accounts/1/", "/2/orders/71", "/2/cdc", "/snapshot"):
            refused = seen(mixed, path, {})
            assert refused.status == 403
            assert refused == seen(nobody, path, {})


def test_a_master_sees_accounts_and_no_data(store: Store) -> None:
    """rules, "/2/accounts/": every account sees its own data only."""
    database = store.new_database("master")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    import_files(DATA / "neighbour", account_id="2", database=database)
    with (
        serving(database, *NO_LIMITS) as server,
        closing(Caller(server, "key-overseer", "login-overseer")) as master,
        closing(Caller(server, "key-empty", "login-empty")) as empty,
    ):
        assert len(master.read("/2/accounts/")["accounts"]) > 1
        for path, query in MATRIX:
            if not path.startswith("/2/accounts/"):
                assert seen(master, path, query).body == seen(empty, path, query).body
