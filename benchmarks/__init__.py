"""Benchmarks: the speed of Masthead compared with alternatives (docs/performance.md)."""

import os

# PostgreSQL databases need a secret key; the measured processes inherit it.
os.environ.setdefault("MASTHEAD_SECRET_KEY", "be9c" * 16)
