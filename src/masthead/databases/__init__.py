"""Connections to SQLite, PostgreSQL, DuckDB and Parquet: transactions, streams, locks, errors.

``store`` and ``mirror`` build on this package. It knows nothing of their tables. ``postgresql``,
``duckdb`` and ``parquet`` are imported only for their URLs: psycopg takes longer to import than
many commands run, and DuckDB is an extra.
"""
