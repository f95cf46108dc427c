"""``masthead serve --metrics-port``: the numbers that Prometheus collects."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from masthead.api.http.metrics import CONNECTIONS_MAX
from tests.cli.running import holds_nothing, spoil
from tests.long import ONLY_LONG
from tests.servers import Server, import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from tests.servers import Store

SUBSCRIBERS = 1_203
SECRETS = ("key-canary", "login-canary", "ada@example.com", "who@example.com")


@pytest.fixture(scope="module")
def loaded(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database whose account 1 has subscribers, one of whom can log in, and an order."""
    database = store.new_database("metrics")
    folder = tmp_path_factory.mktemp("metrics")
    masthead(
        *("accounts", "add", 1, "--api-key=key-canary", "--api-login=login-canary"),
        database=database,
    )
    subscribers = [{"subscriber_id": number} for number in range(2, SUBSCRIBERS + 1)]
    ada = {"subscriber_id": 1, "email": "ada@example.com", "password": "correct horse"}
    orders = [{"order_id": 7, "subscriber_id": 1}]
    (ada_alone,) = write_ndjson(folder / "ada", {"subscribers": [ada]})
    files = write_ndjson(folder / "all", {"subscribers": subscribers, "orders": orders})
    import_files(ada_alone, account_id="1", database=database)
    import_files(*files, account_id="1", database=database)
    return database


def metrics_url(server: Server) -> str:
    """Return where a server says that its numbers are."""
    found = re.search(
        r"^metrics for Prometheus on (http://127\.0\.0\.1:\d+/metrics)$",
        *(
            server.output(),
            re.MULTILINE,
        ),
    )
    assert found
    return found[1]


def read(server: Server) -> dict[tuple[str, ...], float]:
    """Return each number by its name and its labels' values in the order of their names."""
    answer = httpx2.get(metrics_url(server))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert not [secret for secret in SECRETS if secret in answer.text]
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def ask(server: Server, path: str, user: str = "key-canary") -> int:
    """Ask on a connection of its own, so that any worker may answer; return the status."""
    answer = httpx2.get(server.url + path, auth=(user, "login-canary"))
    return answer.status_code


def requests(numbers: dict[tuple[str, ...], float], operation: str, status: int) -> float:
    name = "masthead_request_duration_seconds_count"
    return numbers.get((name, operation, str(status)), 0.0)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_numbers_are_those_of_all_workers(loaded: str, workers: int) -> None:
    """rules, "Metrics"."""
    with serving(loaded, "--metrics-port=0", f"--workers={workers}") as server:
        for _ in range(20):
            assert ask(server, "/2/orders/7") == 200
        assert ask(server, "/2/orders/8") == 404
        assert ask(server, "/2/orders/7", user="who@example.com") == 403
        assert ask(server, "/no/such/path") == 404
        login = "/2/subscribers/authenticate/?login=ada@example.com&password="
        assert ask(server, f"{login}correct%20horse") == 200
        for _ in range(3):
            assert ask(server, f"{login}wrong") == 200
        assert ask(server, "/snapshot?entities=subscribers,orders") == 200
        numbers = read(server)
    assert requests(numbers, "get_order", 200) == 20
    assert requests(numbers, "get_order", 404) == 1
    assert requests(numbers, "get_order", 403) == 1
    assert requests(numbers, "none", 404) == 1
    assert numbers["masthead_login_checks_total", "authenticated"] == 1
    assert numbers["masthead_login_checks_total", "refused"] == 3
    assert numbers["masthead_feed_rows_total", "subscribers"] == SUBSCRIBERS
    assert numbers["masthead_feed_rows_total", "orders"] == 1
    assert numbers["masthead_database_up",] == 1
    assert 0 < numbers["masthead_database_answer_seconds",] < 1.7
    took = numbers["masthead_request_duration_seconds_sum", "get_order", "200"]
    assert 0 < took < 20 * 60


def test_invalid_http_is_counted_too(loaded: str) -> None:
    with serving(loaded, "--metrics-port=0") as server:
        with socket.create_connection(server.address) as client:
            client.sendall(b"nonsense\r\n\r\n")
            assert client.recv(1_000).startswith(b"HTTP/1.1 400 ")
        assert requests(read(server), "none", 400) == 1


