"""Import and export of files.

The files are CSV or NDJSON. They are named after the tables of ``masthead.contract.records``, and
have the columns of these tables. SQL is left to ``masthead.store``.
"""
