"""Invoices as PDF with the electronic invoice inside: how many a second, and in how much memory.

Each invoice has three lines and a payer of its own. The size of the publisher is the number of
documents of each round; no database is used. The start of the processes is not counted.
"""

import resource
import time
from collections.abc import Iterator

import msgspec

from benchmarks.report import Budget, Figures, Scale, add, shown, table
from masthead.billing.printed import PrintedInvoice
from masthead.documents.rendering import Appearance, Renderer, many
from masthead.documents.samples import PAYER, invoice

BUDGET = Budget(at_least=100)
"""Documents a second on two processors (billing, "What must hold")."""


def _invoices(count: int, of_round: int) -> Iterator[PrintedInvoice]:
    for number in range(count):
        yield msgspec.structs.replace(
            invoice(),
            number=f"{of_round}-{number:06}",
            payer=msgspec.structs.replace(
                PAYER, name=f"Payer {number}", address_lines=(f"Street {number}",)
            ),
        )


def measure(scale: Scale) -> Iterator[str]:
    """Yield the table: documents a second by one process, and by one for each processor."""
    rows = []
    for processes in sorted({1, many()}):
        figures: Figures = {}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Renderer(Appearance(), processes=processes) as renderer:
            for _ in renderer.pdfs(_invoices(processes * 4, 0)):
                pass
            for of_round in range(1, scale.rounds + 1):
                started = time.perf_counter()
                size = sum(
                    len(pdf) for pdf in renderer.pdfs(_invoices(scale.subscribers, of_round))
                )
                seconds = time.perf_counter() - started
                add(figures, {"a second": scale.subscribers / seconds})
                add(figures, {"KB": size / scale.subscribers / 1000})
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        milliseconds = 1000 * seconds / (scale.subscribers * scale.rounds)
        budget = BUDGET if processes == many() else None
        rows.append(
            [
                f"{processes} at once",
                shown(figures["a second"], budget=budget),
                shown(figures["KB"][:1]),
                shown([milliseconds], digits=1),
                shown([used.ru_maxrss / 1024]),
            ]
        )
    head = ["processes", "documents a second", "KB each", "ms of a processor each", "MiB at most"]
    yield table(head, rows)