def test_of_an_account_only_the_age_of_its_last_load_is_told(loaded: str) -> None:
    """rules, "Metrics": the number of other metrics does not depend on the number of accounts."""
    with serving(loaded, "--metrics-port=0") as server:
        ask(server, "/2/orders/7")
        text = httpx2.get(metrics_url(server)).text
    labels = set(re.findall(r'(\w+)="', text))
    assert labels <= {"operation", "status", "le", "entity", "result", "account"}
    named = {line.split("{")[0] for line in text.splitlines() if 'account="' in line}
    assert named == {"masthead_last_load_age_seconds"}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_age_of_the_last_good_load_is_told_from_the_start(
    loaded: str, tmp_path: Path, workers: int
) -> None:
    """rules, "Metrics": right after a restart, and a refused load does not make it younger."""
    ages = []
    for number in range(3):
        (row,) = write_ndjson(tmp_path / str(number), {"publications": [{"publication_id": "x"}]})
        masthead("import", row, "--account=1", database=loaded, exit_status=1)
        with serving(loaded, "--metrics-port=0", f"--workers={workers}") as server:
            ages.append(read(server)["masthead_last_load_age_seconds", "1"])
    assert 0 <= ages[0] < ages[1] < ages[2] < 600
    (row,) = write_ndjson(tmp_path / "good", {"publications": [{"publication_id": 1}]})
    masthead("import", row, "--account=1", database=loaded)
    with serving(loaded, "--metrics-port=0", f"--workers={workers}") as server:
        assert read(server)["masthead_last_load_age_seconds", "1"] < ages[2]


def test_an_account_that_was_never_loaded_has_no_age(store: Store) -> None:
    database = store.new_database("never-loaded")
    masthead("accounts", "add", 1, database=database)
    with serving(database, "--metrics-port=0") as server:
        numbers = read(server)
    assert not [name for name in numbers if name[0] == "masthead_last_load_age_seconds"]


def test_a_database_that_is_gone_is_seen(store: Store) -> None:
    """The gauge falls to 0, and each request that had to be refused is counted."""
    database = store.new_database("gone")
    masthead(
        *("accounts", "add", 1, "--api-key=key-canary", "--api-login=login-canary"),
        database=database,
    )
    with serving(database, "--metrics-port=0") as server:
        assert read(server)["masthead_database_up",] == 1
        spoil(store, database)
        assert ask(server, "/health") == 503
        numbers = read(server)
    assert numbers["masthead_database_up",] == 0
    assert ("masthead_database_answer_seconds",) not in numbers
    assert numbers["masthead_database_errors_total",] >= 1


def test_without_the_option_nothing_listens(loaded: str) -> None:
    with serving(loaded) as server:
        assert "metrics for Prometheus" not in server.output()
        assert ask(server, "/metrics") == 404


def test_only_this_machine_can_ask(loaded: str) -> None:
    """rules, "Metrics": the address of the service does not matter."""
    with serving(loaded, "--metrics-port=0", "--host=0.0.0.0", "--behind-proxy") as server:
        assert metrics_url(server).startswith("http://127.0.0.1:")


def test_a_port_that_is_taken_is_said_before_anything_is_made(store: Store, tmp_path: Path) -> None:
    database = store.empty_database("taken")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = masthead(
            "serve", "--port=0", "--metrics-port", port, database=database, exit_status=2
        )
    assert "Choose another port; --metrics-port sets it" in done.stderr
    assert holds_nothing(database)


def threads(server: Server) -> int:
    """Return how many threads a server has."""
    return len(list(Path(f"/proc/{server.process_id}/task").iterdir()))


def descriptors(server: Server) -> int:
    """Return how many files and connections a server has open."""
    return len(list(Path(f"/proc/{server.process_id}/fd").iterdir()))


@ONLY_LONG
def test_silent_clients_take_few_descriptors_and_delay_no_other_client(loaded: str) -> None:
    """rules, "Metrics": the oldest makes room, and each has seconds."""
    with serving(loaded, "--metrics-port=0") as server, ExitStack() as stack:
        read(server)
        before = descriptors(server), threads(server)
        port = int(metrics_url(server).rpartition(":")[2].partition("/")[0])
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            for _ in range(100)
        ]
        for client in clients:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
        assert read(server)["masthead_database_up",] == 1
        # A read may open one more connection to SQLite: the file and its write-ahead log.
        assert descriptors(server) <= before[0] + CONNECTIONS_MAX + 2
        assert threads(server) <= before[1] + CONNECTIONS_MAX
        assert ask(server, "/2/orders/7") == 200
        for client in clients:
            assert hung_up(client)
    assert "Traceback" not in server.output()


def hung_up(client: socket.socket) -> bool:
    """Wait until a client that sends a byte now and then is hung up on."""
    client.settimeout(0.1)
    for _ in range(20 * 10):
        try:
            client.sendall(b"y")
            return client.recv(1_000) == b""
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return True
    return False
