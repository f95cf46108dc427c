"""The HTTP face: app, credentials, parameters, and one file for each group of operations.

A request runs: credentials, parameters (checked against the contract), one query of the store, one
encoder, bytes. ``operation.py`` shows that path in one place; a handler's file shows all that its
operations add.
"""
