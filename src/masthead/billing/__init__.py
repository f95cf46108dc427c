"""The rules of billing: what an invoice says, what a payment settles, and how tax is computed.

The rules are plain functions of numbers, days and texts, and use no database.
``masthead.store.billing`` has the statements, ``masthead.books`` the operations.
"""
