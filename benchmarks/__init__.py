"""How fast Masthead is, side by side with what a user would pick instead (docs/performance.md)."""

import os

# What a PostgreSQL database needs; the servers that are measured inherit it.
os.environ.setdefault("MASTHEAD_SECRET_KEY", "be9c" * 16)
