"""Invoices, payments and the journal: the statements of billing (billing, "What is stored").

``masthead.books`` has the operations, ``masthead.billing`` the rules. Rows of invoices, payments,
allocations and the journal are only added; the columns ``open_cents`` of an invoice and
``left_cents`` of a payment follow from them.
"""
