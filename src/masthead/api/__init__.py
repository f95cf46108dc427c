"""The HTTP interface: the app, the server, and one file for each group of operations.

``app.py`` shows the path of a request in one place: credentials, parameters (checked against the
contract), one query of the store, one encoder. A file in ``operations`` shows what its operations
add.
"""
