"""Benchmarks: how fast Masthead is beside what it is compared with (docs/performance.md)."""

import os

# PostgreSQL databases need a secret key; the processes that are measured inherit it.
os.environ.setdefault("MASTHEAD_SECRET_KEY", "be9c" * 16)
