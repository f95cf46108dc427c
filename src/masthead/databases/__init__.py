"""Connections to SQLite, PostgreSQL and DuckDB: transactions, streams, locks, errors, URLs.

``store`` and ``mirror`` build on this package, which does not know their tables. ``postgresql`` and
``duckdb`` are imported only for their URLs: psycopg takes longer to import than many commands run,
and DuckDB is an extra.
"""
