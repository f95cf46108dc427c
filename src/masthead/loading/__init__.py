"""Files in (``import``), files out (``export``), and made-up data (``generate``).

The files are CSV or NDJSON, named after the tables of ``masthead.contract.records``, with its
columns. Nothing here knows HTTP, and what the database does is left to ``masthead.store``.
"""
