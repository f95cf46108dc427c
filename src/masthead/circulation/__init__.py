"""The rules of circulation: who gets an issue, when a subscription ends, what a delivery earns.

The rules are plain functions of numbers and dates, and use no database. ``masthead.store.books``
applies the same rules to whole tables at once; the tests compare both.
"""
