"""Connections to SQLite and PostgreSQL: URLs, transactions, streams, locks and drivers' errors.

``store`` and ``mirror`` build on this package. It knows nothing of their tables. ``postgresql`` is
imported only for a PostgreSQL URL, since psycopg takes longer to import than many commands run.
"""
