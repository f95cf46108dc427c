"""Readers of the files of banks, shops and card providers: camt, MT940, and CSV by a mapping.

Each reader yields typed entries one after the other, so a file of any length takes little memory
(billing, "Bank statements"). The readers know neither payers nor invoices.
"""
