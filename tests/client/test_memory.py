"""A response of any length is read with the memory of a short one."""

from __future__ import annotations

import json
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.client.service import Reply, in_turn
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.client.service import Serve

MIB_MAX = 15
NOTES = ["", "café", "日本語", "🎁"]
WEIGHTS = [2_000, 20, 5, 5]
"""Python keeps text in one, two or four bytes for each character, as its rarest needs."""

# The peak is that of the whole process: the heap of the C library counts, which Python cannot see.
READS_ALL = """
import sys
from pathlib import Path
from masthead import Client

with Client(sys.argv[1], "key", "login") as client:
    count = sum(1 for record in client.snapshot(["purchases"]))
(peak,) = (
    line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
)
print(count, peak.split()[1])
"""


def purchases(count: int) -> Iterator[bytes]:
    """Yield a snapshot of as many purchases, each of some 300 bytes."""
    draw = Random(1)
    for number in range(1, count + 1):
        purchase = {
            "purchase_id": str(number),
            "payment_type": "Credit Card",
            "notes": draw.choices(NOTES, WEIGHTS)[0] * draw.randrange(20),
            "subscriber_id": str(number),
            "bundle_id": "21",
            "shipping_address_id": None if number % 3 else str(number),
            "billing_address_id": str(number),
            "name": "The Northfield Weekly, 1 year",
            "invoice_id": f"INV-{number:07}" if number % 5 else None,
            "total": f"{number % 900}.74",
            "product_total": f"{number % 800}.00" if number % 2 else None,
            "is_gift": "0",
        }
        yield b'{"purchases":[' if number == 1 else b","
        yield json.dumps(purchase, ensure_ascii=False).encode()
    yield b"]}"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@ONLY_LONG
def test_memory_does_not_grow_with_the_response(serve: Serve) -> None:
    """Twenty megabytes more cost nothing (decisions, "What an installation holds")."""
    peaks = []
    for count in (8_000, 80_000):
        service = serve(in_turn(Reply(b"".join(purchases(count)))))
        done = subprocess.run(
            [sys.executable, "-c", READS_ALL, service.url],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        read, peak_kib = map(int, done.stdout.split())
        assert read == count
        peaks.append(peak_kib)
    assert peaks[1] - peaks[0] < MIB_MAX * 1_024, peaks
