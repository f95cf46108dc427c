"""Mails: their addresses and messages, the sending by SMTP, and bounces that come back.

The room knows no payers and no database: ``masthead.books.outbox`` says what is sent to whom.
"""
