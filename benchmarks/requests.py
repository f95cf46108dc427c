"""Requests per second: Masthead, Masthead on stock uvicorn, and FastAPI with SQLAlchemy's ORM.

Each server is one process on one core. All servers must return the same bytes, which the benchmark
checks first. The servers take turns within each round.
"""

from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks.databases import STORES
from benchmarks.load import generate_load
from benchmarks.machine import SERVER_CORE
from benchmarks.processes import serving
from benchmarks.publisher import published
from benchmarks.report import Budget, Figures, Scale, add, ratio, shown, table

OURS, UVICORN, ORM = "Masthead", "Masthead on stock uvicorn", "FastAPI + SQLAlchemy ORM"
SERVERS: dict[str, tuple[str, ...]] = {
    OURS: (),
    UVICORN: ("benchmarks.servers", "masthead"),
    ORM: ("benchmarks.servers", "fastapi"),
}
ORDER, LIST = "9 one order", "7 list of 100 subscriptions"
BUDGETS = {
    ("sqlite", ORDER, OURS): Budget(at_least=18),
    ("sqlite", ORDER, UVICORN): Budget(at_least=12),
    ("sqlite", LIST, OURS): Budget(at_least=8),
    ("postgresql", ORDER, OURS): Budget(at_least=8),
    ("postgresql", LIST, OURS): Budget(at_least=5),
}


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        with ExitStack() as stack:
            data = stack.enter_context(published(store, scale.subscribers))
            paths = {ORDER: data.order_paths(), LIST: data.list_paths()}
            # Masthead's own application adds no table; FastAPI adds one for its credentials.
            servers = {
                name: stack.enter_context(serving(data.database, *command, core=SERVER_CORE))
                for name, command in SERVERS.items()
            }
            for path in (*paths[ORDER], *paths[LIST]):
                if len({server.get(path) for server in servers.values()}) > 1:
                    raise SystemExit(f"the servers' responses to {path} differ")
            found: dict[str, Figures] = {work: {} for work in paths}
            for _ in range(scale.rounds):
                for work, of_work in paths.items():
                    for name, server in servers.items():
                        load = generate_load(server.port, of_work, scale.seconds)
                        if load.refusals_per_s:
                            raise SystemExit(f"{name} refused requests")
                        add(found[work], {name: load.responses_per_s})
        rows = [
            [work, *(shown(rates[name]) for name in SERVERS)]
            + [ratio(rates[n], rates[ORM], BUDGETS.get((store, work, n))) for n in (OURS, UVICORN)]
            for work, rates in found.items()
        ]
        head = [f"{STORES[store]}, requests/s", *SERVERS, "Masthead / ORM", "stock uvicorn / ORM"]
        yield table(head, rows)
