"""The numbers of a server whose database is frozen: it takes connections and never answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from masthead.api.http.metrics import CONNECTIONS_MAX
from tests.cli.test_metrics import read, threads
from tests.long import ONLY_LONG
from tests.postgresql.service import fill, new_database, outage, wait_until
from tests.servers import AS_INSTALLED, serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgres import Cluster


@ONLY_LONG
def test_a_frozen_database_holds_one_thread_for_any_number_of_requests(
    cluster: Cluster, tmp_path: Path
) -> None:
    """rules, "Metrics"."""
    database = new_database(cluster, "frozen-metrics")
    fill(database, tmp_path)
    with (
        serving(database, "--metrics-port=0", module=AS_INSTALLED) as server,
        ThreadPoolExecutor(CONNECTIONS_MAX) as clients,
    ):
        assert read(server)["masthead_database_up",] == 1
        with outage(cluster, "frozen"):
            assert read(server)["masthead_database_up",] == 0
            before = most = threads(server)
            looks = [clients.submit(read, server) for _ in range(2 * CONNECTIONS_MAX)]
            while not all(look.done() for look in looks):
                most = max(most, threads(server))
            assert {look.result()["masthead_database_up",] for look in looks} == {0}
            # A thread for each client, and one for all that asks the database.
            assert most <= before + CONNECTIONS_MAX + 1
        wait_until(lambda: read(server)["masthead_database_up",] == 1)
